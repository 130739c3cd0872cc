// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import ServiceLifecycle
internal import Synchronization

/// SIGHUP, SIGTERM and SIGINT, from the first moment of the service on.
///
/// A SIGHUP that comes while the service starts is kept until it runs. A SIGTERM or SIGINT ends a start at once, which
/// leaves the ledger as a kill would, and a running service in order.
package final class ServiceSignals: Sendable {
    private enum Phase {
        case starting(abandon: @Sendable () -> Void)
        case running
    }

    /// One element for all that came since the last was taken.
    let hangUps: AsyncStream<Void>
    /// Ends with the first SIGTERM or SIGINT of a running service.
    let untilStop: AsyncStream<Void>

    private let phase = Mutex(Phase.starting(abandon: {}))
    private let toldHangUp: AsyncStream<Void>.Continuation
    private let toldStop: AsyncStream<Void>.Continuation

    private init() {
        (hangUps, toldHangUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (untilStop, toldStop) = AsyncStream.makeStream()
    }

    /// Lets no SIGHUP end the process, until ``take()`` takes it.
    package static func ignoreHangUps() {
        signal(SIGHUP, SIG_IGN)
    }

    /// Takes the signals over, to be called once in a process.
    package static func take() async -> ServiceSignals {
        let signals = ServiceSignals()
        await take(SIGHUP) { signals.toldHangUp.yield() }
        await take(SIGTERM) { signals.stop() }
        await take(SIGINT) { signals.stop() }
        return signals
    }

    /// On a thread of its own, since a start keeps those of tasks at work; returns once the signal is taken.
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

    /// Tells what a stop has to take away as long as the service starts.
    func starting(abandon: @escaping @Sendable () -> Void) {
        phase.withLock { $0 = .starting(abandon: abandon) }
    }

    /// From now on the service stops in order.
    func started() {
        phase.withLock { $0 = .running }
    }

    private func stop() {
        phase.withLock { phase in
            switch phase {
            case .starting(let abandon):
                abandon()
                // Other threads are at work on the ledger, so nothing is torn down under them.
                _exit(0)
            case .running:
                toldStop.finish()
            }
        }
    }
}

/// Returns, and so ends the services, when the process is told to stop.
struct StopService: Service {
    let signals: ServiceSignals

    func run() async throws {
        for await _ in signals.untilStop.cancelOnGracefulShutdown() {}
    }
}
