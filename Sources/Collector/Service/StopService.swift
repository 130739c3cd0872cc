// SPDX-License-Identifier: Apache-2.0

internal import ServiceLifecycle

/// Returns, and so ends the services, when the process is told to stop.
struct StopService: Service {
    let signals: ServiceSignals

    func run() async throws {
        for await _ in signals.untilStop.cancelOnGracefulShutdown() {}
    }
}
