// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Looks at the files of the rules once a second and puts what they say in force, within three seconds of a change.
///
/// It looks by itself and not when a request comes, so that no request waits for a file and the first one after a
/// revocation is refused already.
final class SecurityWatch: Service {
    /// The rules in force.
    let rules: LiveSecurityRules
    private let files: Mutex<SecurityFiles>
    private let toldExposures = Mutex<[ConfigurationProblem]>([])
    private let metrics: SecurityMetrics
    private let log: Logger

    /// - Throws: when something that is needed at the start cannot be taken.
    init(_ configuration: ServeConfiguration, metrics: SecurityMetrics, log: Logger) throws(ConfigurationProblem) {
        let files = try SecurityFiles(
            webConfiguration: configuration.webConfigurationFile,
            credentials: configuration.credentialsDirectory
        )
        if let problem = files.problem(withLimits: configuration.tokenLimits) { throw problem }
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

    /// Lets a reload read the files of the rules too, at once; what cannot be taken of them is a problem of the reload,
    /// which takes nothing then.
    func rereading(
        _ reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration
    ) -> @Sendable () throws(ConfigurationProblems) -> ServeConfiguration {
        { () throws(ConfigurationProblems) in
            let configuration = try reread()
            let problems = self.reread(tokenLimits: configuration.tokenLimits)
            guard problems.isEmpty else { throw ConfigurationProblems(problems: problems) }
            self.warn(configuration)
            return configuration
        }
    }

    /// Takes nothing where limits stand beside no tokens; the next look takes what changed.
    private func reread(tokenLimits: [String: Double]) -> [ConfigurationProblem] {
        var problem: ConfigurationProblem?
        let problems = apply { files in
            var next = files
            let readings = next.reread()
            if readings.allSatisfy({ $0.problem == nil }) { problem = next.problem(withLimits: tokenLimits) }
            guard problem == nil else { return [] }
            files = next
            return readings
        }
        return problem.map { [$0] } ?? problems
    }

    /// A secret that everybody can read is told again only once it was mended meanwhile.
    private func warn(_ configuration: ServeConfiguration) {
        let (warnings, exposures) = files.withLock { ($0.warnings(configuration), $0.exposures) }
        let told = toldExposures.withLock { told in
            defer { told = exposures }
            return told
        }
        for warning in warnings + exposures.filter({ !told.contains($0) }) { log.warning("\(warning)") }
    }

    private func look() {
        for problem in apply({ $0.look() }) { log.error("what was read before stays in force: \(problem)") }
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
            if reading.problem == nil { log.notice("the \(reading.subject.words) was read anew") }
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

/// What connections and requests are held against at one moment, as the files say.
struct SecurityRules: Sendable {
    var web = WebConfiguration()
    var tls: TLSTerms?
    var tokens = TokenSet.none
    /// Whether events need a token; stays so while the service runs, also when the last token is taken away.
    var needsToken = false
}

/// The rules of this moment.
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
