// SPDX-License-Identifier: Apache-2.0

internal import Configuration
internal import Foundation
internal import LogInput
internal import TelemetryEvents

/// Reads the configuration from its layers: options beat the environment, which beats the file, which beats the defaults.
///
/// Each call of ``read()`` reads the file again, as a reload needs it.
package struct SettingsReader: Sendable {
    /// The values of the options, by the setting's name; true and false for flags.
    fileprivate let options: [String: [String]]
    /// The environment.
    fileprivate let environment: [String: String]
    /// The configuration file; nil: none.
    package private(set) var file: String?

    /// - Parameter file: relative paths are taken from the working directory.
    package init(options: [String: [String]] = [:], environment: [String: String], file: String? = nil) {
        self.options = options
        self.environment = environment
        self.file = file.map { Self.absolute($0, in: FileManager.default.currentDirectoryPath) }
    }

    /// The configuration of all layers.
    ///
    /// - Throws: every problem, each with its place.
    package func read() throws(ConfigurationProblems) -> ServeConfiguration {
        let reading = reading()
        let problems = reading.problems.isEmpty ? reading.conflicts : reading.problems
        guard problems.isEmpty else { throw ConfigurationProblems(problems: problems.inOrder(of: file)) }
        var configuration = reading.configuration
        configuration.settings = EffectiveSettings(reading)
        return configuration
    }

    /// The problems of the options alone, without the file.
    package var optionProblems: [ConfigurationProblem] {
        var reader = self
        reader.file = nil
        return reader.reading().problems.filter { problem in
            guard case .option(let name) = problem.origin else { return false }
            // The file may name the state directory.
            return name != "--state-dir" || file == nil || options["state-dir"] != nil
        }
    }

    /// The configuration as far as it can be read, with its problems.
    func reading() -> SettingsReading {
        var reading = SettingsReading(
            ServeConfiguration(stateDirectory: StateDirectory.default(environment: environment) ?? "")
        )
        reading.problems = emptyPaths
        let settingsFile =
            file.map { $0.isEmpty ? SettingsFile() : SettingsFile.read($0, &reading.problems) } ?? SettingsFile()
        reading.configuration.zone = .machine
        reading.configuration.credentialsDirectory = environment["CREDENTIALS_DIRECTORY"].flatMap {
            $0.isEmpty ? nil : CredentialsDirectory($0, mustHoldTokens: false)
        }
        let layers = Layers(self, settingsFile)
        for setting in Settings.all {
            guard let found = layers.texts(of: setting) else { continue }
            let texts = setting.isPath ? found.texts.map { absolute($0, found.layer) } : found.texts
            reading.origins[setting.name] = (0..<max(texts.count, 1)).map {
                origin(setting, found.layer, settingsFile, $0)
            }
            do throws(SettingError) {
                try setting.apply(texts, &reading.configuration)
                reading.texts[setting.name] = texts
            } catch {
                reading.unread.insert(setting.name)
                reading.problems.append(
                    ConfigurationProblem(origin(setting, found.layer, settingsFile, error.index), error.message)
                )
            }
        }
        let variables = OpenTelemetryVariables(environment)
        if let setting = variables.setting { reading.configuration.exports.append(setting) }
        reading.configuration.resourceAttributes = variables.attributes
        if reading.configuration.stateDirectory.isEmpty {
            reading.problems.append(
                ConfigurationProblem(
                    .option("--state-dir"),
                    "no state directory: set --state-dir, $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME"
                )
            )
        }
        return reading
    }

    /// The variables and the `--config` that should name a path and are empty, such as a variable that a script left
    /// unset. An empty option of a setting is a problem of that setting.
    private var emptyPaths: [ConfigurationProblem] {
        let settings = Settings.all.filter { $0.isPath && options[$0.name] == nil }.map(\.variable)
        let variables = (file == nil ? [Self.fileVariable] : []) + settings
        let empty = variables.filter { environment[$0]?.isEmpty == true }.map(ConfigurationProblem.Origin.environment)
        return ((file == "" ? [.option("--config")] : []) + empty).map {
            ConfigurationProblem($0, "expected a path, found nothing; leave it out if none is wanted")
        }
    }

    /// What is likely a mistake in the environment: warnings and not errors, since other programs may set the variables.
    package var variableWarnings: [ConfigurationProblem] {
        unknownVariables + OpenTelemetryVariables(environment).warnings
    }

    /// Variables with the prefix of settings that name none, except those that Kubernetes sets for a service of this name.
    private var unknownVariables: [ConfigurationProblem] {
        let known = Set(Settings.all.map(\.variable) + [Self.fileVariable])
        return environment.keys.filter { $0.hasPrefix(Setting.variablePrefix) && !known.contains($0) }
            .filter { !$0.hasPrefix("DNP_TELEMETRY_PORT") && !$0.hasPrefix("DNP_TELEMETRY_SERVICE_") }
            .sorted()
            .map { name in
                let suggestion = NearestName.of(name, in: known).map { "; did you mean \($0)?" } ?? ""
                return ConfigurationProblem(.environment(name), "no setting has this variable\(suggestion)")
            }
    }

    /// The variable that names the file where no option does.
    package static let fileVariable = Setting.variablePrefix + "CONFIG"

    private func origin(
        _ setting: Setting,
        _ layer: LayerKind,
        _ file: SettingsFile,
        _ index: Int
    ) -> ConfigurationProblem.Origin {
        switch layer {
        case .options: .option("--\(setting.name)")
        case .environment: .environment(setting.variable)
        case .file: file.origin(of: setting.name, index)
        }
    }

    /// A path in the file is relative to the file's directory, others to the working directory.
    private func absolute(_ path: String, _ layer: LayerKind) -> String {
        let directory =
            switch layer {
            case .file: file.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
            case .options, .environment: String?.none
            }
        return Self.absolute(path, in: directory ?? FileManager.default.currentDirectoryPath)
    }

    private static func absolute(_ path: String, in directory: String) -> String {
        guard !path.isEmpty, path != "-" else { return path }
        return URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: directory, isDirectory: true))
            .standardizedFileURL.path
    }
}

