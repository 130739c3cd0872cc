// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("the line socket")
struct LineSocketTests {
    /// How many lines have been acknowledged to all clients.
    private final class Acknowledged: Sendable {
        let count = Atomic(0)
    }

    /// Sends lines from the first that is not acknowledged on, until all are; connects again when the service dies.
    private static func deliver(
        _ lines: [String],
        to path: String,
        counting total: Acknowledged = Acknowledged()
    ) async throws -> Int {
        var acknowledged = 0 {
            didSet { total.count.wrappingAdd(acknowledged - oldValue, ordering: .relaxed) }
        }
        var connections = 0
        while acknowledged < lines.count {
            guard let client = try? LinesClient(path: path) else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            connections += 1
            var rest = Array(lines[acknowledged...].map { $0 + "\n" }.joined().utf8)[...]
            let start = acknowledged
            while acknowledged < lines.count, client.receive() {
                acknowledged = start + client.durable
                let count = client.offer(rest.prefix(16_384))
                rest = rest.dropFirst(count)
                try await Task.sleep(for: .milliseconds(count > 0 ? 2 : 1))
            }
            acknowledged = start + client.durable
        }
        return connections
    }

    @Test("120,000 events of four line clients through four kills are each counted once", .timeLimit(.minutes(3)))
    func lineSocketKills() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                var expected = LifecycleTotals()
                var deliveries: [Task<Int, any Error>] = []
                for name in 0..<4 {
                    let batch = EventFactory(prefix: "client-\(name)").cycles(0..<7_896)
                    expected += batch.totals
                    let text = String(decoding: batch.ndjson, as: UTF8.self)
                    let lines = text.split(separator: "\n").map(String.init)
                    deliveries.append(Task { try await Self.deliver(lines, to: path) })
                }
                for round in 1...4 {
                    let client = await service.client
                    try await eventually("some more is stored before kill \(round)") {
                        let stored = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                        return stored >= Double(round * 6_000)
                    }
                    await service.kill()
                    try await service.start()
                }
                var connections = 0
                for delivery in deliveries { connections += try await delivery.value }
                #expect(connections > 4)
                let page = try await service.client.metrics()
                #expect(page.lifecycle == expected.series)
                #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
                #expect(page.ingestBalance == 0)
            }
        }
    }

    @Test("SIGTERM amid four line clients: what is acknowledged is stored, and repeated lines count once")
    func lineSocketTerminations() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                var expected = LifecycleTotals()
                let acknowledged = Acknowledged()
                var deliveries: [Task<Int, any Error>] = []
                for name in 0..<4 {
                    let batch = EventFactory(prefix: "stopped-\(name)").cycles(0..<2_000)
                    expected += batch.totals
                    let text = String(decoding: batch.ndjson, as: UTF8.self)
                    let lines = text.split(separator: "\n").map(String.init)
                    deliveries.append(Task { try await Self.deliver(lines, to: path, counting: acknowledged) })
                }
                for round in 1...3 {
                    let client = await service.client
                    try await eventually("some more is acknowledged before stop \(round)") {
                        acknowledged.count.load(ordering: .relaxed) >= round * 5_000
                    }
                    #expect(try await service.terminate() == .code(0))
                    let told = acknowledged.count.load(ordering: .relaxed)
                    try await service.start()
                    #expect(try await client.metrics().sum("dnp_telemetry_events_accepted_total") >= Double(told))
                }
                var connections = 0
                for delivery in deliveries { connections += try await delivery.value }
                #expect(connections > 4)
                let page = try await service.client.metrics()
                #expect(page.lifecycle == expected.series)
                #expect(page.sum("dnp_telemetry_events_rejected_total") == 0)
                #expect(page.ingestBalance == 0)
            }
        }
    }

    @Test("device logs over the line socket move the counters as over HTTP", arguments: LogSourceTests.logs)
    func lineSocketSamples(sample: Sample) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                let log = Array(try Data(contentsOf: URL(fileURLWithPath: sample.path)))
                let client = try LinesClient(path: path)
                try await client.sendAll(log)
                client.finish()
                try await client.waitUntilClosed()
                #expect(client.durable == log.split(separator: 0x0A, omittingEmptySubsequences: false).count - 1)
                let page = try await service.client.metrics()
                #expect(page.lifecycle == LifecycleTotals(sample.expected.counters).series)
                #expect(page.ingestBalance == 0)
            }
        }
    }

    @Test("a line client is told of each line whose event is lost, by number and reason, and lists are taken")
    func lineSocketLostEvents() async throws {
        func event(_ index: Int) -> String {
            #"{"event":"prefetch_scheduled","scheduleId":"lost-\#(index)","timestamp":"2025-11-15T05:48:32Z"}"#
        }
        let lines: [String] = [
            event(0), "[\(event(1)),\(event(2))]", "{\"events\":[\(event(3)),5]}", String(event(4).dropLast(20)),
            #"{"scheduleId":"a","timestamp":"2025-11-15T05:48:32Z"}"#, #"{"Event":"prefetch_success"}"#,
            "{\"reason\":\"\(String(repeating: "x", count: 70_000))\"}", "a line of another program", event(5),
        ]
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                let client = try LinesClient(path: path)
                try await client.sendAll(lines.map { $0 + "\n" }.joined())
                try await client.waitUntilDurable(lines.count)
                #expect(
                    client.rejected.map { $0.split(separator: " ").prefix(3).joined(separator: " ") } == [
                        "rejected 3 not_an_object", "rejected 4 truncated", "rejected 5 missing_field",
                        "rejected 6 missing_field", "rejected 7 too_long",
                    ]
                )
                let page = try await service.client.metrics()
                #expect(page.value("dnp_prefetch_scheduled_total") == 5)
                #expect(page.sum("dnp_telemetry_events_rejected_total") == 5)
                #expect(page.ingestBalance == 0)
            }
        }
    }

    /// Forms of JSON on a line; each `#` stands for an event of its own.
    private static let forms: [String] = [
        "#", "# #", "# 7", "[#]", "[#,#]", "[ # , # ]", "[]", "[ ]", "[{}]", "[{\"a\":1}]", "[#,{}]",
        "[1,2]", "[null]", "[\"x\"]", "[-1.5e3]", "[true,#]", "[#,1]", "[1,#]", "[#,]", "[# #]", "[#] [#]", "[1] #",
        "[[#]]", "[[#],#]", "[#,[#]]", "[[]]", "[[[[1]]]]", "[[1],{}]",
        "[", "[[", "[1,", "[#", "[[#", "[#,", "[\"x", "[{", "[{\"event\":\"prefetch_sch",
        "{}", "{", "{\"a\":1}", "{\"data\":[#]}",
        "{\"events\":[]}", "{\"events\":[#]}", "{\"events\":[#,#]}", "{\"events\":[1]}", "{\"events\":[null,#]}",
        "{\"events\":[[#]]}", "{\"events\":{}}", "{\"events\":#}", "{\"events\":5}", "{\"events\":null}",
        "{\"events\":\"x\"}", "{\"events\":[{\"events\":[#]}]}", "{\"events\":{\"events\":[#]}}", "[{\"events\":[#]}]",
        "{\"events\":[#],\"events\":[#]}", "{\"events\":[#],\"events\":7}", "{\"events\":[#", "{\"events\":[#]",
        "{\"sentAt\":\"2025-11-15T05:48:33Z\",\"events\":[#]}", "{\"events\":[#],\"event\":\"prefetch_scheduled\"}",
        "{\"events\":[#],\"MESSAGE\":\"x\"}", "{\"MESSAGE\":\"x\",\"events\":[#]}",
        "{\"eventMessage\":\"x\",\"events\":[#,2]}",
        #""{\"event\":\"prefetch_scheduled\",\"scheduleId\":\"a\"}""#, #""[{\"event\":\"prefetch_scheduled\"}]""#,
    ]

    @Test("every form of JSON on a line has the same answer over the line socket as over HTTP")
    func lineSocketAnswersAsHTTP() async throws {
        struct Reply: Decodable {
            let accepted: Int?
            let rejected: [Answer.Rejection]
        }
        func accepted(_ client: TelemetryClient) async throws -> Int {
            Int(try await client.metric("dnp_telemetry_events_accepted_total") ?? 0)
        }
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                let http = await service.client
                let lines = try LinesClient(path: path)
                var before = 0
                var events = 0
                /// A line of a form, with new events.
                func line(_ form: String) -> String {
                    form.reduce(into: "") { text, sign in
                        guard sign == "#" else { return text.append(sign) }
                        events += 1
                        text +=
                            #"{"event":"prefetch_scheduled","scheduleId":"form-\#(events)","timestamp":"2025-11-15T05:48:32Z"}"#
                    }
                }
                for (index, form) in Self.forms.enumerated() {
                    let answer = try await http.post(Array((line(form) + "\n").utf8))
                    let reply = try JSONDecoder().decode(Reply.self, from: Data(answer.body))
                    try await lines.sendAll(line(form) + "\n")
                    try await lines.waitUntilDurable(index + 1)
                    let both = try await accepted(http)
                    #expect(both - before == 2 * (reply.accepted ?? 0), "\(form)")
                    before = both
                    // Over the socket each reason is told once.
                    let told = lines.rejected.filter { $0.hasPrefix("rejected \(index + 1) ") }
                        .map { $0.split(separator: " ", maxSplits: 3).last.map(String.init) ?? "" }
                    var reasons: [String] = []
                    for rejection in reply.rejected where !reasons.contains(rejection.reason) {
                        reasons.append(rejection.reason)
                    }
                    #expect(told == reasons, "\(form)")
                }
                #expect(try await http.metrics().ingestBalance == 0)
            }
        }
    }

    @Test("a line client that sends and goes, as socat and nc do, has its lines counted")
    func lineSocketOneWay() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/lines.sock"
            try await withService(options: ["--listen", "unix:\(path) serve=lines"]) { service in
                let batch = EventFactory(prefix: "one-way").cycles(0..<250)
                var rest = Array(batch.ndjson)[...]
                let client = try LinesClient(path: path)
                try await eventually("all is sent") {
                    rest = rest.dropFirst(client.offer(rest))
                    return rest.isEmpty
                }
                client.close()
                let metrics = await service.client
                try await eventually("all is counted") {
                    try await metrics.metrics().sum("dnp_telemetry_events_accepted_total") == Double(batch.count)
                }
            }
        }
    }
}

