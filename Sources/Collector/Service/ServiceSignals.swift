// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import ServiceLifecycle
internal import Synchronization

/// SIGHUP, SIGTERM and SIGINT, from the first moment of the service on.
///
/// A SIGHUP during the start is kept until the service runs. A SIGTERM or SIGINT ends a start at once, which leaves the
/// ledger as a kill would, and stops a running service gracefully.
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

    /// Ignores SIGHUP, which would end the process, until ``take()``.
    package static func ignoreHangUps() {
        signal(SIGHUP, SIG_IGN)
    }

    /// Installs the signal handlers; called once in a process.
    package static func take() async -> ServiceSignals {
        let signals = ServiceSignals()
        await take(SIGHUP) { signals.hangUpContinuation.yield() }
        await take(SIGTERM) { signals.stop() }
        await take(SIGINT) { signals.stop() }
        return signals
    }

    /// Handles a signal on a queue of its own, since recovery occupies the threads of tasks; returns once the handler is installed.
    private static func take(_ number: Int32, _ body: @escaping @Sendable () -> Void) async {
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        await withCheckedContinuation { continuation in
            // The handler keeps the source for as long as the process lives.
            source.setEventHandler { withExtendedLifetime(source) { body() } }
            source.setRegistrationHandler { continuation.resume() }
            source.activate()
        }
    }

    private static let queue = DispatchQueue(label: "dnp-telemetry.signals")

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
