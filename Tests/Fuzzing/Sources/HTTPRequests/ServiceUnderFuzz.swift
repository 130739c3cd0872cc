// SPDX-License-Identifier: Apache-2.0

import Collector
import Foundation
import Logging

/// The whole service of this process, on a Unix socket of its own and without a journal.
///
/// It is started once, so its ledger grows from input to input. What an input gives depends on that only in what counts as
/// a duplicate.
enum ServiceUnderFuzz {
    /// How long a start may take.
    private static let patience = DispatchTimeInterval.seconds(60)

    /// Where it listens, once it does.
    static let socket: String = {
        let directory = Scratch.directory
        let socket = directory.appending(path: "http.sock").path
        var configuration = ServeConfiguration(stateDirectory: directory.appending(path: "state").path)
        configuration.listeners = [Listener(.unix(path: socket, mode: nil, group: nil), services: [.ingest, .metrics])]
        configuration.journal = .off
        configuration.hasConsole = false
        configuration.maximumBody = 64 << 10
        configuration.maximumDecompressedBody = 256 << 10
        configuration.isQuiet = true
        start(configuration)
        return socket
    }()

    private static func start(_ configuration: ServeConfiguration) {
        let ready = DispatchSemaphore(value: 0)
        let log = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        Task.detached {
            do {
                try await CollectorService.run(
                    configuration,
                    signals: ServiceSignals.take(),
                    reread: { configuration },
                    log: log,
                    level: LiveLogHandler.Level(.critical)
                ) { _ in ready.signal() }
                fatalError("the service has stopped")
            } catch {
                fatalError("the service cannot run: \(error)")
            }
        }
        guard ready.wait(timeout: .now() + patience) == .success else { fatalError("the service does not start") }
    }
}
