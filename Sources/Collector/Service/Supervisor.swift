// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// Notifies the service manager of the state of the service (sd_notify(3)). Without a manager it does nothing.
///
/// No call blocks.
final class Supervisor: Sendable {
    private let line: ManagerLine?
    private let state = Mutex(SupervisionState())
    /// The manager restarts the service after this time without a ping; nil without a watchdog.
    let watchdogTimeout: Duration?

    /// Connects to the manager of `$NOTIFY_SOCKET` and `$WATCHDOG_USEC`.
    init(_ log: Logger) {
        line = NotificationSocket().map { socket in
            ManagerLine(log) { (message) throws(SystemError) in try socket.send(message) }
        }
        do throws(SystemError) {
            watchdogTimeout = line == nil ? nil : try NotificationSocket.watchdogTimeout()
        } catch {
            watchdogTimeout = nil
            log.warning("the watchdog is off: WATCHDOG_USEC or WATCHDOG_PID: \(error)")
        }
    }

    /// Whether a service manager listens.
    var hasManager: Bool { line != nil }

    /// The ledger is being opened.
    func opening() {
        notify { $0.opening() }
    }

    /// Batches of the ledger have been folded.
    func recovering(_ progress: RecoveryProgress) {
        notify { $0.recovering(progress, at: LedgerClock.system.monotonic()) }
    }

    /// Recovery has ended.
    func opened() {
        notify { $0.opened() }
    }

    /// Recovery has ended and every listener listens.
    func ready() {
        notify { $0.listening(at: LedgerClock.system.monotonic()) }
    }

    /// A reload starts; ``reloaded(_:)`` ends it. Ignored before ``ready()``.
    func reloading() {
        notify { $0.reloading(at: LedgerClock.system.monotonic()) }
    }

    /// The reload has ended; `outcome` is a short description such as
    /// `reloaded: 2 settings changed` or `not reloaded: config.yml:3: ...`.
    func reloaded(_ outcome: String) {
        notify { $0.reloaded(outcome, at: LedgerClock.system.monotonic()) }
    }

    /// Updates the status line.
    func reads(_ reading: ServiceReading) {
        notify { $0.reads(reading) }
    }

    /// Pings the watchdog, once the writer has proven that it works.
    func ping() {
        line?.send([.watchdog])
    }

    /// The service stops.
    func stopping() {
        notify { $0.stopping() }
    }

    /// The service cannot start, or it failed; the process is about to end.
    func failed(_ error: any Error) {
        notify { $0.failed("\(error)", code: Self.code(of: error)) }
        line?.flush()
    }

    private func notify(_ step: (inout SupervisionState) -> [ServiceNotification]) {
        guard let line else { return }
        state.withLock { line.send(step(&$0)) }
    }

    private static func code(of error: any Error) -> Int32? {
        switch error {
        case let error as IOError: error.errnoCode
        case let error as SystemError: error.code
        case LedgerError.other(let code, _) where code < 0: -code
        default: nil
        }
    }
}

/// A queue of messages to the service manager, sent in order on a thread that nothing else depends on, because sd_notify(3)
/// blocks while the manager's queue is full.
final class ManagerLine: Sendable {
    /// The most queued messages. Beyond it, messages that a later one supersedes are dropped; those that the manager waits
    /// for, such as READY and STOPPING, are always queued.
    private static let limit = 64

    private let transmit: @Sendable ([ServiceNotification]) throws(SystemError) -> Void
    private let log: Logger
    private let queue = DispatchQueue(label: "service-manager")
    private let waiting = Atomic(0)
    private let hasFailed = Atomic(false)

    /// - Parameter transmit: sends one message, and may block.
    init(_ log: Logger, transmit: @escaping @Sendable ([ServiceNotification]) throws(SystemError) -> Void) {
        self.transmit = transmit
        self.log = log
    }

    func send(_ notifications: [ServiceNotification]) {
        guard !notifications.isEmpty else { return }
        let count = waiting.wrappingAdd(1, ordering: .relaxed).newValue
        guard count <= Self.limit || !notifications.allSatisfy(\.isRepeated) else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            defer { waiting.wrappingSubtract(1, ordering: .relaxed) }
            do throws(SystemError) {
                try transmit(notifications)
                hasFailed.store(false, ordering: .relaxed)
            } catch {
                guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
                log.warning("the service manager cannot be notified at NOTIFY_SOCKET: \(error)")
            }
        }
    }

    /// Blocks until the queue is empty, for at most a second.
    func flush() {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
    }
}

extension ServiceNotification {
    /// Whether a later message of its kind supersedes it.
    fileprivate var isRepeated: Bool {
        switch self {
        case .status, .watchdog, .extendTimeout: true
        case .ready, .reloading, .stopping, .errno: false
        }
    }
}

/// Pings the watchdog and updates the status line while the service runs, and reports the stop.
///
/// It runs on the threads of the requests: when those hang, the watchdog gets no ping either.
struct SupervisionService: Service {
    let supervisor: Supervisor
    let writer: GroupCommit<IngestProcessor>
    let journal: DeliveryProgress?

    func run() async throws {
        if supervisor.hasManager {
            try? await cancelWhenGracefulShutdown { try await watch() }
        } else {
            try? await gracefulShutdown()
        }
        supervisor.stopping()
    }

    private func watch() async throws {
        let clock = LedgerClock.system
        var watch = supervisor.watchdogTimeout.map {
            WriterWatch(timeout: $0, proofs: writer.statistics.proofs, at: clock.monotonic())
        }
        let proof = Proof()
        while !Task.isCancelled {
            let statistics = writer.statistics
            let now = clock.monotonic()
            supervisor.reads(reading(statistics, at: now))
            switch watch?.look(proofs: statistics.proofs, isAsked: proof.isAsked, at: now) ?? .wait {
            case .wait: break
            case .ping: supervisor.ping()
            case .askForProof: proof.ask(of: writer)
            }
            try await Task.sleep(for: .nanoseconds(watch?.pause ?? 1_000_000_000))
        }
    }

    private func reading(_ statistics: GroupCommitStatistics, at now: UInt64) -> ServiceReading {
        ServiceReading(
            time: now,
            events: statistics.events,
            refused: statistics.failedSubmissions + statistics.overloads + statistics.slowRefusals,
            waiting: statistics.waitingSubmissions,
            journalBehind: journal.map { progress in
                let confirmed = progress.latest
                let end = writer.ledger.position.sequence
                return end - min(confirmed, end)
            },
            trouble: statistics.failure
        )
    }
}

/// The writer's proof of work, one request at a time; a hung writer never answers.
private final class Proof: Sendable {
    private let asked = Atomic(false)

    var isAsked: Bool { asked.load(ordering: .relaxed) }

    func ask(of writer: GroupCommit<IngestProcessor>) {
        asked.store(true, ordering: .relaxed)
        Task {
            try? await writer.prove()
            asked.store(false, ordering: .relaxed)
        }
    }
}
