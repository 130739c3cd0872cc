// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport
import Testing

/// How a fleet gets to a service.
enum FleetWay: String, CaseIterable, Sendable {
    case http, lines, send, followed
}

@Suite("simulate --to")
struct SimulateSendTests {
    private static let devices = [
        "--devices", "80", "--days", "8", "--scenario", "everyday,everyday,refresh-everyday", "--seed", "32",
        "--faults",
    ]
    private static let plan = devices + ["random"]
    private static let requestFaults = "loss-before=0.3,loss-after=0.3,split=0.3,duplicate-request=0.3"

    private func simulate(_ options: [String]) async throws -> Command {
        try await Command.telemetry(["simulate"] + options)
    }

    /// Restarts the service by a clock an hour later, which closes every cycle and run of days past.
    private func close(_ service: Service, in directory: String) async throws {
        await service.kill()
        await service.run(by: try ShiftedClock(seconds: 3_600, in: directory))
        try await service.start()
        let client = await service.client
        try await eventually("the cycles and runs are closed") {
            let page = try await client.metrics()
            return ["dnp_prefetch_open_cycles", "aiq_background_refresh_open_runs"].allSatisfy { page.value($0) == 0 }
        }
    }

    private func deliver(_ way: FleetWay, to service: Service, lines: String, followed: String) async throws {
        let url = await "http://127.0.0.1:\(service.client.port)"
        switch way {
        case .http:
            let plan = Self.devices + ["random,\(Self.requestFaults)"]
            let sent = try await simulate(plan + ["--to", url, "--verify", url])
            #expect(sent.status == .code(0), "\(sent.text)\(sent.error)")
            let words = try #require(sent.text.split(separator: "\n").first { $0.hasPrefix("answers: ") })
            #expect(words.contains(" of 200, ") && words.hasSuffix(" lost on purpose"), "\(sent.text)")
            #expect(sent.text.contains("latency from the due time: p50 "))
            let again = try await simulate(plan + ["--to", url, "--quiet"])
            #expect(again.text.hasPrefix("0 accepted, ") && again.error.isEmpty, "\(again.text)\(again.error)")
        case .lines:
            _ = try await LinesClient.sent(Array(simulate(Self.plan).output), to: lines)
        case .send:
            let fleet = lines + ".ndjson"
            #expect(try await simulate(Self.plan + ["--out", fleet]).status == .code(0))
            #expect(try await Command.telemetry("send", fleet, "--to", url).status == .code(0))
        case .followed:
            #expect(try await simulate(Self.plan + ["--out", followed]).status == .code(0))
        }
    }

    @Test(
        "a fleet with every fault is counted and judged as its truth says, whatever way it takes",
        arguments: FleetWay.allCases
    )
    func everyWay(way: FleetWay) async throws {
        try await withTemporaryDirectory { directory in
            let (lines, followed) = ("\(directory)/lines.sock", "\(directory)/fleet.log")
            let options = ["--listen", "unix:\(lines) serve=lines", "--follow", followed]
            try await withService(options: options) { service in
                let url = await "http://127.0.0.1:\(service.client.port)"
                try await deliver(way, to: service, lines: lines, followed: followed)
                try await eventually("what was sent is counted") {
                    try await simulate(Self.plan + ["--verify", url]).status == .code(0)
                }
                let open = try await simulate(Self.plan + ["--verify", url, "--verify-within", "1ms"])
                #expect(open.status == .code(1) && open.text.hasSuffix(" cycles and runs are still open\n"))
                try await close(service, in: directory)
                let state = await service.settings.stateDirectory
                let judged = try await simulate(
                    Self.plan + ["--verify", url, "--verify-within", "30s", "--verify-ledger", state]
                )
                #expect(judged.status == .code(0), "\(judged.text)\(judged.error)")
                #expect(judged.text.contains("equal: the ledger: ") && !judged.error.contains("open"))
                let ledger = try await Command.telemetry("ledger", "verify", "--state-dir", state)
                #expect(ledger.status == .code(0), "\(ledger.text)\(ledger.error)")
            }
        }
    }

    @Test("a collector that loses one acknowledged batch is found, with the first series that differs")
    func plantedFault() async throws {
        // A fleet whose requests are repeated would make up for it.
        let plan = ["--devices", "80", "--days", "8", "--seed", "31", "--faults", "duplicate=0.1,zone=0.05"]
        try await withService { service in
            let client = await service.client
            try await LossyProxy.with(client, losing: 7) { proxy, port in
                let sent = try await simulate(
                    plan + [
                        "--to", "http://127.0.0.1:\(port)", "--verify", "http://127.0.0.1:\(client.port)",
                        "--verify-within", "1s",
                    ]
                )
                #expect(sent.status == .code(1))
                #expect(sent.text.contains("\ndifferent, seed 31: dnp_prefetch_"), "\(sent.text)\(sent.error)")
                #expect(sent.text.contains(": expected ") && sent.text.contains(", found "))
                #expect(proxy.lost == 1)
                let ledger = try await simulate(plan + ["--verify-ledger", service.settings.stateDirectory])
                #expect(ledger.status == .code(1))
                #expect(ledger.text.hasPrefix("different, seed 31: the ledger: dnp_prefetch_"), "\(ledger.text)")
                let nothing = try await simulate(plan + ["--verify-ledger", "/nowhere"])
                #expect(nothing.status == .code(2) && nothing.error.contains("Error: seed 31: "), "\(nothing.error)")
            }
        }
    }

