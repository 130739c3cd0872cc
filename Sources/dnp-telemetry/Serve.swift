// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CoreMetrics
import EventLedger
import Foundation
import LogInput
import Logging

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Events come as JSON or as device logs: over HTTP, from files that are followed through every rotation and \
            restart without losing or repeating a line, and from standard input until its end.

            Every option is also a key of the file that --config names, and a variable of the environment: --max-body is \
            max-body and DNP_TELEMETRY_MAX_BODY. Options beat the environment, which beats the file. SIGHUP reads the file \
            again and applies the hot-reloadable settings; check-config lists its problems. Sizes are written as 32MiB, \
            times as 10s, rates as 500/s.

            The state directory defaults to $STATE_DIRECTORY, then $XDG_STATE_HOME/dnp-telemetry, then \
            ~/.local/state/dnp-telemetry. Stop the service with SIGTERM or Ctrl-C.

            EXAMPLES
              dnp-telemetry serve --listen 127.0.0.1:10910 --state-dir /var/lib/dnp-telemetry
              dnp-telemetry serve --config /etc/dnp-telemetry/config.yml
              dnp-telemetry serve --listen 'unix:/run/dnp.sock mode=0660 serve=ingest' --listen ':9100 serve=metrics'
              dnp-telemetry serve --follow /var/log/app/device.log --timezone Europe/Berlin
              adb logcat -v threadtime | dnp-telemetry serve --stdin

            EXIT STATUS
              0   stopped by SIGTERM or Ctrl-C
              1   it could not start, or it failed
              64  wrong usage
              78  the configuration is wrong, or the web configuration or a token
            """
    )

    // Every setting under its own name. In an option group, debug builds of ArgumentParser would check each of them four
    // times as often, which is half of the processor time of a start.

    @Option(
        help: ArgumentHelp(
            "File of settings, each under the name of its option; without it $\(SettingsReader.fileVariable).",
            valueName: "file"
        ),
        completion: .file(extensions: ["yml", "yaml"])
    )
    var config: String?

    @Option(help: .setting("listen"))
    var listen: [String] = []

    @Option(help: .setting("metrics-path"))
    var metricsPath: String?

    @Option(help: .setting("web-config"), completion: .file())
    var webConfig: String?

    @Option(help: .setting("credentials-dir"), completion: .directory)
    var credentialsDir: String?

    @Flag(inversion: .prefixedNo, help: .setting("reload-endpoint"))
    var reloadEndpoint: Bool?

    @Option(help: .setting("state-dir"), completion: .directory)
    var stateDir: String?

    @Option(help: .setting("durability"), completion: .list(["process", "power"]))
    var durability: String?

    @Option(help: .setting("retention"))
    var retention: String?

    @Option(help: .setting("journal"), completion: .list(["journald", "stdout", "off"]))
    var journal: String?

    @Option(help: .setting("journal-socket"))
    var journalSocket: String?

    @Option(help: .setting("follow"), completion: .file())
    var follow: [String] = []

    @Option(help: .setting("follow-journal"))
    var followJournal: [String] = []

    @Option(help: .setting("follow-journal-device"))
    var followJournalDevice: String?

    @Flag(inversion: .prefixedNo, help: .setting("stdin"))
    var stdin: Bool?

    @Flag(inversion: .prefixedNo, help: .setting("single-device"))
    var singleDevice: Bool?

    @Option(help: .setting("timezone"))
    var timezone: String?

    @Option(help: .setting("input-format"), completion: .list(LineFormat.names))
    var inputFormat: String?

    @Option(help: .setting("max-body"))
    var maxBody: String?

    @Option(help: .setting("max-decompressed-body"))
    var maxDecompressedBody: String?

    @Option(help: .setting("max-compression-ratio"))
    var maxCompressionRatio: String?

    @Option(help: .setting("max-bytes-in-flight"))
    var maxBytesInFlight: String?

    @Option(help: .setting("max-backlog"))
    var maxBacklog: String?

    @Option(help: .setting("max-connections"))
    var maxConnections: String?

    @Option(help: .setting("max-connections-per-client"))
    var maxConnectionsPerClient: String?

    @Option(help: .setting("max-scrapes"))
    var maxScrapes: String?

    @Option(help: .setting("client-rate"))
    var clientRate: String?

    @Option(help: .setting("token-limit"))
    var tokenLimit: [String] = []

    @Option(help: .setting("header-timeout"))
    var headerTimeout: String?

    @Option(help: .setting("body-timeout"))
    var bodyTimeout: String?

    @Option(help: .setting("response-timeout"))
    var responseTimeout: String?

    @Option(help: .setting("idle-timeout"))
    var idleTimeout: String?

    @Option(help: .setting("min-transfer-rate"))
    var minTransferRate: String?

    @Option(help: .setting("transfer-grace"))
    var transferGrace: String?

    @Option(help: .setting("max-commit-time"))
    var maxCommitTime: String?

    @Option(help: .setting("label"), completion: .list(["platform", "app_version"]))
    var label: [String] = []

    @Flag(inversion: .prefixedNo, help: .setting("created-samples"))
    var createdSamples: Bool?

    @Option(
        help: .setting("log-level"),
        completion: .list(["trace", "debug", "info", "notice", "warning", "error", "critical"])
    )
    var logLevel: String?

    @Flag(inversion: .prefixedNo, help: .setting("quiet"))
    var quiet: Bool?

    func validate() throws {
        if let problem = reader.optionProblems.first { throw ValidationError("\(problem)") }
    }

    func run() async throws {
        let signals = try ServiceSignals.take()
        let reader = self.reader
        let configuration: ServeConfiguration
        do throws(ConfigurationProblems) {
            configuration = try reader.read()
        } catch {
            Terminal.say("Error: \(error.problems.map(\.description).joined(separator: "\n       "))")
            throw ExitCode(EX_CONFIG)
        }
        let level = LiveLogHandler.Level(configuration.logLevel)
        let log = Logger(label: "dnp-telemetry") {
            LiveLogHandler(StreamLogHandler.standardError(label: $0), level: level)
        }
        for problem in reader.unknownVariables { log.warning("\(problem)") }
        do {
            try await CollectorService.run(
                configuration,
                signals: signals,
                reread: { () throws(ConfigurationProblems) in try reader.read() },
                log: log,
                level: level,
                report: { MetricsSystem.bootstrap($0) }
            ) { screen in
                if !configuration.isQuiet { FileHandle.standardError.write(Data(screen.description.utf8)) }
            }
        } catch let problem as ConfigurationProblem {
            Terminal.say("Error: \(problem)")
            throw ExitCode(EX_CONFIG)
        } catch {
            throw Failure("\(StartFailure.sentence(for: error))")
        }
    }

    /// How the settings are read, now and again at each reload.
    private var reader: SettingsReader {
        let named = environment[SettingsReader.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        return SettingsReader(options: given, environment: environment, file: config ?? named)
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// The settings given as options.
    private var given: [String: [String]] {
        var given: [String: [String]] = [:]
        let values: [(String, String?)] = [
            ("metrics-path", metricsPath),
            ("web-config", webConfig),
            ("credentials-dir", credentialsDir),
            ("state-dir", stateDir),
            ("durability", durability),
            ("retention", retention),
            ("journal", journal),
            ("journal-socket", journalSocket),
            ("timezone", timezone),
            ("input-format", inputFormat),
            ("max-body", maxBody),
            ("max-decompressed-body", maxDecompressedBody),
            ("max-compression-ratio", maxCompressionRatio),
            ("max-bytes-in-flight", maxBytesInFlight),
            ("max-backlog", maxBacklog),
            ("max-connections", maxConnections),
            ("max-connections-per-client", maxConnectionsPerClient),
            ("max-scrapes", maxScrapes),
            ("client-rate", clientRate),
            ("header-timeout", headerTimeout),
            ("body-timeout", bodyTimeout),
            ("response-timeout", responseTimeout),
            ("idle-timeout", idleTimeout),
            ("min-transfer-rate", minTransferRate),
            ("transfer-grace", transferGrace),
            ("max-commit-time", maxCommitTime),
            ("log-level", logLevel),
            ("follow-journal-device", followJournalDevice),
        ]
        let lists: [(String, [String])] = [
            ("listen", listen),
            ("follow", follow),
            ("follow-journal", followJournal),
            ("token-limit", tokenLimit),
            ("label", label),
        ]
        let flags: [(String, Bool?)] = [
            ("reload-endpoint", reloadEndpoint),
            ("stdin", stdin),
            ("single-device", singleDevice),
            ("created-samples", createdSamples),
            ("quiet", quiet),
        ]
        for (name, value) in values { given[name] = value.map { [$0] } }
        for (name, values) in lists where !values.isEmpty { given[name] = values }
        for (name, flag) in flags { given[name] = flag.map { ["\($0)"] } }
        return given
    }
}

/// An error for the operator: printed after `Error: `, without usage.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The message of an error at the start.
enum StartFailure {
    static func sentence(for error: any Error) -> String {
        if case .full(let detail)? = error as? LedgerError {
            return "no space left for the ledger (\(detail)): free some space and start it again"
        }
        return "\(error)"
    }
}

extension ArgumentHelp {
    /// The help of a setting, with its default.
    fileprivate static func setting(_ name: String) -> ArgumentHelp {
        guard let setting = Settings.byName[name] else { return "" }
        let standard = setting.standard.isEmpty || setting.form == .flag ? "" : " (default: \(setting.standard))"
        return ArgumentHelp("\(setting.help)\(standard)", valueName: setting.placeholder)
    }
}