/// A source of settings.
private enum LayerKind {
    case options, environment, file
}

/// The layers in the order of precedence, each with a reader of its own: which layer a value came from follows from which
/// reader gave it.
private struct Layers {
    private let layers: [(kind: LayerKind, reader: ConfigReader)]

    init(_ settings: SettingsReader, _ file: SettingsFile) {
        let environment = settings.environment.filter { !$0.value.isEmpty }
        layers = [
            (.options, ConfigReader(provider: InMemoryProvider(values: Self.values(settings.options)))),
            (
                .environment,
                ConfigReader(
                    provider: EnvironmentVariablesProvider(environmentVariables: environment)
                        .prefixKeys(with: ConfigKey(["dnp", "telemetry"]))
                )
            ),
            (.file, ConfigReader(provider: InMemoryProvider(values: Self.values(file.texts)))),
        ]
    }

    private static func values(_ texts: [String: [String]]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, texts) in texts {
            guard let setting = Settings.byName[name] else { continue }
            let content: ConfigContent =
                if setting.form != .list, texts.count == 1 { .string(texts[0]) } else { .stringArray(texts) }
            values[AbsoluteConfigKey([name])] = ConfigValue(content, isSecret: false)
        }
        return values
    }

    /// The texts of a setting in the first layer that holds it; nil where none does.
    func texts(of setting: Setting) -> (texts: [String], layer: LayerKind)? {
        let key = ConfigKey([setting.name])
        for (kind, reader) in layers {
            let texts =
                setting.form == .list
                ? reader.stringArray(forKey: key)
                : reader.string(forKey: key).map { [$0] }
            if let texts { return (texts, kind) }
        }
        return nil
    }
}

/// A configuration as far as it could be read, with the problems and the origins of its values.
struct SettingsReading: Sendable {
    /// A setting with a problem keeps its default.
    fileprivate(set) var configuration: ServeConfiguration
    /// The problems of single settings, each with its place.
    fileprivate(set) var problems: [ConfigurationProblem] = []
    /// The settings that could not be read.
    fileprivate var unread: Set<String> = []
    /// The texts of the settings that are given and could be read, by setting.
    fileprivate(set) var texts: [String: [String]] = [:]
    /// The origin of each value, by setting.
    fileprivate var origins: [String: [ConfigurationProblem.Origin]] = [:]

