// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("broken requests")
struct BrokenRequestTests {
    private let batch = EventFactory(prefix: "request").cycles(0..<200)

    /// Expects a problem document with a detail.
    private func expectProblem(
        _ answer: Answer,
        _ status: Int,
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(answer.status == status, "\(what): \(answer.text.prefix(300))", sourceLocation: sourceLocation)
        guard let problem = try? answer.problem() else {
            Issue.record("\(what): no problem document in \(answer)", sourceLocation: sourceLocation)
            return
        }
        #expect(problem.status == answer.status, "\(what)", sourceLocation: sourceLocation)
        #expect(!problem.type.isEmpty && !problem.title.isEmpty, "\(what)", sourceLocation: sourceLocation)
        #expect(problem.detail.count > 10, "\(what): \(problem.detail)", sourceLocation: sourceLocation)
    }

    private func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/body"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return Array(try await Command.run(["/usr/bin/gzip", "--stdout", path]).output)
        }
    }

    @Test("an unreadable request gets a problem that says so, and nothing of it counts")
    func unreadableRequest() async throws {
        let compressed = try await gzip(batch.ndjson)
        let bomb = try await Command.run(["/bin/sh", "-c", "head -c 200000000 /dev/zero | gzip -9"]).output
        try await withService { service in
            let client = await service.client
            expectProblem(try await client.post([]), 400, "an empty body")
            expectProblem(try await client.post([], type: "application/json"), 400, "an empty JSON body")
            expectProblem(try await client.post(Array("{}".utf8), type: "application/json"), 400, "{}")
            expectProblem(try await client.post(Array("\n\n".utf8)), 400, "empty lines")
            expectProblem(try await client.post(Array("not json".utf8), type: "application/json"), 400, "text")
            let cut = Array(compressed.prefix(compressed.count / 2))
            expectProblem(try await client.post(cut, encoding: "gzip"), 400, "half of a gzip stream")
            let headless = Array(compressed.prefix(5))
            expectProblem(try await client.post(headless, encoding: "gzip"), 400, "half of a gzip header")
            expectProblem(try await client.post(batch.ndjson, encoding: "gzip"), 400, "gzip that is none")
            var damaged = compressed
            damaged[damaged.count - 6] ^= 0xFF
            expectProblem(try await client.post(damaged, encoding: "gzip"), 400, "gzip with a wrong checksum")
            expectProblem(try await client.post(Array(bomb), encoding: "gzip"), 413, "a gzip bomb")
            expectProblem(try await client.post(batch.ndjson, type: "text/csv"), 415, "another type")
            expectProblem(try await client.post(batch.ndjson, encoding: "br"), 415, "another encoding")

            #expect(try await client.metrics().lifecycle == LifecycleTotals().series)
            let receipt = try await client.post(compressed, encoding: "gzip").receipt()
            #expect(receipt.accepted == batch.count, "the whole gzip stream is accepted")
            #expect(try await client.metrics().lifecycle == batch.totals.series)
        }
    }

    @Test("a body over the limit gets 413, even when its length is not declared")
    func oversizedBody() async throws {
        let small = EventFactory(prefix: "small").cycles(0..<5)
        let large = EventFactory(prefix: "large").cycles(0..<2_000)
        try await withService(options: ["--max-body", "100000"]) { service in
            let client = await service.client
            expectProblem(try await client.post(large.ndjson), 413, "a long body")
            expectProblem(try await client.post(large.ndjson, chunked: true), 413, "a long body in chunks")
            #expect(try await client.post(small.ndjson).receipt().accepted == small.count)
            #expect(try await client.metrics().lifecycle == small.totals.series)
        }
    }

    @Test("another method gets 405, another path 404")
    func wrongMethodOrPath() async throws {
        try await withService { service in
            let client = await service.client
            let get = try await client.get("/v1/events")
            expectProblem(get, 405, "GET /v1/events")
            #expect(get.headers["allow"]?.contains("POST") == true)
            let put = try await client.request(
                "/v1/events",
                method: "PUT",
                body: batch.ndjson,
                within: .seconds(10)
            )
            expectProblem(put, 405, "PUT /v1/events")
            let scrape = try await client.post(batch.ndjson, to: "/metrics")
            expectProblem(scrape, 405, "POST /metrics")
            expectProblem(try await client.get("/v2/events"), 404, "GET /v2/events")
            expectProblem(try await client.post(batch.ndjson, to: "/v1/event"), 404, "POST /v1/event")
        }
    }

    @Test(
        "parameters and spelling of a content type do not matter",
        arguments: ["application/json; charset=utf-8", "Application/JSON", "application/x-ndjson;charset=UTF-8"]
    )
    func contentTypeSpelling(type: String) async throws {
        try await withService { service in
            let body = type.lowercased().hasPrefix("application/json") ? batch.array : batch.ndjson
            let receipt = try await service.client.post(body, type: type).receipt()
            #expect(receipt.accepted == batch.count)
        }
    }

    @Test("an envelope and a single object are read like an array")
    func requestShapes() async throws {
        try await withService { service in
            let client = await service.client
            let envelope =
                "{\"events\":[\(batch.lines.joined(separator: ","))],\"sentAt\":\"2025-11-20T00:00:00Z\"}"
            let receipt = try await client.post(Array(envelope.utf8), type: "application/json").receipt()
            #expect(receipt.accepted == batch.count)
            let one = try #require(batch.lines.first)
            let single = try await client.post(Array(one.utf8), type: "application/json").receipt()
            #expect(single == Answer.Receipt(accepted: 0, duplicates: 1, rejected: []))
        }
    }
}

