// SPDX-License-Identifier: Apache-2.0

internal import CStartSignals
internal import Glibc
internal import ServiceLifecycle
internal import Synchronization
internal import SystemPrimitives

/// SIGHUP, SIGTERM and SIGINT, from the first moment of the service on.
///
/// `serve` keeps them from before anything else runs (`CStartSignals`) until ``take()``. A SIGHUP during the start is kept
/// until the service runs. A SIGTERM or SIGINT ends a start at once, which leaves the ledger as a kill would, and stops a
/// running service gracefully.
package final class ServiceSignals: Sendable {
    private enum Phase {
        case starting(abandon: @Sendable () -> Void)
        case running
    }

    /// One element for all SIGHUPs since the last one was consumed.
    let hangUps: AsyncStream<Void>
    /// Ends with the first SIGTERM or SIGINT of a running service.
    let untilStop: AsyncStream<Void>

    private let phase = Mutex(Phase.starting(abandon: {}))
    private let hangUpContinuation: AsyncStream<Void>.Continuation
    private let stopContinuation: AsyncStream<Void>.Continuation

    private init() {
        (hangUps, hangUpContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (untilStop, stopContinuation) = AsyncStream.makeStream()
    }

    /// Takes the signals from now on, those that were kept first; called once in a process.
    ///
    /// A thread of its own waits for them, since recovery occupies the threads of tasks.
    /// - Throws: an error for the operator when the process gets no thread.
    package static func take() throws(CollectorError) -> ServiceSignals {
        start_signals_keep()
        let signals = ServiceSignals()
        do throws(ErrorNumber) {
            let thread = try NamedThread(name: "signals") {
                while true { signals.received(start_signals_wait()) }
            }
            thread.detach()
        } catch {
            throw CollectorError("the process gets no thread to wait for signals: \(error); check its limits")
        }
        return signals
    }

    private func received(_ number: Int32) {
        if number == SIGHUP { hangUpContinuation.yield() } else { stop() }
    }

    /// Sets the cleanup of a stop during the start.
    func starting(abandon: @escaping @Sendable () -> Void) {
        phase.withLock { $0 = .starting(abandon: abandon) }
    }

    /// From now on a signal stops the service gracefully.
    func started() {
        phase.withLock { $0 = .running }
    }

    private func stop() {
        phase.withLock { phase in
            switch phase {
            case .starting(let abandon):
                abandon()
                // Other threads use the ledger, so exit without destructors.
                _exit(0)
            case .running:
                stopContinuation.finish()
            }
        }
    }
}

/// Ends, and with it the service group, on SIGTERM or SIGINT.
struct StopService: Service {
    let signals: ServiceSignals

    func run() async throws {
        for await _ in signals.untilStop.cancelOnGracefulShutdown() {}
    }
}
