// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Collector
import CollectorClient
internal import Foundation
internal import Glibc
import LogInput
internal import TextOutput

struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ship events to a collector, with retries.",
        discussion: """
            Sends device logs or events as JSON (detected as validate does, plain or gzip) to a collector's \
            /v1/events, batch by batch, and prints the result. Each batch is sent until the collector has it on \
            disk; a batch, or the whole input, that is sent again counts nothing twice. At most three batches \
            are read ahead of what is acknowledged, so memory does not grow with the input.

            When the collector refuses the connection, does not answer in time, or answers 408, 425, 429 or 5xx, the batch \
            is retried for --retry-for, after a random and growing pause of at least its Retry-After. Any other refusal \
            ends the run. Secrets come from files only; without --token-file the credential token of \
            $CREDENTIALS_DIRECTORY is taken where there is one.

            A live input is sent at least every second. Ctrl-C ends the input, and what was read until then is sent.

            EXAMPLES
              dnp-telemetry send device.log --to http://127.0.0.1:10910
              adb logcat -v threadtime \\
                | dnp-telemetry send - --to unix:/run/dnp-telemetry/http.sock
              dnp-telemetry send events.ndjson.gz --token-file token \\
                --to https://telemetry.example.org
              dnp-telemetry send run.json --to https://10.0.0.5 \\
                --ca ca.pem --cert client.pem --key client.key

            EXIT STATUS
              0   every event is stored now, or was before
              1   some events were rejected
              2   the input cannot be read, or the output cannot be written
              3   the collector was not reached in time, or refuses
              64  wrong usage
              130  ended by Ctrl-C
            """
    )

    @Argument(help: ArgumentHelp("The file to send; - is standard input.", valueName: "file"), completion: .file())
    var input: String

    @Option(
        help: ArgumentHelp(
            "The collector: http://host:port, https://host, unix:/path/of/socket, or https+unix:/path/of/socket; /v1/events where no path is named.",
            valueName: "url"
        )
    )
    var to: String

    @Option(help: "Form of the result: text or json (one object).")
    var format = ResultFormat.text

    @Option(
        help: ArgumentHelp("How long a batch is tried: 30s, 5m, 2h; 0s tries once.", valueName: "duration")
    )
    var retryFor = TimeSpan(.seconds(300))

    @Option(help: ArgumentHelp("How long one request may take, its answer included.", valueName: "duration"))
    var timeout = TimeSpan(.seconds(30))

    @Flag(help: "Send bodies as they are, without gzip.")
    var uncompressed = false

    @Option(
        help: ArgumentHelp(
            "Installation of the events that name none; without it each file on each host is a device of its own.",
            valueName: "id"
        )
    )
    var installation: String?

    @Option(
        help: ArgumentHelp(
            "Header of every request, name: value, such as the one that a proxy chooses by; may be repeated.",
            valueName: "header"
        )
    )
    var header: [String] = []

    @OptionGroup(title: "Access")
    var access: AccessOptions

    @OptionGroup(title: "Input")
    var reading: InputOptions

    func validate() throws {
        _ = try url()
        _ = try headers()
        _ = try device()
        guard timeout.duration >= .milliseconds(1) else { throw ValidationError("expected --timeout above 0s") }
    }

    private func url() throws -> CollectorURL {
        do throws(InvalidOption) {
            return try CollectorURL(to)
        } catch {
            throw ValidationError("--to: \(error)")
        }
    }

    private func headers() throws -> [SendHeader] {
        do throws(InvalidOption) {
            return try SendHeader.all(header)
        } catch {
            throw ValidationError("--header: \(error)")
        }
    }

    private func device() throws -> SendInstallation? {
        do throws(InvalidOption) {
            return try installation.map { id throws(InvalidOption) in try SendInstallation(id) }
        } catch {
            throw ValidationError("--installation: \(error)")
        }
    }

    func run() async throws {
        var options = SendOptions(to: try url(), reading: try reading.lineFormat())
        options.access = access.access
        options.credentials = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        options.compresses = !uncompressed
        options.headers = try headers()
        options.installation = try device()
        options.retryFor = retryFor.duration
        options.timeout = timeout.duration
        if input == "-", !reading.quiet, Terminal.isTerminal(Terminal.input) {
            Terminal.say("reading from the terminal; Ctrl-D ends the input")
        }
        let run: SendRun
        do throws(InvalidOption) {
            run = try SendRun(options, interruption: Interruption())
        } catch {
            Terminal.say("Error: \(error)")
            throw ExitCode(EX_USAGE)
        }
        let isQuiet = reading.quiet
        if run.tellsSecretInClear, !isQuiet { Terminal.say("the secret goes over the network in clear; use https://") }
        let line = ProgressLine(isShown: !isQuiet && Terminal.isTerminal(Terminal.error))
        let result = await run.send(input) { notice in
            guard !isQuiet else { return }
            line.clear()
            Terminal.say(notice)
        } progress: {
            line.show($0)
        }
        line.clear()
        try say(result)
        let status = Self.status(of: result)
        if status != 0 { throw ExitCode(status) }
    }

    private func say(_ result: SendResult) throws {
        if let problem = result.ending.problem {
            Terminal.say("Error: \(problem)")
            if result.batches > 0 {
                Terminal.say("what was sent until then is stored; send it again, nothing counts twice")
            }
        }
        try Terminal.print(format == .json ? result.json() : Array(result.text(quiet: reading.quiet).utf8))
        guard !reading.quiet else { return }
        for note in result.notes { Terminal.say("the collector notes: \(PlainText.line(note))") }
        switch result.unrecognisedLines {
        case 0: break
        case 1: Terminal.say("1 line was not recognised; validate --explain lists it")
        case let lines: Terminal.say("\(lines) lines were not recognised; validate --explain lists them")
        }
    }

    private static func status(of result: SendResult) -> Int32 {
        switch result.ending {
        case .interrupted: 130
        case .unreadable: 2
        case .unreachable, .refused: 3
        case .complete: result.rejected > 0 ? 1 : 0
        }
    }
}
