// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What `send --format json` prints.
struct SentOutput: Decodable {
    struct Rejection: Decodable, Equatable {
        let place: String
        let reason: String
    }
    struct Lines: Decodable {
        let read: Int
        let recognised: Int
    }
    let ending: String
    let problem: String?
    let accepted: Int
    let duplicates: Int
    let rejected: Int
    let batches: Int
    let retries: Int
    let rejections: [Rejection]
    let lines: Lines

    init(_ command: Command) throws {
        self = try JSONDecoder().decode(Self.self, from: command.output)
    }

    init(_ process: ChildProcess) throws {
        self = try JSONDecoder().decode(Self.self, from: process.output)
    }
}

extension MetricsPage {
    /// The series of the fold.
    var folded: [Series: Double] {
        samples.filter { $0.key.name.hasPrefix("dnp_") && !$0.key.name.hasPrefix("dnp_telemetry_") }
    }

    /// The series of the fold that do not wait for the end of a cycle.
    var stages: [Series: Double] {
        let closing = [
            "dnp_prefetch_cycles_total", "dnp_prefetch_open_cycles", "dnp_prefetch_sequence_violations_total",
            "dnp_notification_delivered_total", "dnp_prefetch_fallback_cause_total",
        ]
        return folded.filter { sample in
            let name = sample.key.name
            return !closing.contains(name) && !["_bucket", "_sum", "_count"].contains { name.hasSuffix($0) }
        }
    }

    /// The series that are not the same, in words.
    func differences(from other: MetricsPage, _ part: KeyPath<MetricsPage, [Series: Double]>) -> [String] {
        let (mine, others) = (self[keyPath: part], other[keyPath: part])
        return Set(mine.keys).union(others.keys).filter { mine[$0] != others[$0] }.map { series in
            "\(series.name)\(series.labels) is \(mine[series] ?? -1) and not \(others[series] ?? -1)"
        }
        .sorted()
    }
}

@Suite("send")
struct SendTests {
    private static let zone = ["--timezone", "UTC"]

    private func replayed(_ path: String) async throws -> MetricsPage {
        let command = try await Command.telemetry("replay", path, "--timezone", "UTC")
        #expect(command.status == .code(0))
        return MetricsPage(command.text)
    }

    @Test("send counts a sample as replay does, and sending it again counts nothing", arguments: Sample.all)
    func sendSamples(sample: Sample) async throws {
        let expected = try await replayed(sample.path)
        try await withService(options: Self.zone) { service in
            let client = await service.client
            let url = "http://127.0.0.1:\(client.port)"
            let first = try await Command.telemetry("send", sample.path, "--to", url)
            #expect(first.status == .code(0))
            #expect(first.error == "")
            #expect(first.text.hasSuffix(" 0 rejected\n"))
            let page = try await client.metrics()
            #expect(page.differences(from: expected, \.stages) == [])
            #expect(page.ingestBalance == 0)
            let again = try await SentOutput(
                Command.telemetry("send", sample.path, "--to", url, "--format", "json", "--uncompressed")
            )
            #expect(again.accepted == 0 && again.duplicates > 0 && again.rejected == 0)
            // A clock more than a day behind the last row of the ledger would be doubted.
            for hours in [20, 40] {
                let open = try await client.metrics().value("dnp_prefetch_open_cycles") ?? 0
                guard open > 0 else { continue }
                await service.kill()
                try await withTemporaryDirectory { directory in
                    await service.run(by: try ShiftedClock(seconds: hours * 3_600, in: directory))
                    try await service.start()
                    try await eventually("more cycles are closed") {
                        try await client.metrics().value("dnp_prefetch_open_cycles") ?? open < open
                    }
                }
            }
            #expect(try await client.metrics().value("dnp_prefetch_open_cycles") == 0)
            #expect(try await client.metrics().differences(from: expected, \.folded) == [])
        }
    }

    @Test(
        "send counts a live log as replay does while its writer holds it open",
        arguments: ["happy-logcat-threadtime.log", "happy-stamped.log", "happy-oslog.ndjson", "auth-failure.log"]
    )
    func sendLive(name: String) async throws {
        let path = Sample.path("logs/\(name)")
        let expected = try await replayed(path)
        try await withService(options: Self.zone) { service in
            let client = await service.client
            let url = "http://127.0.0.1:\(client.port)"
            try await withTemporaryDirectory { directory in
                let process = try ChildProcess(
                    [
                        try Service.binary(), "send", "-", "--to", url, "--timezone", "UTC", "--format", "json",
                        "--installation", "phone",
                    ],
                    logs: directory,
                    name: "send"
                )
                try await process.write(contents(of: path))
                try await eventually("what is written is counted while the pipe is open") {
                    try await client.metrics().differences(from: expected, \.stages) == []
                }
                #expect(process.output == Data())
                try await process.closeInput()
                #expect(try await process.waitForExit() == .code(0))
                let sent = try SentOutput(process)
                #expect(sent.ending == "complete" && sent.rejected == 0)
                // A stamp without a year is of this one while a log is live.
                guard !name.contains("logcat") else { return }
                let whole = try await SentOutput(
                    Command.telemetry("send", path, "--to", url, "--format", "json", "--installation", "phone")
                )
                #expect(whole.accepted == 0, "the whole log is known by its events")
            }
        }
    }

