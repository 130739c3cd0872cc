// SPDX-License-Identifier: Apache-2.0

internal import PeerNames

/// Checks the security files of a configuration without starting the service.
struct SecurityCheck {
    private(set) var problems: [ConfigurationProblem] = []
    private(set) var warnings: [ConfigurationProblem] = []

    /// Reports problems of settings at the place where the setting is made.
    init(_ reading: SettingsReading) {
        self.init(reading.configuration)
        problems = problems.map { $0.placed(in: reading) }
        warnings = warnings.map { $0.placed(in: reading) }
    }

    init(_ configuration: ServeConfiguration) {
        let (web, credentials) = (configuration.webConfigurationFile, configuration.credentialsDirectory)
        do throws(ConfigurationProblem) {
            let files = try SecurityFiles(webConfiguration: web, credentials: credentials)
            problems = [
                files.problem(withLimits: configuration.tokenLimits),
                files.problem(withReaders: configuration.consoleUsers),
            ].compactMap { $0 }
            warnings = files.warnings(configuration) + files.exposures
            let places = configuration.listeners.map { ListenerExposure.Place($0.services, $0.knownPlace) }
            warnings += ListenerExposure.warnings(configuration, places, files.rules)
            return
        } catch {
            problems = [error]
        }
        guard let web else { return }
        if let document = try? YAMLFile.read(web) {
            let all = WebConfiguration.problems(of: document, path: web)
            if !all.isEmpty { problems = all }
        }
        // A wrong web configuration has kept the tokens from being read.
        do throws(ConfigurationProblem) {
            _ = try SecurityFiles(webConfiguration: nil, credentials: credentials)
        } catch {
            if !problems.contains(error) { problems.append(error) }
        }
    }
}

extension ConfigurationProblem {
    /// The problem at the place where its setting is made, if it is about a setting.
    fileprivate func placed(in reading: SettingsReading) -> ConfigurationProblem {
        guard case .option(let option) = origin else { return self }
        return ConfigurationProblem(reading.origin(of: String(option.dropFirst(2))), message)
    }
}

extension Listener {
    /// The address as far as it is known before listening; nil for an inherited socket.
    fileprivate var knownPlace: ListeningPlace? {
        switch endpoint {
        case .address(let host, let port): .internet(host: host, port: port)
        case .unix(let path, _, _): .unix(path: path)
        case .inherited: nil
        }
    }
}

/// Warns of what other machines reach without authentication: a reload endpoint, and the console.
enum ListenerExposure {
    /// A listener's services, and its address if known.
    struct Place {
        let services: Listener.Services
        let place: ListeningPlace?

        init(_ services: Listener.Services, _ place: ListeningPlace?) {
            self.services = services
            self.place = place
        }
    }

    /// The warnings, each about the first such listener; none of what is off, local, or authenticated.
    static func warnings(
        _ configuration: ServeConfiguration,
        _ places: [Place],
        _ rules: SecurityRules
    ) -> [ConfigurationProblem] {
        guard rules.web.users.isEmpty, !rules.asksForKnownCertificate else { return [] }
        func open(_ service: Listener.Services) -> ListeningPlace? {
            places.first { $0.services.contains(service) && !($0.place?.isLocal ?? true) }?.place
        }
        var warnings: [ConfigurationProblem] = []
        if configuration.hasReloadEndpoint, let place = open(.metrics) {
            warnings.append(
                ConfigurationProblem(
                    .option("--reload-endpoint"),
                    "any client that reaches \(place) can trigger a reload: serve reloads on the loopback or a Unix "
                        + "socket, or set users or client_auth_type RequireAndVerifyClientCert in the web configuration"
                )
            )
        }
        if configuration.hasConsole, !rules.needsReadToken, let place = open(.console) {
            warnings.append(
                ConfigurationProblem(
                    .option("--console"),
                    "any client that reaches \(place) can read cycles and events: serve the console on the loopback "
                        + "or a Unix socket, set users in the web configuration or a read-token-NAME in "
                        + "credentials-dir, or switch it off with console: false"
                )
            )
        }
        return warnings
    }
}

extension ListeningPlace {
    /// Whether it is reachable from this machine only.
    fileprivate var isLocal: Bool {
        switch self {
        case .internet(let host, _): LocalHost.isLoopback(host)
        case .unix: true
        }
    }
}

extension SecurityRules {
    fileprivate var asksForKnownCertificate: Bool { web.tls?.clientAuthentication == .requiredAndVerified }
}
