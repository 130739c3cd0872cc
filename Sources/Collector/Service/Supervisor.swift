// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import NIOCore
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
            log.warning("the service manager's watchdog is not served: WATCHDOG_USEC or WATCHDOG_PID: \(error)")
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
