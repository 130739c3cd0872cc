// SPDX-License-Identifier: Apache-2.0

internal import TextOutput

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

    /// What kind of value it is, as a message calls it; never its text, since any file may be given as a configuration,
    /// one of a key or a token too.
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
    /// A key that nobody knows; repeated only where it looks like one, or almost is one.
    static func unknownKey(_ key: String, _ known: some Sequence<String>, _ origin: Origin) -> ConfigurationProblem {
        if let meant = NearestName.of(key, in: known) {
            return ConfigurationProblem(origin, "unknown key \"\(key.prefix(80))\"; did you mean \(meant)?")
        }
        return ConfigurationProblem(origin, YAMLNode.isName(key) ? "unknown key \"\(key)\"" : "unknown key")
    }
}
