// SPDX-License-Identifier: Apache-2.0

internal import Configuration
internal import Foundation
internal import LogInput
internal import Synchronization
internal import TextOutput

/// Reads the configuration from its layers: options beat the environment, which beats the file, which beats the defaults.
///
/// Reading it again reads the file again, as a reload does.
package struct SettingsReader: Sendable {
    /// The values that options gave, by the setting's name; true and false for flags.
    package var options: [String: [String]]
    /// The environment.
    package var environment: [String: String]
    /// The configuration file; nil: none.
    package var file: String?

    /// - Parameter file: relative paths are taken from the working directory.
    package init(options: [String: [String]] = [:], environment: [String: String], file: String? = nil) {
        self.options = options
        self.environment = environment
        self.file = file.map { Self.absolute($0, in: FileManager.default.currentDirectoryPath) }
    }

    /// What is told all in all.
    ///
    /// - Throws: all that is wrong with it, each with its place.
    package func read() throws(ConfigurationProblems) -> ServeConfiguration {
        let reading = reading()
        let problems = reading.problems.isEmpty ? reading.conflicts : reading.problems
        guard problems.isEmpty else { throw ConfigurationProblems(problems: problems) }
        return reading.configuration
    }

    /// What is wrong with the options, each by itself and without the file.
    package var optionProblems: [ConfigurationProblem] {
        var reader = self
        reader.file = nil
        return reader.reading().problems.filter { problem in
            guard case .option(let name) = problem.origin else { return false }
            // A state directory may stand in the file alone.
            return name != "--state-dir" || file == nil || options["state-dir"] != nil
        }
    }

    /// What is told, as far as it can be read.
    func reading() -> SettingsReading {
        var reading = SettingsReading(
            ServeConfiguration(stateDirectory: StateDirectory.default(environment: environment) ?? "")
        )
        reading.problems = emptyPaths
        let told =
            file.map { $0.isEmpty ? SettingsFile() : SettingsFile.read($0, &reading.problems) } ?? SettingsFile()
        reading.configuration.zone = .machine
        reading.configuration.credentialsDirectory = environment["CREDENTIALS_DIRECTORY"].flatMap {
            $0.isEmpty ? nil : CredentialsDirectory($0, mustHoldTokens: false)
        }
        let layers = Layers(self, told)
        for setting in Settings.all {
            guard let found = layers.texts(of: setting) else { continue }
            let texts = setting.isPath ? found.texts.map { absolute($0, found.layer) } : found.texts
            reading.origins[setting.name] = texts.indices.map { origin(setting, found.layer, told, $0) }
            do throws(SettingComplaint) {
                try setting.apply(texts, &reading.configuration)
            } catch {
                reading.unread.insert(setting.name)
                reading.problems.append(
                    ConfigurationProblem(origin(setting, found.layer, told, error.index), error.message)
                )
            }
        }
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

    /// What should name a path and is empty, as a variable is that nothing has filled; options of settings aside, which
    /// are read as they are.
    private var emptyPaths: [ConfigurationProblem] {
        let settings = Settings.all.filter { $0.isPath && options[$0.name] == nil }.map(\.variable)
        let variables = (file == nil ? [Self.fileVariable] : []) + settings
        let empty = variables.filter { environment[$0]?.isEmpty == true }.map(ConfigurationProblem.Origin.environment)
        return ((file == "" ? [.option("--config")] : []) + empty).map {
            ConfigurationProblem($0, "expected a path, found nothing; leave it out where none is wanted")
        }
    }

    /// Variables that look like settings and are none, but for those that Kubernetes makes for a service of this name.
    ///
    /// They are no errors, since others may set them.
    package var unknownVariables: [ConfigurationProblem] {
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
        _ layer: Layer,
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
    private func absolute(_ path: String, _ layer: Layer) -> String {
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

extension SettingsReader {
    /// Where a value comes from.
    fileprivate enum Layer: String {
        case options, environment, file
    }

    /// The layers as swift-configuration reads them.
    private struct Layers {
        let reader: ConfigReader
        let provenance = Provenance()

        init(_ settings: SettingsReader, _ file: SettingsFile) {
            let environment = settings.environment.filter { !$0.value.isEmpty }
            reader = ConfigReader(
                providers: [
                    InMemoryProvider(name: Layer.options.rawValue, values: Self.values(settings.options)),
                    EnvironmentVariablesProvider(environmentVariables: environment)
                        .prefixKeys(with: ConfigKey(["dnp", "telemetry"])),
                    InMemoryProvider(name: Layer.file.rawValue, values: Self.values(file.texts)),
                ],
                accessReporter: provenance
            )
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

        /// What is told of a setting, and by which layer; nil where none tells it.
        func texts(of setting: Setting) -> (texts: [String], layer: Layer)? {
            let key = ConfigKey([setting.name])
            let texts =
                setting.form == .list
                ? reader.stringArray(forKey: key)
                : reader.string(forKey: key).map { [$0] }
            return texts.map { ($0, provenance.last) }
        }
    }

    /// Notes which layer gave the value that was read last.
    private final class Provenance: AccessReporter {
        private let layer = Mutex(Layer.options)

        var last: Layer { layer.withLock { $0 } }

        func report(_ event: AccessEvent) {
            guard let provider = event.providerResults.last?.providerName else { return }
            let found: Layer =
                if provider.contains("[\(Layer.options.rawValue)]") {
                    .options
                } else if provider.contains("[\(Layer.file.rawValue)]") {
                    .file
                } else {
                    .environment
                }
            layer.withLock { $0 = found }
        }
    }
}
