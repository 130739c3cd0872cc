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
    private let log: Logger
    private let reloads: CounterFamily
    private let isLastGood: Gauge
    private let lastGood: Gauge
    private let now: @Sendable () -> Int64
    private let turn = Mutex(())

    init(
        _ live: LiveConfiguration,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        level: LiveLogHandler.Level,
        _ registry: MetricsRegistry,
        now: @escaping @Sendable () -> Int64,
        log: Logger
    ) {
        self.live = live
        self.reread = reread
        self.level = level
        self.log = log
        self.now = now
        reloads = registry.counter(
            "dnp_telemetry_config_reloads_total",
            help: "Reloads of the configuration, by whether it could be read.",
            labels: ["result"]
        )
        for result in ["applied", "refused"] { _ = reloads.with(result) }
        isLastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_successful",
            help: "Whether the configuration could be read when it was read last."
        )
        lastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_success_timestamp_seconds",
            help: "When the configuration could be read last.",
            unit: "seconds"
        )
        note(isGood: true)
    }

    /// Reads it and applies what can be applied; one reload at a time.
    func reload() -> Outcome {
        turn.withLock { _ in
            do throws(ConfigurationProblems) {
                let result = Settings.reloaded(live.current, with: try reread())
                live.replace(with: result.configuration)
                level.change(to: result.configuration.logLevel)
                reloads.with("applied").add()
                note(isGood: true)
                tell(result.changed, result.waiting)
                return .applied(changed: result.changed, waiting: result.waiting)
            } catch {
                reloads.with("refused").add()
                note(isGood: false)
                for problem in error.problems { log.error("the configuration stays as it was: \(problem)") }
                return .refused(error)
            }
        }
    }

    private func note(isGood: Bool) {
        isLastGood.set(isGood ? 1 : 0)
        if isGood { lastGood.set(Double(now()) / 1_000_000) }
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