    @Test("Ctrl-C ends the live input of send, and what it has read is counted")
    func sendInterrupted() async throws {
        try await withService { service in
            let client = await service.client
            let batch = EventFactory(prefix: "live").cycles(0..<10)
            try await withTemporaryDirectory { directory in
                let process = try ChildProcess(
                    [
                        try Service.binary(), "send", "-", "--to", "http://127.0.0.1:\(client.port)", "--format",
                        "json",
                    ],
                    logs: directory,
                    name: "send"
                )
                try await process.write(Data(batch.ndjson))
                try await eventually("the events are counted") {
                    try await client.metrics().lifecycle == batch.totals.series
                }
                await process.signal(SIGINT)
                #expect(try await process.waitForExit() == .code(130))
                let sent = try SentOutput(process)
                #expect(sent.ending == "interrupted" && sent.accepted == batch.count)
            }
        }
    }

    @Test("send names rejected events by their lines in the file")
    func sendRejected() async throws {
        try await withService { service in
            let port = await service.client.port
            let input = """
                {"event":"prefetch_executed","timestamp":"2025-11-15T05:50:00Z","scheduleId":"a"}

                {"event":"nonsense"}
                {"event":"prefetch_success","timestamp":"2019-11-15T05:50:00Z","scheduleId":"a"}

                """
            let url = "http://127.0.0.1:\(port)/"
            let text = try await Command.run([Service.binary(), "send", "-", "--to", url], input: input)
            #expect(text.status == .code(1))
            let lines = text.text.split(separator: "\n")
            #expect(lines.first == "1 accepted, 0 duplicate, 2 rejected")
            #expect(lines.dropFirst().map { $0.prefix(9) } == ["  line 3:", "  line 4:"])
            let document = try await Command.run(
                [Service.binary(), "send", "-", "--to", url, "--format", "json"],
                input: "[{\"event\":\"nonsense\"},\n{}]"
            )
            #expect(document.status == .code(1))
            let sent = try SentOutput(document)
            #expect(sent.rejections.map(\.place) == ["event 1", "event 2"])
        }
    }

    @Test("send accepts an empty input")
    func sendEmpty() async throws {
        let nobody = "http://127.0.0.1:\(try FreePort.any())"
        let command = try await Command.run([Service.binary(), "send", "-", "--to", nobody], input: "\n \n")
        #expect(command.status == .code(0))
        #expect(command.text == "0 accepted, 0 duplicate, 0 rejected\n")
    }

    @Test("send ends with 2 for unreadable input, 3 for a missing collector, 64 for wrong usage")
    func sendStatuses() async throws {
        let nobody = "http://127.0.0.1:\(try FreePort.any())"
        let missing = try await Command.telemetry("send", "/nonexistent/log", "--to", nobody)
        #expect(missing.status == .code(2))
        #expect(missing.error.contains("/nonexistent/log: there is no such file"))
        let sample = Sample.path("events/full-cycle.ndjson")
        let refused = try await Command.telemetry("send", sample, "--to", nobody, "--retry-for", "0s")
        #expect(refused.status == .code(3))
        #expect(refused.error == "Error: \(nobody)/v1/events: connection refused\n")
        for wrong in [
            ["--to", "nowhere"], [], ["--to", nobody, "--retry-for", "5"], ["--to", nobody, "--cert", "x"],
        ] {
            let command = try await Command.run([Service.binary(), "send", sample] + wrong)
            #expect(command.status == .code(64), "\(wrong)")
        }
        let noFile = try await Command.telemetry(
            "send",
            sample,
            "--to",
            nobody,
            "--token-file",
            "/nonexistent/token"
        )
        #expect(noFile.status == .code(64))
        #expect(noFile.error.contains("/nonexistent/token"))
    }

    @Test("send says what it found at a path that is no socket of HTTP, and serve what file it waits for")
    func whatIsThere() async throws {
        try await withTemporaryDirectory { directory in
            try Files.write([], to: "\(directory)/file")
            let lines = "\(directory)/lines.sock"
            let options = ["--listen", "unix:\(lines) serve=lines", "--follow", "\(directory)/later.log"]
            try await withService(options: options) { service in
                let log = await service.log
                #expect(
                    log.contains(
                        "notice: a followed file is not there yet; waiting for it file=\(directory)/later.log\n"
                    )
                )
                #expect(log.contains("  follow   \(directory)/later.log (not there yet; it is waited for)\n"))
                for (path, problem) in [
                    (lines, "a line socket answers there, which takes lines and no HTTP; name the socket of HTTP"),
                    ("\(directory)/file", "it is a file and no socket"),
                    (directory, "it is a directory and no socket; name a socket in it"),
                    ("\(directory)/no.sock", "there is no such socket; does the service listen there?"),
                    ("\(directory)/no/no.sock", "there is no such socket, and no directory \(directory)/no"),
                ] {
                    let sample = Sample.path("events/full-cycle.ndjson")
                    let retry = path.hasSuffix("no.sock") ? "0s" : "1h"
                    let command = try await Command.telemetry(
                        "send",
                        sample,
                        "--to",
                        "unix:\(path)",
                        "--retry-for",
                        retry
                    )
                    #expect(command.status == .code(3), "\(path)")
                    #expect(command.error.contains(": \(problem)"), "\(command.error)")
                }
            }
        }
    }

    @Test("send does not fail when the reader of its result goes away")
    func sendBrokenPipe() async throws {
        try await withService { service in
            let port = await service.client.port
            let sample = Sample.path("events/full-cycle.ndjson")
            let script = "\"$0\" send \"$1\" --to http://127.0.0.1:\(port) | true; exit ${PIPESTATUS[0]}"
            let command = try await Command.run(["/bin/bash", "-c", script, Service.binary(), sample])
            #expect(command.status == .code(0))
            #expect(command.error == "")
        }
    }
}