@Suite("the inherited line socket")
struct HandedOverLinesTests {
    private func with(_ body: (Service, _ path: String, _ directory: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let port = try FreePort.any()
            let path = "\(directory)/lines.sock"
            try await withService(
                listen: "systemd:http",
                port: port,
                options: ["--listen", "systemd:lines serve=lines", "--log-level", "info"],
                wrapper: try SocketUnit.wrapper(["http": "\(port)", "lines": path], in: directory)
            ) { service in
                try await body(service, path, directory)
            }
        }
    }

    private func send(_ batch: EventBatch, over client: LinesClient) async throws {
        var rest = Array(batch.ndjson)[...]
        try await eventually("all is sent") {
            rest = rest.dropFirst(client.offer(rest))
            return rest.isEmpty
        }
    }

    @Test(
        "lines sent to an inherited socket while the service is down wait, are answered after the start, and count once"
    )
    func inheritedLineSocketRestarts() async throws {
        try await with { service, path, directory in
            let hold = "\(directory)/hold"
            var totals = LifecycleTotals()
            for round in 1...2 {
                try Data().write(to: URL(fileURLWithPath: hold))
                await service.signal(SIGTERM)
                try await eventually("the service is down") {
                    await service.log.split(separator: "stopped; the ledger is closed").count == round + 1
                }
                let batch = EventFactory(prefix: "down-\(round)").cycles(0..<20)
                let client = try LinesClient(path: path)
                try await send(batch, over: client)
                #expect(client.receive() && client.answers == [])
                try FileManager.default.removeItem(atPath: hold)
                try await client.waitUntilDurable(batch.count)
                totals += batch.totals
                let again = try LinesClient(path: path)
                try await send(batch, over: again)
                try await again.waitUntilDurable(batch.count)
            }
            let page = try await service.client.metrics()
            #expect(page.lifecycle == totals.series)
            #expect(page.ingestBalance == 0)
            try Data().write(to: URL(fileURLWithPath: "\(directory)/stop"))
            #expect(try await service.terminate() == .code(0))
        }
    }

    @Test("an inherited line socket that the system closes ends the service with an error, after lines were answered")
    func inheritedLineSocketFails() async throws {
        try await with { service, path, directory in
            let batch = EventFactory(prefix: "broken").cycles(0..<20)
            let client = try LinesClient(path: path)
            try await send(batch, over: client)
            try await client.waitUntilDurable(batch.count)
            try Data().write(to: URL(fileURLWithPath: "\(directory)/break-http"))
            let status = try await awaited("the service ends") { await service.exitStatus }
            #expect(status == .code(1))
            let log = await service.log
            #expect(
                log.hasSuffix(
                    "Error: the listener systemd:http was closed by the system; start the service again\n"
                ),
                "\(log)"
            )
            #expect(log.contains("stopped; the ledger is closed"))
        }
    }
}