    @Test(
        "a collector that refuses is told in words with status 1, and nothing more is sent",
        arguments: [
            (401, "HTTP 401: it wants --token-file, --basic-auth-file or --cert"), (403, "HTTP 403"),
            (404, "HTTP 404: there is no collector at this path"), (422, "HTTP 422"), (307, "it points elsewhere"),
            (200, "its answer is no collector's"),
        ]
    )
    func refused(status: Int, words: String) async throws {
        try await FakeCollector.with { _ in
            FakeCollector.answer(.init(code: status), "", [.contentType: "text/plain"])
        } _: { side, port in
            let sent = try await simulate(
                ["--seed", "5", "--devices", "20", "--connections", "1", "--to", "http://127.0.0.1:\(port)"]
            )
            #expect(sent.status == .code(1))
            #expect(sent.error.contains("Error: seed 5: http://127.0.0.1:\(port)/v1/events: "), "\(sent.error)")
            #expect(sent.error.contains(words), "\(sent.error)")
            #expect(side.requests.count == 1)
            #expect(sent.text.hasPrefix("0 accepted, 0 duplicate, 0 rejected\n"))
        }
    }

    @Test("counts that no batch can have are no collector's answer")
    func impossibleCounts() async throws {
        try await FakeCollector.with { _ in
            let counts = #"{"accepted":9223372036854775807,"duplicates":18446744073709551615,"rejected":[]}"#
            return FakeCollector.answer(.ok, counts, [.contentType: "application/json"])
        } _: { _, port in
            let sent = try await simulate(["--seed", "5", "--devices", "20", "--to", "http://127.0.0.1:\(port)"])
            #expect(sent.status == .code(1))
            #expect(
                sent.error.contains("expected the counts of a batch, found accepted 9223372036854775807"),
                "\(sent.error)"
            )
        }
    }

    @Test("a batch that is too large is halved down to single events, and then told as refused")
    func tooLarge() async throws {
        try await FakeCollector.with { _ in
            FakeCollector.answer(.contentTooLarge, "", [.contentType: "text/plain"])
        } _: { side, port in
            let sent = try await simulate(["--seed", "5", "--to", "http://127.0.0.1:\(port)", "--uncompressed"])
            #expect(sent.status == .code(1))
            #expect(sent.error.contains("HTTP 413"), "\(sent.error)")
            let events = side.requests.map { $0.body.count { $0 == UInt8(ascii: "\n") } }
            #expect(events.count > 4 && events.last == 1 && events == events.sorted(by: >), "\(events)")
            #expect(Set(side.requests.map { $0["Idempotency-Key"] }).count == events.count)
        }
    }

    @Test("rejected events are told with the first reason and status 1")
    func rejectedEvents() async throws {
        try await FakeCollector.with { _ in
            FakeCollector.answer(.ok, #"{"accepted":3,"duplicates":1,"rejected":[{"index":0,"reason":"too old"}]}"#)
        } _: { _, port in
            let sent = try await simulate(["--seed", "5", "--to", "http://127.0.0.1:\(port)"])
            #expect(sent.status == .code(1))
            #expect(sent.text.hasPrefix("3 accepted, 1 duplicate, 1 rejected\n  the first: too old\n"), "\(sent.text)")
        }
    }

    @Test("a batch waits for its Retry-After in seconds or as a date, and is sent again under its key")
    func retryAfter() async throws {
        for after in ["1", "Wed, 06 Nov 2024 08:49:37 GMT"] {
            try await FakeCollector.with { count in
                let headers: HTTPFields = [.retryAfter: after, .contentType: "text/plain"]
                return count == 0
                    ? FakeCollector.answer(.serviceUnavailable, "busy", headers)
                    : FakeCollector.answer(.ok, #"{"accepted":9,"duplicates":0,"rejected":[]}"#)
            } _: { side, port in
                let start = ContinuousClock.now
                let sent = try await simulate(["--seed", "5", "--to", "http://127.0.0.1:\(port)"])
                #expect(sent.status == .code(0), "\(sent.error)")
                #expect(sent.text.contains("answers: 1 of 200, 1 of 503\n"), "\(sent.text)")
                if after == "1" { #expect(ContinuousClock.now - start >= .seconds(1)) }
                #expect(side.requests.count == 2)
                #expect(Set(side.requests.map { $0["Idempotency-Key"] }).count == 1)
            }
        }
    }

    @Test("a collector that is not there is told with the seed and status 2")
    func unreachable() async throws {
        for (url, words) in [
            ("http://127.0.0.1:1", "http://127.0.0.1:1/v1/events: connection refused"),
            ("unix:/nowhere/http.sock", "unix:/nowhere/http.sock: there is no such socket"),
        ] {
            let sent = try await simulate(["--seed", "5", "--to", url, "--retry-for", "0s", "--verify", url])
            #expect(sent.status == .code(2))
            #expect(sent.error.contains("Error: seed 5: \(words)"), "\(sent.error)")
            #expect(!sent.text.contains("equal"))
        }
    }

    @Test("the token of a file is shown to the collector and to nobody else")
    func token() async throws {
        let directory = try TemporaryDirectory()
        try Files.write(Array("swordfish-0123456789\n".utf8), to: directory.file("token"))
        try await FakeCollector.with { _ in
            FakeCollector.answer(.ok, #"{"accepted":9,"duplicates":0,"rejected":[]}"#)
        } _: { side, port in
            let url = "http://127.0.0.1:\(port)"
            let sent = try await simulate(["--seed", "5", "--to", url, "--token-file", directory.file("token")])
            #expect(sent.status == .code(0))
            #expect(side.requests.map { $0["Authorization"] } == ["Bearer swordfish-0123456789"])
            #expect(side.requests.first?["Content-Encoding"] == "gzip")
            #expect(!sent.error.contains("swordfish") && !sent.text.contains("swordfish"))
        }
    }

    @Test("Ctrl-C ends a fleet that is told slowly, and what was answered is told")
    func interrupted() async throws {
        try await withTemporaryDirectory { directory in
            try await FakeCollector.with { _ in
                FakeCollector.answer(.ok, #"{"accepted":1,"duplicates":0,"rejected":[]}"#)
            } _: { side, port in
                let process = try ChildProcess(
                    [
                        try Service.binary(), "simulate", "--seed", "5", "--devices", "3000", "--speed", "1440", "--to",
                        "http://127.0.0.1:\(port)", "--truth", "\(directory)/truth.json",
                    ],
                    logs: directory,
                    name: "simulate"
                )
                try await eventually("some devices have told their first day") { side.requests.count > 5 }
                await process.signal(SIGINT)
                #expect(try await process.waitForExit() == .code(130))
                let summary = String(decoding: process.output, as: UTF8.self)
                #expect(summary.contains(" accepted, 0 duplicate, 0 rejected\n"))
                #expect(side.requests.count < 1_000)
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/truth.json"))
            }
        }
    }

    @Test(
        "what cannot be sent is told in words",
        arguments: [
            (["--to", "http://127.0.0.1:1", "--format", "lines"], "expected --format events with --to"),
            (["--to", "http://127.0.0.1:1", "--out", "x"], "expected --out or --to, found both"),
            (["--to", "http://127.0.0.1:1", "--truth", "-"], "expected --truth with a file and --to"),
            (["--to", "ftp://127.0.0.1"], "--to: expected a URL as http://"),
            (["--to", "http://127.0.0.1:1", "--connections", "0"], "expected --connections from 1 to 1000, found 0"),
            (["--to", "http://127.0.0.1:1", "--scenario", "rebot"], "unknown scenario rebot; did you mean reboot?"),
            (["--to", "http://127.0.0.1:1", "--faults", "split=1.01"], "expected split=RATE with a rate from 0 to 1"),
            (["--to", "http://127.0.0.1:1", "--start", "2019-12-31"], "expected a start in 2020 or later"),
            (["--faults", "loss-before=0.5"], "expected --to with the fault loss-before"),
            (["--verify-within", "1s"], "expected --verify with --verify-within"),
        ]
    )
    func wrongUsage(options: [String], words: String) async throws {
        let command = try await simulate(options)
        #expect(command.status == .code(64))
        #expect(command.error.contains(words), "\(command.error)")
    }
}

/// A proxy before a service that acknowledges one batch and loses it.
private final class LossyProxy: Sendable {
    private let count = Mutex((requests: 0, lost: 0))

    var lost: Int { count.withLock { $0.lost } }

    /// - Parameter number: which request it loses.
    static func with(
        _ service: TelemetryClient,
        losing number: Int,
        _ body: (LossyProxy, Int) async throws -> Void
    ) async throws {
        let proxy = LossyProxy()
        let router = Router()
        router.get("/-/healthy") { _, _ in "here" }
        router.post("/v1/events") { request, _ in
            let bytes = Array(try await request.body.collect(upTo: 8 << 20).readableBytesView)
            let isLost = proxy.count.withLock { count in
                count.requests += 1
                guard count.requests >= number, count.lost == 0 else { return false }
                count.lost += 1
                return true
            }
            if isLost { return FakeCollector.answer(.ok, #"{"accepted":1,"duplicates":0,"rejected":[]}"#) }
            let answer = try await service.post(
                bytes,
                encoding: request.headers[.contentEncoding],
                key: HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
            )
            return FakeCollector.answer(.init(code: answer.status), answer.text)
        }
        let port = try FreePort.any()
        let server = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        let client = TelemetryClient(port: port)
        try await eventually("the proxy answers") {
            (try? await client.get("/-/healthy", within: .seconds(5)))?.status == 200
        }
        try await body(proxy, port)
    }
}
