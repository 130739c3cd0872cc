// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import MetricsRegistry
internal import Synchronization

/// Reads the configuration anew and changes what can change while the service runs.
///
/// A configuration with a problem changes nothing.
final class Reloader: Sendable {
    /// What a reload came to.
    enum Outcome: Sendable {
        /// Read: the settings that changed, and those that differ now and need a restart.
        case applied(changed: [String], waiting: [String])
        /// Not read: what is wrong.
        case refused(ConfigurationProblems)
    }

    private let live: LiveConfiguration
    private let reread: @Sendable () throws(ConfigurationProblems) -> ServeConfiguration
    private let level: LiveLogHandler.Level
    private let supervisor: Supervisor
    private let onChange: @Sendable (ServeConfiguration) -> Void
    private let log: Logger
    private let metrics: ReloadMetrics
    private let now: @Sendable () -> Int64
    private let turn = Mutex(())

    /// - Parameter onChange: hands the configuration on to what does not read the live one by itself.
    init(
        _ live: LiveConfiguration,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        level: LiveLogHandler.Level,
        _ supervisor: Supervisor,
        _ registry: MetricsRegistry,
        now: @escaping @Sendable () -> Int64,
        log: Logger,
        onChange: @escaping @Sendable (ServeConfiguration) -> Void = { _ in }
    ) {
        self.live = live
        self.reread = reread
        self.level = level
        self.supervisor = supervisor
        self.onChange = onChange
        self.log = log
        self.now = now
        metrics = ReloadMetrics(registry)
        metrics.read(at: now())
    }

    /// Reads it and applies what can be applied; one reload at a time.
    func reload() -> Outcome {
        turn.withLock { _ in
            supervisor.reloading()
            let outcome = apply()
            supervisor.reloaded(outcome.line)
            return outcome
        }
    }

    private func apply() -> Outcome {
        do throws(ConfigurationProblems) {
            let result = Settings.reloaded(live.current, with: try reread())
            live.replace(with: result.configuration)
            onChange(result.configuration)
            level.change(to: result.configuration.logLevel)
            metrics.applied.add()
            metrics.read(at: now())
            tell(result.changed, result.waiting)
            return .applied(changed: result.changed, waiting: result.waiting)
        } catch {
            metrics.refused.add()
            metrics.isLastGood.set(0)
            for problem in error.problems { log.error("the configuration stays as it was: \(problem)") }
            return .refused(error)
        }
    }

    private func tell(_ changed: [String], _ waiting: [String]) {
        let names = changed.isEmpty ? "nothing" : changed.joined(separator: ", ")
        log.notice("the configuration was read anew", metadata: ["changed": "\(names)"])
        guard !waiting.isEmpty else { return }
        log.warning(
            "settings changed that need a restart",
            metadata: ["settings": "\(waiting.joined(separator: ", "))"]
        )
    }
}

extension Reloader.Outcome {
    /// What came of it, for the status line.
    var line: String {
        switch self {
        case .applied(let changed, let waiting):
            (changed.isEmpty ? "reloaded, nothing changed" : "reloaded: \(changed.joined(separator: ", "))")
                + (waiting.isEmpty ? "" : "; a restart is needed for \(waiting.joined(separator: ", "))")
        case .refused(let problems):
            "not reloaded: \(problems.problems.first.map { "\($0)" } ?? "the configuration cannot be read")"
        }
    }
}
