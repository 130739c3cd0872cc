// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import Collector
internal import CoreMetrics
public import EventLedger
import Foundation
public import Logging
internal import TelemetryEvents

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Events come as JSON or as device logs: over HTTP, from files that are followed through every rotation and \
            restart without losing or repeating a line, and from standard input until its end.

            The state directory defaults to $STATE_DIRECTORY, then $XDG_STATE_HOME/dnp-telemetry, then \
            ~/.local/state/dnp-telemetry. Stop the service with SIGTERM or Ctrl-C.

            EXAMPLES
              dnp-telemetry serve --listen 127.0.0.1:10910 --state-dir /var/lib/dnp-telemetry
              dnp-telemetry serve --follow /var/log/app/device.log --timezone Europe/Berlin
              adb logcat -v threadtime | dnp-telemetry serve --stdin

            EXIT STATUS
              0   stopped by SIGTERM or Ctrl-C
              1   it could not start, or it failed
              64  wrong usage
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

    @Option(help: ArgumentHelp("Path of the metrics.", valueName: "path"))
    var metricsPath = MetricsPath.default

    @Option(help: ArgumentHelp("Scrapes that are answered at once; more are refused.", valueName: "count"))
    var maxScrapes = 100

    @Flag(help: "Do not tell when counters and histograms began, in OpenMetrics (_created) and protobuf.")
    var noCreatedSamples = false

    @Option(help: ArgumentHelp("Follow a log file; may be given several times.", valueName: "file"))
    var follow: [String] = []

    @Flag(name: .customLong("stdin"), help: "Read log lines from standard input; the service goes on after its end.")
    var readsStandardInput = false

    @Flag(help: "Each followed file, and standard input, comes from one device: its lines need no installation id.")
    var singleDevice = false

    @Option(
        help: ArgumentHelp(
            "Zone of log lines whose stamps name none: Europe/Berlin, +02:00; the machine's by default.",
            valueName: "zone"
        )
    )
    var timezone: String?

    @Option(
        help: ArgumentHelp(
            "Form in which log lines are wrapped; told apart line by line by default.",
            discussion: "One of \(JudgementOptions.inputFormats.joined(separator: ", ")).",
            valueName: "form"
        ),
        completion: .list(JudgementOptions.inputFormats)
    )
    var inputFormat: String?

    @Option(name: .customLong("label"), help: LifecycleLabel.help)
    var labels: [LifecycleLabel] = []

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
        if let complaint = MetricsPath.complaint(about: metricsPath) {
            throw ValidationError("expected --metrics-path as \(complaint), found \"\(metricsPath)\"")
        }
        guard (1...10_000).contains(maxScrapes) else {
            throw ValidationError("expected --max-scrapes from 1 to 10000, found \(maxScrapes)")
        }
        do throws(UnknownOption) {
            _ = try JudgementOptions(inputFormat: inputFormat, timezone: timezone)
        } catch {
            throw ValidationError("\(error)")
        }
        let files = follow.map(absolutePath)
        for (index, file) in files.enumerated() {
            guard follow[index] != "-" else { throw ValidationError("--follow names a file; use --stdin for \"-\"") }
            guard !follow[index].isEmpty else { throw ValidationError("--follow names a file, found nothing") }
            guard !files[..<index].contains(file) else { throw ValidationError("--follow names \(file) twice") }
        }
    }

    func run() async throws {
        guard let address = ListenAddress(listen) else { return }
        let environment = ProcessInfo.processInfo.environment
        guard let directory = stateDir ?? StateDirectory.default(environment: environment) else {
            throw ValidationError("no state directory: set --state-dir, $STATE_DIRECTORY, $XDG_STATE_HOME or $HOME")
        }
        var configuration = ServeConfiguration(stateDirectory: directory)
        configuration.listeners = [Listener(.address(host: address.host, port: address.port))]
        configuration.journal = journal
        configuration.journalSocket = journalSocket
        configuration.durability = durability
        configuration.maximumBody = maxBody
        configuration.metricsPath = metricsPath
        configuration.maximumScrapes = maxScrapes
        configuration.createdSamples = !noCreatedSamples
        configuration.labels = labels
        configuration.followedFiles = follow.map(absolutePath)
        configuration.readsStandardInput = readsStandardInput
        configuration.sourcesAreDevices = singleDevice
        configuration.wrapper = inputFormat.flatMap { LogWrapper(rawValue: $0) }
        configuration.zone = try timezone.map { try ZoneOffsets(named: $0) } ?? .machine

        var log = Logger(label: "dnp-telemetry") { StreamLogHandler.standardError(label: $0) }
        log.logLevel = logLevel
        let isQuiet = quiet
        do {
            try await CollectorService.run(configuration, log: log, report: { MetricsSystem.bootstrap($0) }) { screen in
                if !isQuiet { FileHandle.standardError.write(Data(screen.description.utf8)) }
            }
        } catch {
            throw Failure("\(StartFailure.sentence(for: error, address: listen))")
        }
    }
}

/// A path from the root on, without `.` and `..`.
private func absolutePath(_ path: String) -> String {
    URL(fileURLWithPath: path).standardizedFileURL.path
}

extension ServeConfiguration.JournalMode: ExpressibleByArgument {}
extension LedgerDurability: ExpressibleByArgument {}
extension Logger.Level: @retroactive ExpressibleByArgument {}
