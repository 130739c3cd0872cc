// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// Tells the service manager how the service stands (sd_notify(3)). Without a manager it does nothing.
///
/// Any thread may call, none is held up.
final class Supervisor: Sendable {
    private let line: ManagerLine?
    private let state = Mutex(SupervisionState())
    /// After which silence the manager restarts the service; nil where it does not.
    let watchdogTimeout: Duration?

    /// Takes the manager that `$NOTIFY_SOCKET` and `$WATCHDOG_USEC` tell of.
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

    /// Whether somebody listens.
    var hasManager: Bool { line != nil }

    /// The ledger is being opened.
    func opening() {
        tell { $0.opening() }
    }

    /// Batches of the ledger have been folded.
    func recovering(_ progress: RecoveryProgress) {
        tell { $0.recovering(progress, at: LedgerClock.system.monotonic()) }
    }

    /// Recovery is through.
    func opened() {
        tell { $0.opened() }
    }

    /// Recovery is through and every listener listens.
    func ready() {
        tell { $0.listening(at: LedgerClock.system.monotonic()) }
    }

    /// The configuration is about to be read anew; ``reloaded(_:)`` ends that. Not before ``ready()``.
    func reloading() {
        tell { $0.reloading(at: LedgerClock.system.monotonic()) }
    }

    /// The configuration was read anew, or left as it was; `outcome` says which in a few words, such as
    /// `reloaded: 2 settings changed` or `not reloaded: config.yml:3: ...`.
    func reloaded(_ outcome: String) {
        tell { $0.reloaded(outcome, at: LedgerClock.system.monotonic()) }
    }

    /// How it goes at this moment.
    func reads(_ reading: ServiceReading) {
        tell { $0.reads(reading) }
    }

    /// The writer has proven that it works.
    func ping() {
        line?.send([.watchdog])
    }

    /// The service has been told to stop.
    func stopping() {
        tell { $0.stopping() }
    }

    /// The service cannot start, or it failed; the process is about to end.
    func failed(_ error: any Error) {
        tell { $0.failed("\(error)", code: Self.code(of: error)) }
        line?.flush()
    }

    private func tell(_ step: (inout SupervisionState) -> [ServiceNotification]) {
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

/// The line to the service manager: messages go out in their order, on a thread that nothing else depends on, because
/// sd_notify(3) waits while the manager's queue is full.
final class ManagerLine: Sendable {
    /// The most messages that wait; of a manager that takes none, those that the next of its kind stands for are kept back
    /// then. What it waits for itself, READY and STOPPING for two, always goes out.
    private static let limit = 64

    private let transmit: @Sendable ([ServiceNotification]) throws(SystemError) -> Void
    private let log: Logger
    private let queue = DispatchQueue(label: "service-manager")
    private let waiting = Atomic(0)
    private let hasFailed = Atomic(false)

    /// - Parameter transmit: hands one message over, and may wait.
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

    /// Waits until all is sent, for a second at most.
    func flush() {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
    }
}

extension ServiceNotification {
    /// Whether a later one of its kind stands for it.
    fileprivate var isRepeated: Bool {
        switch self {
        case .status, .watchdog, .extendTimeout: true
        case .ready, .reloading, .stopping, .errno: false
        }
    }
}

/// Serves the manager's watchdog and the status line while the service runs, and says that it stops as soon as it is told
/// to.
///
/// It runs on the threads that requests run on: when those hang, the watchdog hears nothing either.
struct SupervisionService: Service {
    let supervisor: Supervisor
    let writer: GroupCommit<IngestProcessor>
    let journal: JournalProgress?

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

/// A proof that the writer is asked for, one at a time; a hung writer never answers.
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
