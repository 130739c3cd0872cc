// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hummingbird
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization
internal import TelemetryEvents
internal import TextOutput

/// Reloads the configuration and applies the settings that are hot-reloadable.
///
/// A configuration with a problem changes nothing.
final class Reloader: Sendable {
    /// The outcome of a reload.
    enum Outcome: Sendable {
        /// The settings that changed, and those that differ and need a restart.
        case applied(changed: [String], waiting: [String])
        /// The problems; nothing was changed.
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

    /// - Parameter onChange: passes the configuration to what does not read the live one.
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

    /// Reloads once; concurrent calls run one after the other.
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
            logChanges(result.changed, result.waiting)
            return .applied(changed: result.changed, waiting: result.waiting)
        } catch {
            metrics.refused.add()
            metrics.isLastGood.set(0)
            for problem in error.problems { log.error("the configuration was not reloaded: \(problem)") }
            return .refused(error)
        }
    }

    private func logChanges(_ changed: [String], _ waiting: [String]) {
        let names = changed.isEmpty ? "nothing" : changed.joined(separator: ", ")
        log.notice("the configuration was reloaded", metadata: ["changed": "\(names)"])
        guard !waiting.isEmpty else { return }
        log.warning(
            "changed settings need a restart",
            metadata: ["settings": "\(waiting.joined(separator: ", "))"]
        )
    }
}

extension Reloader.Outcome {
    /// The outcome as a status line.
    fileprivate var line: String {
        switch self {
        case .applied(let changed, let waiting):
            (changed.isEmpty ? "reloaded, nothing changed" : "reloaded: \(changed.joined(separator: ", "))")
                + (waiting.isEmpty ? "" : "; a restart is needed for \(waiting.joined(separator: ", "))")
        case .refused(let problems):
            "not reloaded: \(problems.problems.first.map { "\($0)" } ?? "the configuration cannot be read")"
        }
    }
}

/// Reloads after a SIGHUP, also after one that arrived while the service started.
struct ReloadService: Service {
    let reloader: Reloader
    let signals: ServiceSignals

    func run() async throws {
        for await _ in signals.hangUps.cancelOnGracefulShutdown() {
            _ = reloader.reload()
        }
    }
}

/// The metrics of reloads.
struct ReloadMetrics: Sendable {
    let applied: Counter
    let refused: Counter
    let isLastGood: Gauge
    private let lastGood: Gauge

    init(_ registry: MetricsRegistry) {
        let reloads = registry.counter(
            "dnp_telemetry_config_reloads_total",
            help: "Reloads of the configuration, by whether it could be read.",
            labels: ["result"]
        )
        applied = reloads.with("applied")
        refused = reloads.with("refused")
        isLastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_successful",
            help: "1 where the configuration could be read when it was read last, else 0."
        )
        lastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_success_timestamp_seconds",
            help: "When the configuration could be read last.",
            unit: "seconds"
        )
    }

    /// Records a success, at a time in microseconds since 1970.
    func read(at microseconds: Int64) {
        isLastGood.set(1)
        lastGood.set(Double(microseconds) / 1_000_000)
    }
}

/// `POST /-/reload`: a reload whose outcome is the response.
final class ReloadRoute: Sendable {
    private let reloader: Reloader
    private let turns = Mutex(ReloadLimiter())

    init(reloader: Reloader) {
        self.reloader = reloader
    }

    /// Refuses a page of another site, which needs no preflight to post.
    func respond(to request: Request) async throws -> Response {
        guard RequestOrigin.isSameOrigin(request) else { throw Problem.foreignSite }
        if case .wait(let pause) = turns.withLock({ $0.ask(at: LedgerClock.system.monotonic()) }) {
            throw Problem.reloadedJustNow(pause)
        }
        defer { turns.withLock { $0.ended() } }
        // Reading files may block, so it leaves the event loop.
        switch try await NIOThreadPool.singleton.runIfActive({ self.reloader.reload() }) {
        case .applied(let changed, let waiting):
            var body = JSONWriter()
            body.object { body in
                for (name, settings) in [("changed", changed), ("needsRestart", waiting)] {
                    body.name(name)
                    body.array { list in for setting in settings { list.value(setting) } }
                }
            }
            return Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(bytes: body.bytes + Array("\n".utf8)))
            )
        case .refused(let problems): throw Problem.unusableConfiguration(problems)
        }
    }
}

extension Problem {
    fileprivate static func unusableConfiguration(_ problems: ConfigurationProblems) -> Problem {
        let first = problems.problems.first.map { "\($0)" } ?? ""
        var list = JSONWriter()
        list.array { list in for problem in problems.problems { list.value("\(problem)") } }
        return Problem(
            status: .unprocessableContent,
            type: "configuration",
            title: "The configuration was not reloaded",
            detail: "What was read has \(problems.problems.count.counted("problem")); the first: \(first)",
            members: #","problems":"# + String(decoding: list.bytes, as: UTF8.self)
        )
    }

    fileprivate static func reloadedJustNow(_ pause: Duration) -> Problem {
        Problem(
            status: .tooManyRequests,
            type: "reloaded-just-now",
            title: "Reloaded just now",
            detail: "The configuration was reloaded within the last second, or a reload is under way. Try again.",
            retryAfter: RetryHint.jittered(pause)
        )
    }
}

/// Limits the reloads over HTTP: one at a time, and at most one a second.
///
/// A request never shares the outcome of another one, which may have read the files before they were written.
///
/// Pure: times are nanoseconds of a monotonic clock.
struct ReloadLimiter {
    /// The decision on a request.
    enum Turn: Equatable {
        /// Reload now.
        case begin
        /// Retry after that.
        case wait(Duration)
    }

    /// The least time between the starts of two reloads, in nanoseconds.
    static let interval: UInt64 = 1_000_000_000

    private var last: UInt64?
    private var isUnderWay = false

    mutating func ask(at now: UInt64) -> Turn {
        if let last, now < last &+ Self.interval { return .wait(.nanoseconds(Int64(last &+ Self.interval - now))) }
        if isUnderWay { return .wait(.nanoseconds(Int64(Self.interval))) }
        last = now
        isUnderWay = true
        return .begin
    }

    mutating func ended() {
        isUnderWay = false
    }
}
