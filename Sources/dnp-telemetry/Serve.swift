// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CoreMetrics
import EventLedger
import Foundation
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
              dnp-telemetry serve --listen 127.0.0.1:10910 --state-dir ./telemetry
              dnp-telemetry serve --config /etc/dnp-telemetry/config.yml
              dnp-telemetry serve --listen '127.0.0.1:9100 serve=metrics' \\
                --listen 'unix:/tmp/dnp.sock mode=0660 serve=ingest'
              dnp-telemetry serve --follow ./device.log --timezone Europe/Berlin
              dnp-telemetry serve --credentials-dir ./tokens --token-limit ios=500/s \\
                --cors-origin capacitor://localhost
              dnp-telemetry serve --log-level warn --log-format logfmt
              adb logcat -v threadtime | dnp-telemetry serve --stdin

            EXIT STATUS
              0   stopped by SIGTERM or Ctrl-C
              1   it could not start, or it failed
              64  wrong usage
              78  the configuration is wrong, or the web configuration or a token
            """
    )

    // Debug builds of ArgumentParser check the options of a group once more for each level of groups.

    @Option(
        help: ArgumentHelp(
            "File of settings, each under the name of its option; without it $\(SettingsReader.fileVariable).",
            valueName: "file"
        ),
        completion: .file(extensions: ["yml", "yaml"])
    )
    var config: String?

    @OptionGroup(title: "Listening and access")
    var listening: ListeningOptions

    @OptionGroup(title: "Ledger and journal")
    var storage: StorageOptions

    @OptionGroup(title: "Log sources")
    var sources: SourceOptions

    @OptionGroup(title: "Other systems")
    var exports: ExportOptions

    @OptionGroup(title: "Limits")
    var limits: LimitOptions

    @OptionGroup(title: "Times")
    var times: TimeOptions

    @OptionGroup(title: "Metrics and log")
    var metricsAndLog: OutputOptions

    func validate() throws {
        if let problem = reader.optionProblems.first { throw ValidationError("\(problem)") }
    }

    func run() async throws {
        let signals = try ServiceSignals.take()
        let environment = ProcessInfo.processInfo.environment
        let reader = self.reader
        let configuration: ServeConfiguration
        do throws(ConfigurationProblems) {
            configuration = try reader.read()
        } catch {
            LogOutput(.text, environment: environment).fail(error.problems.map(\.description))
            throw ExitCode(EX_CONFIG)
        }
        let level = LiveLogHandler.Level(configuration.logLevel)
        let output = LogOutput(configuration.logFormat, environment: environment)
        let log = Logger(label: "dnp-telemetry") { _ in LiveLogHandler(output.handler(), level: level) }
        for problem in reader.variableWarnings { log.warning("\(problem)") }
        do {
            try await CollectorService.run(
                configuration,
                signals: signals,
                reread: { () throws(ConfigurationProblems) in try reader.read() },
                log: log,
                level: level,
                report: { MetricsSystem.bootstrap($0) }
            ) { screen in
                if configuration.isQuiet { return }
                if output.isForPeople {
                    FileHandle.standardError.write(Data(screen.description.utf8))
                } else {
                    log.notice("ready", metadata: screen.metadata)
                }
            }
        } catch let problem as ConfigurationProblem {
            output.fail(["\(problem)"])
            throw ExitCode(EX_CONFIG)
        } catch {
            output.fail([StartFailure.sentence(for: error)])
            throw ExitCode.failure
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
        let groups: [any SettingOptions] = [listening, storage, sources, exports, limits, times, metricsAndLog]
        var given: [String: [String]] = [:]
        for (name, texts) in groups.flatMap(\.given) { given[name] = texts }
        return given
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
