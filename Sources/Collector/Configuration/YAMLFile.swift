// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
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

    /// Reads a document that is no larger than its text: one with anchors is refused before an alias is followed.
    ///
    /// It is parsed twice, first with every `*` replaced by a letter, so that no alias expands. Up to the first alias both
    /// texts mean the same, and an alias needs its anchor before it, so the first pass meets every anchor that the second
    /// could follow.
    static func parse(_ text: String, _ path: String) throws(ConfigurationProblem) -> YAMLNode {
        // libyaml counts a byte order mark as a column.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        let letter = unusedLetter(text)
        let withoutAliases = text.unicodeScalars.map { $0 == "*" ? letter : $0 }
        _ = try document(String(String.UnicodeScalarView(withoutAliases)), path)
        return try document(text, path)
    }

    /// A letter without meaning in YAML that the text does not contain, so that no two keys become equal.
    private static func unusedLetter(_ text: String) -> Unicode.Scalar {
        let first: Unicode.Scalar = "\u{E000}"
        let used = Set(text.unicodeScalars.lazy.filter { (first..."\u{F8FF}").contains($0) })
        return (first.value...0xF8FF).lazy.compactMap(Unicode.Scalar.init).first { !used.contains($0) } ?? first
    }

    private static func document(_ text: String, _ path: String) throws(ConfigurationProblem) -> YAMLNode {
        let parser: Parser
        let root: Node?
        do {
            parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
            root = try parser.singleRoot()
        } catch let error as YamlError {
            throw ConfigurationProblem(error, path)
        } catch {
            throw ConfigurationProblem(.file(path, line: nil), "is not YAML")
        }
        guard let root else { return YAMLNode(value: .empty, line: 1) }
        // Nodes hold their anchors weakly; the parser owns them.
        return try withExtendedLifetime(parser) { () throws(ConfigurationProblem) in
            try node(root, path, depth: 1)
        }
    }

    private static func node(_ node: Node, _ path: String, depth: Int) throws(ConfigurationProblem) -> YAMLNode {
        let line = node.mark?.line ?? 1
        guard depth <= maximumDepth else {
            throw ConfigurationProblem(.file(path, line: line), "values are nested deeper than \(maximumDepth)")
        }
        guard node.anchor == nil else { throw ConfigurationProblem(.file(path, line: line), noAnchors) }
        let ownTag: Tag.Name =
            switch node {
            case .scalar, .alias: .str
            case .sequence: .seq
            case .mapping: .map
            }
        guard node.tag.rawValue == ownTag.rawValue else {
            throw ConfigurationProblem(.file(path, line: line), "tags are not supported; write the value as it is")
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
                _ = try self.node(key, path, depth: depth)
                guard scalar.string != "<<" || scalar.style != .plain else {
                    throw ConfigurationProblem(
                        .file(path, line: place),
                        "merge keys are not supported; write the keys out"
                    )
                }
                let read = try self.node(value, path, depth: depth + 1)
                entries.append(YAMLNode.Entry(key: scalar.string, line: place, value: read))
            }
            return YAMLNode(value: .mapping(entries), line: line)
        case .alias: throw ConfigurationProblem(.file(path, line: line), noAnchors)
        }
    }

    fileprivate static let noAnchors =
        "anchors and aliases are not supported; write the value out, or put it in quotes if it begins with & or *"

    /// YAML 1.2, 10.3.2: a plain scalar of these is null.
    private static func value(_ scalar: Node.Scalar) -> YAMLNode.Value {
        let isPlain = scalar.style == .plain || scalar.style == .any
        return isPlain && ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? .empty : .scalar(scalar.string)
    }
}