    fileprivate init(_ configuration: ServeConfiguration) {
        self.configuration = configuration
    }

    /// The origin of a value; the setting's option where it has its default.
    func origin(of name: String, _ index: Int = 0) -> ConfigurationProblem.Origin {
        guard let origins = origins[name], let last = origins.last else { return .option("--\(name)") }
        return origins.indices.contains(index) ? origins[index] : last
    }

    /// The problems of settings that are valid alone and conflict with each other.
    var conflicts: [ConfigurationProblem] {
        listenersNamedTwice + destinationsNamedTwice + [bodiesAboveBudget, metricsOnPageOfConsole].compactMap(\.self)
    }

    /// The first part of the paths of the console's pages.
    private static let consolePages = ["assets", "cycles", "health", "judge", "live"]

    private var metricsOnPageOfConsole: ConfigurationProblem? {
        let first = configuration.metricsPath.split(separator: "/").first ?? ""
        guard configuration.hasConsole, Self.consolePages.contains(String(first)) else { return nil }
        return ConfigurationProblem(
            origin(of: "metrics-path"),
            "expected a path besides the console's pages, found \"\(configuration.metricsPath)\"; choose another, or "
                + "set console: false"
        )
    }

    private var listenersNamedTwice: [ConfigurationProblem] {
        let listeners = configuration.listeners
        return listeners.indices.filter { index in
            !listeners[index].takesFreePort
                && listeners[..<index].contains { $0.endpoint.isSamePlace(as: listeners[index].endpoint) }
        }
        .map { index in
            ConfigurationProblem(
                origin(of: "listen", index),
                "found \(listeners[index].name) twice; list it once, with all that it serves"
            )
        }
    }

    private var destinationsNamedTwice: [ConfigurationProblem] {
        let names = configuration.exports.map(\.name)
        return names.indices.filter { names[..<$0].contains(names[$0]) }.map { index in
            ConfigurationProblem(
                origin(of: "export", index),
                "found the destination \(names[index]) twice; give one of them another name="
            )
        }
    }

    /// The budget holds one body of the allowed size, or such a body would be refused forever.
    private var bodiesAboveBudget: ConfigurationProblem? {
        let needed = configuration.maximumBody + configuration.maximumDecompressedBody
        let names = ["max-bytes-in-flight", "max-decompressed-body", "max-body"]
        guard configuration.maximumBytesInFlight < needed, unread.isDisjoint(with: names) else { return nil }
        let place = origin(of: names.first { origins[$0] != nil } ?? "max-bytes-in-flight")
        return ConfigurationProblem(
            place,
            "expected max-bytes-in-flight of at least \(SettingText.shown(needed)), the sum of max-body and "
                + "max-decompressed-body, found \(SettingText.shown(configuration.maximumBytesInFlight))"
        )
    }
}

extension Listener.Endpoint {
    /// Whether both are the same socket, whatever its mode and group are.
    fileprivate func isSamePlace(as other: Listener.Endpoint) -> Bool {
        switch (self, other) {
        case (.unix(let path, _, _), .unix(let otherPath, _, _)): path == otherPath
        default: self == other
        }
    }
}

/// The texts of the settings in a configuration file, with their lines.
private struct SettingsFile {
    private struct Place {
        var key: Int
        var values: [Int]
    }

    private(set) var texts: [String: [String]] = [:]
    private var path = ""
    private var places: [String: Place] = [:]

    /// A file without settings.
    init() {}

    /// Reads a file; a faulty entry is skipped and added to the problems.
    static func read(_ path: String, _ problems: inout [ConfigurationProblem]) -> SettingsFile {
        do throws(ConfigurationProblem) {
            return SettingsFile(try YAMLFile.read(path), path, &problems)
        } catch {
            problems.append(error)
            return SettingsFile()
        }
    }

    private init(_ root: YAMLNode, _ path: String, _ problems: inout [ConfigurationProblem]) {
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

    /// The line of a value.
    func origin(of name: String, _ index: Int) -> ConfigurationProblem.Origin {
        let place = places[name]
        let line = place.flatMap { $0.values.indices.contains(index) ? $0.values[index] : $0.key }
        return .file(path, line: line)
    }
}
