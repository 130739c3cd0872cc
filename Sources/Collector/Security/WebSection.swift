// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The keys and values of one section of a `web.config.yml`. A key without a value counts as absent.
struct WebSection {
    let path: String
    /// The first line of the section.
    let line: Int
    private let entries: [String: YAMLNode.Entry]

    init(_ node: YAMLNode, keys: [String], path: String) throws(ConfigurationProblem) {
        self.path = path
        line = node.line
        entries = try node.entries(keys, path).filter { $0.value.value.value != .empty }
    }

    var isEmpty: Bool { entries.isEmpty }

    func problem(_ key: String, _ message: String) -> ConfigurationProblem {
        ConfigurationProblem(.file(path, line: entries[key]?.line ?? line), "\(key): \(message)")
    }

    func section(_ key: String, keys: [String]) throws(ConfigurationProblem) -> WebSection? {
        guard let entry = entries[key] else { return nil }
        return try WebSection(entry.value, keys: keys, path: path)
    }

    /// The entries of a mapping with arbitrary keys.
    func mapping(_ key: String) throws(ConfigurationProblem) -> [YAMLNode.Entry] {
        guard let entry = entries[key] else { return [] }
        guard case .mapping(let entries) = entry.value.value else {
            throw problem(key, "expected keys and values, found \(entry.value.kind)")
        }
        return entries
    }

    /// A text; nil if absent or empty.
    func text(_ key: String) throws(ConfigurationProblem) -> String? {
        guard let entry = entries[key] else { return nil }
        guard case .scalar(let text) = entry.value.value else {
            throw problem(key, "expected a single value, found \(entry.value.kind)")
        }
        return text.isEmpty ? nil : text
    }

    /// A Boolean of YAML 1.1, which the exporter-toolkit reads.
    func boolean(_ key: String) throws(ConfigurationProblem) -> Bool? {
        guard let text = try text(key) else { return nil }
        switch text {
        case "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON": return true
        case "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF": return false
        default: throw problem(key, "expected true or false, found \"\(text.prefix(80))\"")
        }
    }

    /// The value of a name.
    func named<Value>(_ key: String, _ names: [String: Value]) throws(ConfigurationProblem) -> Value? {
        guard let text = try text(key) else { return nil }
        return try value(of: text, names, line: entries[key]?.line ?? line, key)
    }

    /// The values of a list of names; nil if absent or empty.
    func list<Value>(_ key: String, _ names: [String: Value]) throws(ConfigurationProblem) -> [Value]? {
        guard let texts = try texts(key) else { return nil }
        var values: [Value] = []
        for (text, line) in texts { values.append(try value(of: text, names, line: line, key)) }
        return values
    }

    /// The texts of a list; nil if absent or empty.
    func texts(_ key: String) throws(ConfigurationProblem) -> [(text: String, line: Int)]? {
        guard let entry = entries[key] else { return nil }
        let texts = try entry.value.texts(path)
        return texts.isEmpty ? nil : texts
    }

    private func value<Value>(
        of text: String,
        _ names: [String: Value],
        line: Int,
        _ key: String
    ) throws(ConfigurationProblem) -> Value {
        if let value = names[text] { return value }
        let suggestion = NearestName.of(text, in: names.keys).map { "; did you mean \($0)?" } ?? ""
        let expected =
            names.count > 6 ? "a name that Go's crypto/tls has" : names.keys.sorted().joined(separator: ", ")
        throw ConfigurationProblem(
            .file(path, line: line),
            "\(key): expected \(expected), found \"\(text.prefix(80))\"\(suggestion)"
        )
    }
}

/// Parses durations as Go's `time.ParseDuration`: `1s`, `100ms`, `1m30s`, `1.5h`; or 0 without a unit.
enum GoDuration {
    private static let nanosecondsByUnit: [String: Double] = [
        "ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12,
    ]

    /// In seconds, from 0 to a year; nil for anything else.
    static func seconds(_ text: String) -> Double? {
        if text == "0" { return 0 }
        guard !text.isEmpty, text.utf8.count <= 40 else { return nil }
        var rest = Substring(text)
        var sum = 0.0
        while !rest.isEmpty {
            let number = rest.prefix(while: isOfNumber)
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !isOfNumber($0) }
            rest = rest.dropFirst(unit.count)
            guard let value = Double(number), let factor = nanosecondsByUnit[String(unit)] else { return nil }
            sum += value * factor
        }
        return sum <= 3.1536e16 ? sum / 1e9 : nil
    }

    private static func isOfNumber(_ character: Character) -> Bool {
        ("0"..."9").contains(character) || character == "."
    }
}
