// SPDX-License-Identifier: Apache-2.0

internal import ServiceLifecycle

/// Reads the configuration anew after a SIGHUP, also one that came while the service started.
struct ReloadService: Service {
    let reloader: Reloader
    let signals: ServiceSignals

    func run() async throws {
        for await _ in signals.hangUps.cancelOnGracefulShutdown() {
            _ = reloader.reload()
        }
    }
}