extension ConfigurationProblem {
    /// The parser's message, which never quotes the text, with its line.
    fileprivate init(_ error: YamlError, _ path: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let message =
                if problem.hasPrefix("found undefined alias") {
                    YAMLFile.noAnchors
                } else if problem.hasPrefix("Maximum nesting level") {
                    "values are nested deeper than \(YAMLFile.maximumDepth)"
                } else {
                    "is not YAML: \(problem), column \(mark.column)"
                }
            self.init(.file(path, line: mark.line), message)
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.sorted().prefix(5).filter(YAMLNode.isName).map { "\"\($0)\"" }
            let found = names.isEmpty ? "one again" : "more of \(names.joined(separator: ", "))"
            self.init(.file(path, line: context.mark.line), "expected each key once, found \(found)")
        case .reader(let problem, _, _, _):
            self.init(.file(path, line: nil), "is not YAML: \(problem)")
        default:
            self.init(.file(path, line: nil), "is not YAML")
        }
    }
}

/// A value of a YAML document with the line where it begins, counted from 1.
struct YAMLNode: Equatable, Sendable {
    indirect enum Value: Equatable, Sendable {
        /// Nothing, `null` or `~`.
        case empty
        /// Text as written, uninterpreted.
        case scalar(String)
        case sequence([YAMLNode])
        case mapping([Entry])
    }

    /// A key with its value.
    struct Entry: Equatable, Sendable {
        var key: String
        var line: Int
        var value: YAMLNode
    }

    var value: Value
    var line: Int

    /// The kind of the value for messages. Never its text: the file given may by mistake be a key or a token.
    var kind: String {
        switch value {
        case .empty: "nothing"
        case .scalar: "a single value"
        case .sequence: "a list"
        case .mapping: "keys and values"
        }
    }
}

extension YAMLNode {
    /// The entries by key, when it is a mapping without keys that are not among the known ones; nothing is an empty one.
    ///
    /// - Parameter path: the file, for messages.
    /// - Throws: the first problem, with a suggestion for an unknown key.
    func entries(_ known: [String], _ path: String) throws(ConfigurationProblem) -> [String: Entry] {
        switch value {
        case .empty: return [:]
        case .mapping(let entries):
            var found: [String: Entry] = [:]
            for entry in entries {
                guard known.contains(entry.key) else {
                    throw .unknownKey(entry.key, known, .file(path, line: entry.line))
                }
                found[entry.key] = entry
            }
            return found
        case .scalar, .sequence:
            throw ConfigurationProblem(.file(path, line: line), "expected keys and values, found \(kind)")
        }
    }

    /// The text of a scalar.
    func text(_ path: String) throws(ConfigurationProblem) -> String {
        guard case .scalar(let text) = value else {
            throw ConfigurationProblem(.file(path, line: line), "expected a single value, found \(kind)")
        }
        return text
    }

    /// The scalars of a list.
    func texts(_ path: String) throws(ConfigurationProblem) -> [(text: String, line: Int)] {
        guard case .sequence(let nodes) = value else {
            throw ConfigurationProblem(.file(path, line: line), "expected a list, found \(kind)")
        }
        var texts: [(text: String, line: Int)] = []
        for node in nodes { texts.append((try node.text(path), node.line)) }
        return texts
    }
}

extension YAMLNode {
    /// The longest key that a message repeats, in bytes.
    private static let maximumName = 64

    /// Whether a text looks like a key and not like a part of a secret: lower-case letters, digits, `_` and `-`.
    static func isName(_ text: String) -> Bool {
        (1...maximumName).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension ConfigurationProblem {
    /// An unknown key; its text is repeated only if it looks like a key or resembles a known one.
    static func unknownKey(_ key: String, _ known: some Sequence<String>, _ origin: Origin) -> ConfigurationProblem {
        if let meant = NearestName.of(key, in: known) {
            return ConfigurationProblem(origin, "unknown key \"\(key.prefix(80))\"; did you mean \(meant)?")
        }
        return ConfigurationProblem(origin, YAMLNode.isName(key) ? "unknown key \"\(key)\"" : "unknown key")
    }
}
