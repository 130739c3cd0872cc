// SPDX-License-Identifier: Apache-2.0

/// A value of a YAML document with the line where it begins, counted from 1.
struct YAMLNode: Equatable, Sendable {
    indirect enum Value: Equatable, Sendable {
        /// Nothing stands there, or `null` or `~`.
        case empty
        /// Text, as it is written; what it means is for the reader to say.
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

    /// What kind of value it is, as a message calls it.
    var kind: String {
        switch value {
        case .empty: "nothing"
        case .scalar(let text): "\"\(text.prefix(80))\""
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

extension ConfigurationProblem {
    /// A key that nobody knows.
    static func unknownKey(_ key: String, _ known: some Sequence<String>, _ origin: Origin) -> ConfigurationProblem {
        let suggestion = NearestName.of(key, in: known).map { "; did you mean \($0)?" } ?? ""
        return ConfigurationProblem(origin, "unknown key \"\(key.prefix(80))\"\(suggestion)")
    }
}
