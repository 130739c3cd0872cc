// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Collector
public import EventLedger
import Foundation
public import Logging

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Example:
              dnp-telemetry serve --listen 127.0.0.1:10910 --state-dir /var/lib/dnp-telemetry

            The state directory defaults to $STATE_DIRECTORY, then $XDG_STATE_HOME/dnp-telemetry, then \
            ~/.local/state/dnp-telemetry. Stop the service with SIGTERM or Ctrl-C.
            """
    )

    @Option(help: ArgumentHelp("Address and port to listen on; port 0 takes a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:10910"

    @Option(help: ArgumentHelp("Directory of the ledger and the key.", valueName: "dir"))
    var stateDir: String?

    @Option(help: "Where events go besides the ledger: journald, stdout or off.")
    var journal = ServeConfiguration.JournalMode.journald

    @Option(help: ArgumentHelp("journald's socket.", valueName: "path"))
    var journalSocket = "/run/systemd/journal/socket"

    @Option(help: "What is acknowledged survives: process (a kill of the service) or power (a loss of power).")
    var durability = LedgerDurability.process

    @Option(help: ArgumentHelp("Largest body of a request, as sent.", valueName: "bytes"))
    var maxBody = 32 << 20

    @Option(help: "Lowest level of the service's own log: trace, debug, info, notice, warning, error or critical.")
    var logLevel = Logger.Level.notice

    @Flag(help: "Print no start screen.")
    var quiet = false

    func validate() throws {
        guard ListenAddress(listen) != nil else {
            throw ValidationError("expected --listen as host:port such as 127.0.0.1:10910, found \"\(listen)\"")
        }
        guard (1...64 << 20).contains(maxBody) else {
            throw ValidationError("expected --max-body from 1 to 67108864 bytes, found \(maxBody)")
        }
    }

    func run() async throws {
        guard let address = ListenAddress(listen) else { return }
        let environment = ProcessInfo.processInfo.environment
        guard let directory = stateDir ?? StateDirectory.default(environment: environment) else {
            throw ValidationError("no state directory: set --state-dir, $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        var configuration = ServeConfiguration(stateDirectory: directory)
        configuration.host = address.host
        configuration.port = address.port
        configuration.journal = journal
        configuration.journalSocket = journalSocket
        configuration.durability = durability
        configuration.maximumBody = maxBody

        var log = Logger(label: "dnp-telemetry") { StreamLogHandler.standardError(label: $0) }
        log.logLevel = logLevel
        let isQuiet = quiet
        do {
            try await CollectorService.run(configuration, log: log) { screen in
                if !isQuiet { FileHandle.standardError.write(Data(screen.description.utf8)) }
            }
        } catch {
            throw Failure("\(StartFailure.sentence(for: error, address: listen))")
        }
    }
}

extension ServeConfiguration.JournalMode: ExpressibleByArgument {}
extension LedgerDurability: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