extension Alone {
    @Suite("large bodies")
    struct LargeBodyTests {
        private final class Answered: Sendable {
            let count = Atomic(0)
        }

        @Test(
            "large bodies delay neither health checks nor scrapes, as log lines and as JSON",
            arguments: ["text/plain", "application/x-ndjson"]
        )
        func largeBodiesBlockNobody(type: String) async throws {
            let line =
                type == "text/plain"
                ? "2025-11-15T05:41:00Z [DNP-FETCH] Scheduling prefetch for notification at 2025-11-15T05:53:00Z\n"
                : #"{"event":"prefetch_executed","scheduleId":"s","timestamp":"2025-11-15T05:50:00Z"}"# + "\n"
            let body = Array(String(repeating: line, count: 30_000).utf8)
            let posts = 4 * ProcessInfo.processInfo.activeProcessorCount
            let answered = Answered()
            try await withService { service in
                let client = await service.client
                let looks = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<posts {
                        group.addTask {
                            defer { answered.count.wrappingAdd(1, ordering: .relaxed) }
                            return try await client.post(body, type: type).status
                        }
                    }
                    var looks = 0
                    while answered.count.load(ordering: .relaxed) < posts {
                        #expect(try await client.get("/-/healthy").status == 200)
                        #expect(try await client.get("/metrics").status == 200)
                        looks += 1
                    }
                    for try await status in group { #expect(status == 200) }
                    return looks
                }
                #expect(looks > 0, "health and scrape are answered before all bodies are")
                #expect(try await client.metrics().ingestBalance == 0)
            }
        }
    }
}

@Suite("samples")
struct SampleTests {
    private struct Expectation: Decodable {
        struct Counters: Decodable {
            let dnp_prefetch_scheduled_total: Int
            let dnp_prefetch_executed_total: Int
            let dnp_prefetch_success_total: Int
            let dnp_prefetch_failure_total: [String: Int]
            let dnp_prefetch_used_for_notification_total: Int
        }
        let counters: Counters

        var totals: LifecycleTotals {
            LifecycleTotals(
                scheduled: counters.dnp_prefetch_scheduled_total,
                executed: counters.dnp_prefetch_executed_total,
                success: counters.dnp_prefetch_success_total,
                failure: counters.dnp_prefetch_failure_total,
                used: counters.dnp_prefetch_used_for_notification_total
            )
        }
    }

    private static let fixtures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures")

    @Test("a sample moves the counters as expected", arguments: ["documented", "full-cycle"])
    func sampleCounts(sample: String) async throws {
        let body = try Data(contentsOf: Self.fixtures.appendingPathComponent("events/\(sample).ndjson"))
        let table = try Data(contentsOf: Self.fixtures.appendingPathComponent("expected.json"))
        let expectations = try JSONDecoder().decode([String: Expectation].self, from: table)
        let expected = try #require(expectations["events/\(sample).ndjson"]).totals
        try await withService { service in
            let client = await service.client
            #expect(try await client.metrics().lifecycle == LifecycleTotals().series, "all five at 0 at first")
            let receipt = try await client.post(Array(body)).receipt()
            #expect(receipt.rejected == [])
            #expect(receipt.accepted == body.split(separator: UInt8(ascii: "\n")).count)
            #expect(try await client.metrics().lifecycle == expected.series)
        }
    }
}
