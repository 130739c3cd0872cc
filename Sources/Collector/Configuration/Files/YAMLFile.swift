// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// Reads YAML files that people write: small ones, without anchors, each key once.
enum YAMLFile {
    /// The largest file in bytes.
    static let maximumSize = 256 << 10
    /// How deep values may nest.
    static let maximumDepth = 16

    /// - Parameter path: the file; a pipe or a device is not read.
    static func read(_ path: String) throws(ConfigurationProblem) -> YAMLNode {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, maximumSize: maximumSize)
        } catch {
            throw ConfigurationProblem(.file(path, line: nil), error.description)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationProblem(.file(path, line: nil), "expected UTF-8, found other bytes")
        }
        return try parse(text, path)
    }

    static func parse(_ text: String, _ path: String) throws(ConfigurationProblem) -> YAMLNode {
        if let line = YAMLReferences.firstLine(of: text) {
            throw ConfigurationProblem(
                .file(path, line: line),
                "anchors and aliases are not taken; write the value out, or put it in quotes if it begins with & or *"
            )
        }
        if let line = YAMLReferences.firstLine(of: text, nestedDeeperThan: maximumDepth) {
            throw ConfigurationProblem(.file(path, line: line), "values are nested deeper than \(maximumDepth)")
        }
        let root: Node?
        do {
            root = try Parser(yaml: text, resolver: .basic).singleRoot()
        } catch let error as YamlError {
            throw ConfigurationProblem(error, path)
        } catch {
            throw ConfigurationProblem(.file(path, line: nil), "cannot be read as YAML: \(error)")
        }
        guard let root else { return YAMLNode(value: .empty, line: 1) }
        return try node(root, path, depth: 1)
    }

    private static func node(_ node: Node, _ path: String, depth: Int) throws(ConfigurationProblem) -> YAMLNode {
        let line = node.mark?.line ?? 1
        guard depth <= maximumDepth else {
            throw ConfigurationProblem(.file(path, line: line), "values are nested deeper than \(maximumDepth)")
        }
        switch node {
        case .scalar(let scalar): return YAMLNode(value: value(scalar), line: line)
        case .sequence(let sequence):
            var nodes: [YAMLNode] = []
            for member in sequence { nodes.append(try self.node(member, path, depth: depth + 1)) }
            return YAMLNode(value: .sequence(nodes), line: line)
        case .mapping(let mapping):
            var entries: [YAMLNode.Entry] = []
            for (key, value) in mapping {
                let place = key.mark?.line ?? line
                guard case .scalar(let scalar) = key else {
                    throw ConfigurationProblem(.file(path, line: place), "expected a key, found a list or a mapping")
                }
                let read = try self.node(value, path, depth: depth + 1)
                entries.append(YAMLNode.Entry(key: scalar.string, line: place, value: read))
            }
            return YAMLNode(value: .mapping(entries), line: line)
        case .alias:
            throw ConfigurationProblem(.file(path, line: line), "aliases are not taken; write the value out")
        }
    }

    /// YAML 1.2, 10.3.2: a plain scalar of these is null.
    private static func value(_ scalar: Node.Scalar) -> YAMLNode.Value {
        let isPlain = scalar.style == .plain || scalar.style == .any
        return isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? .empty : .scalar(scalar.string)
    }
}

extension ConfigurationProblem {
    fileprivate init(_ error: YamlError, _ path: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(.file(path, line: mark.line), "is no YAML: \(problem), column \(mark.column)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.sorted().prefix(5).map { "\"\($0.prefix(80))\"" }.joined(separator: ", ")
            self.init(.file(path, line: context.mark.line), "expected each key once, found more of \(names)")
        case .reader(let problem, _, _, _):
            self.init(.file(path, line: nil), "is no YAML: \(problem)")
        default:
            self.init(.file(path, line: nil), "is no YAML")
        }
    }
}
