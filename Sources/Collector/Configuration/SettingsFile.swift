// SPDX-License-Identifier: Apache-2.0

/// What a configuration file tells: the texts of settings and the lines where they stand.
struct SettingsFile: Equatable, Sendable {
    private struct Place: Equatable {
        var key: Int
        var values: [Int]
    }

    private(set) var texts: [String: [String]] = [:]
    private var path = ""
    private var places: [String: Place] = [:]

    /// Nothing.
    init() {}

    /// Reads a file; what is wrong with it is added to the problems, and left out.
    static func read(_ path: String, _ problems: inout [ConfigurationProblem]) -> SettingsFile {
        do throws(ConfigurationProblem) {
            return SettingsFile(try YAMLFile.read(path), path, &problems)
        } catch {
            problems.append(error)
            return SettingsFile()
        }
    }

    init(_ root: YAMLNode, _ path: String, _ problems: inout [ConfigurationProblem]) {
        self.path = path
        let entries: [YAMLNode.Entry]
        switch root.value {
        case .empty: entries = []
        case .mapping(let read): entries = read
        case .scalar, .sequence:
            problems.append(
                ConfigurationProblem(
                    .file(path, line: root.line),
                    "expected settings as name: value, found \(root.kind)"
                )
            )
            entries = []
        }
        for entry in entries {
            do throws(ConfigurationProblem) {
                try take(entry)
            } catch {
                problems.append(error)
            }
        }
    }

    private mutating func take(_ entry: YAMLNode.Entry) throws(ConfigurationProblem) {
        let origin = ConfigurationProblem.Origin.file(path, line: entry.line)
        guard let setting = Settings.byName[entry.key] else {
            throw .unknownKey(entry.key, Settings.all.map(\.name), origin)
        }
        let values: [(text: String, line: Int)]
        switch entry.value.value {
        case .empty:
            throw ConfigurationProblem(origin, "\(entry.key) has no value; leave the line out for the default")
        case .sequence where setting.form == .list: values = try entry.value.texts(path)
        case .sequence, .mapping:
            let expected = setting.form == .list ? "a list or a value" : "one value"
            throw ConfigurationProblem(origin, "\(entry.key): expected \(expected), found \(entry.value.kind)")
        case .scalar(let text): values = [(text, entry.value.line)]
        }
        texts[entry.key] = values.map(\.text)
        places[entry.key] = Place(key: entry.line, values: values.map(\.line))
    }

    /// Where a value stands.
    func origin(of name: String, _ index: Int) -> ConfigurationProblem.Origin {
        let place = places[name]
        let line = place.flatMap { $0.values.indices.contains(index) ? $0.values[index] : $0.key }
        return .file(path, line: line)
    }
}
