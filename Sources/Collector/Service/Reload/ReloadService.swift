// SPDX-License-Identifier: Apache-2.0

internal import ServiceLifecycle
internal import UnixSignals

/// Reads the configuration anew at each SIGHUP.
struct ReloadService: Service {
    let reloader: Reloader

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            _ = reloader.reload()
        }
    }
}
