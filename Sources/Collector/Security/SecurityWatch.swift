// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Hot-reloads the security files: it checks them once a second and applies a change within three seconds.
///
/// It does not wait for requests, so that no request waits for a file and the first one after a revocation is refused.
final class SecurityWatch: Service {
    /// The rules in force.
    let rules: LiveSecurityRules
    private let files: Mutex<SecurityFiles>
    private let reportedExposures = Mutex<[ConfigurationProblem]>([])
    private let metrics: SecurityMetrics
    private let log: Logger

    /// - Throws: the first problem of the files.
    init(_ configuration: ServeConfiguration, metrics: SecurityMetrics, log: Logger) throws(ConfigurationProblem) {
        let files = try SecurityFiles(
            webConfiguration: configuration.webConfigurationFile,
            credentials: configuration.credentialsDirectory
        )
        if let problem = files.problem(withLimits: configuration.tokenLimits) { throw problem }
        if let problem = files.problem(withReaders: configuration.consoleUsers) { throw problem }
        rules = LiveSecurityRules(files.rules)
        self.files = Mutex(files)
        self.metrics = metrics
        self.log = log
        metrics.use(files.rules)
        warn(configuration)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                try? await NIOThreadPool.singleton.runIfActive { self.look() }
            }
        }
    }

    /// Makes a reload of the settings read the security files too; a problem of theirs fails the whole reload.
    func rereading(
        _ reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration
    ) -> @Sendable () throws(ConfigurationProblems) -> ServeConfiguration {
        { () throws(ConfigurationProblems) in
            let configuration = try reread()
            let problems = self.reread(configuration)
            guard problems.isEmpty else { throw ConfigurationProblems(problems: problems) }
            self.warn(configuration)
            return configuration
        }
    }

    /// Applies nothing if there are token limits without tokens, or readers without users; the next look applies the changes.
    private func reread(_ configuration: ServeConfiguration) -> [ConfigurationProblem] {
        var problem: ConfigurationProblem?
        let problems = apply { files in
            var next = files
            let readings = next.reread()
            if readings.allSatisfy({ $0.problem == nil }) {
                problem =
                    next.problem(withLimits: configuration.tokenLimits)
                    ?? next.problem(withReaders: configuration.consoleUsers)
            }
            guard problem == nil else { return [] }
            files = next
            return readings
        }
        return problem.map { [$0] } ?? problems
    }

    /// Logs the warnings; that of a world-readable secret again only if it was mended meanwhile.
    private func warn(_ configuration: ServeConfiguration) {
        let (warnings, exposures) = files.withLock { ($0.warnings(configuration), $0.exposures) }
        let reported = reportedExposures.withLock { reported in
            defer { reported = exposures }
            return reported
        }
        for warning in warnings + exposures.filter({ !reported.contains($0) }) { log.warning("\(warning)") }
    }

    private func look() {
        for problem in apply({ $0.look() }) { log.error("the previous version stays in force: \(problem)") }
    }

    private func apply(_ read: (inout SecurityFiles) -> [SecurityFiles.Reading]) -> [ConfigurationProblem] {
        let readings = files.withLock { files in
            let readings = read(&files)
            if !readings.isEmpty {
                rules.replace(with: files.rules)
                metrics.use(files.rules)
            }
            return readings
        }
        for reading in readings {
            metrics.reloaded(reading)
            if reading.problem == nil { log.notice("reloaded the \(reading.subject.words)") }
        }
        return readings.compactMap(\.problem)
    }
}

extension SecurityFiles.Reading.Subject {
    fileprivate var words: String {
        switch self {
        case .webConfiguration: "web configuration"
        case .tokens: "set of tokens"
        }
    }
}

/// The security rules in force: web configuration, TLS policy and tokens.
struct SecurityRules: Sendable {
    var web = WebConfiguration()
    var tls: TLSPolicy?
    var tokens = TokenSet.none
    /// The tokens for reading the console.
    var readTokens = TokenSet.none
    /// Whether events need a token; once true it stays so until a restart, also when the last token is removed.
    var needsToken = false
    /// Whether the console needs a token for reading where there are no users; stays so as `needsToken` does.
    var needsReadToken = false
}

/// The current rules, shared by connections and requests.
final class LiveSecurityRules: Sendable {
    private let held: Mutex<SecurityRules>

    init(_ rules: SecurityRules) {
        held = Mutex(rules)
    }

    var current: SecurityRules { held.withLock { $0 } }

    func replace(with rules: SecurityRules) {
        held.withLock { $0 = rules }
    }
}

extension ServerHeaders {
    /// Adds the headers of the current web configuration. What an answer has already stays: the console's are stricter.
    init(rules: LiveSecurityRules) {
        self.init { fields in
            for header in rules.current.web.headers {
                if let name = HTTPField.Name(header.name), fields[name] == nil { fields[name] = header.value }
            }
        }
    }
}
