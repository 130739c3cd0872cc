// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import TestSupport
import Testing

@Suite("idempotency")
struct IdempotencyTests {
    private let batch = EventFactory(prefix: "idem").cycles(0..<20)

    @Test(
        "a repeated batch counts once, with its key, without one, and over a restart",
        arguments: [true, false]
    )
    func repeatedBatch(hasKey: Bool) async throws {
        let key = hasKey ? "batch-1" : nil
        try await withService { service in
            let client = await service.client
            let first = try await client.post(batch.ndjson, key: key).receipt()
            #expect(first == Answer.Receipt(accepted: batch.count, duplicates: 0, rejected: []))
            let repeated = Answer.Receipt(accepted: 0, duplicates: batch.count, rejected: [])
            #expect(try await client.post(batch.ndjson, key: key).receipt() == repeated)
            #expect(try await service.terminate() == .code(0))
            try await service.start()
            #expect(try await client.post(batch.ndjson, key: key).receipt() == repeated)
            await service.kill()
            try await service.start()
            #expect(try await client.post(batch.ndjson, key: key).receipt() == repeated)

            let page = try await client.metrics()
            #expect(page.lifecycle == batch.totals.series)
            #expect(page.sum("dnp_telemetry_events_accepted_total") == Double(batch.count))
            #expect(page.sum("dnp_telemetry_events_duplicate_total") == Double(3 * batch.count))
            #expect(page.ingestBalance == 0)
        }
    }

    @Test("a key reused with another body is refused, also after a restart")
    func reusedKey() async throws {
        let other = EventFactory(prefix: "other").cycles(0..<3)
        try await withService { service in
            let client = await service.client
            _ = try await client.post(batch.ndjson, key: "batch-1").receipt()
            for restarts in [false, true] {
                if restarts {
                    await service.kill()
                    try await service.start()
                }
                let answer = try await client.post(other.ndjson, key: "batch-1")
                #expect(answer.status == 422)
                #expect(try answer.problem().detail.contains("Idempotency-Key"))
            }
            #expect(try await client.metrics().lifecycle == batch.totals.series)
            let receipt = try await client.post(other.ndjson, key: "batch-2").receipt()
            #expect(receipt.accepted == other.count)
        }
    }

    @Test("a key or an id that comes twice is refused")
    func repeatedHeaders() async throws {
        try await withService { service in
            let client = await service.client
            for name in ["Idempotency-Key", "X-Installation-Id", "X-Source-Id"] {
                let headers = HTTPHeaders([(name, "a"), (name, "b")])
                let answer = try await client.post(batch.ndjson, headers: headers)
                #expect(answer.status == 400, "\(name)")
                #expect(try answer.problem().detail.hasPrefix("Expected"))
            }
            #expect(try await client.metrics().sum("dnp_telemetry_events_accepted_total") == 0)
        }
    }

    @Test("a batch of another installation or source is no repeat, with the same key and the same body")
    func batchOfAnother() async throws {
        let body = Array(
            """
            [DNP-FETCH] BGTask handler invoked (id=com.timesafari.dailynotification.fetch)
            [DNP-FETCH] Fetch success (id=daily-7, status=200)

            """.utf8
        )
        try await withService { service in
            let client = await service.client
            for accepted in [2, 0] {
                for (header, id) in [("X-Installation-Id", "a"), ("X-Installation-Id", "b"), ("X-Source-Id", "a")] {
                    let answer = try await client.post(body, type: "text/plain", key: "batch-1", headers: [header: id])
                    #expect(try answer.receipt().accepted == accepted, "\(header) \(id)")
                }
                await service.kill()
                try await service.start()
            }
        }
    }

    @Test("twenty clients that send the same batch at once count it once", arguments: [true, false])
    func concurrentRepeats(hasKey: Bool) async throws {
        let body = batch.ndjson
        try await withService { service in
            let client = await service.client
            let receipts = try await withThrowingTaskGroup(of: Answer.Receipt.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.post(body, key: hasKey ? "one" : nil).receipt() }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(receipts.map(\.accepted).reduce(0, +) == batch.count)
            #expect(receipts.map(\.duplicates).reduce(0, +) == 19 * batch.count)
            let page = try await client.metrics()
            #expect(page.lifecycle == batch.totals.series)
            #expect(page.ingestBalance == 0)
        }
    }

    @Test("the same event of two installations, or with two event ids, is two events")
    func otherIdentity() async throws {
        let event = #"{"event":"prefetch_executed","scheduleId":"s","timestamp":"2025-11-15T05:50:00Z""#
        let lines = [
            "}", #","installationId":"a"}"#, #","installationId":"b"}"#, #","installationId":"b","eventId":"1"}"#,
            #","installationId":"b","eventId":"2"}"#, #","deviceId":"a"}"#,
        ]
        let body = Array(lines.map { event + $0 }.joined(separator: "\n").utf8)
        try await withService { service in
            let receipt = try await service.client.post(body).receipt()
            #expect(receipt == Answer.Receipt(accepted: 5, duplicates: 1, rejected: []))
        }
    }

    @Test("the same events in another batch, as an array or with another offset, are the same events")
    func sameEventsOtherBytes() async throws {
        try await withService { service in
            let client = await service.client
            _ = try await client.post(batch.ndjson, key: "a").receipt()
            let array = try await client.post(batch.array, type: "application/json", key: "b").receipt()
            #expect(array == Answer.Receipt(accepted: 0, duplicates: batch.count, rejected: []))
            let lines =
                #"{"event":"prefetch_executed","id":"zone","timestamp":"2025-11-15T05:50:00Z"}"# + "\n"
                + #"{"event":"prefetch_executed","scheduleId":"zone","timestamp":"2025-11-15T06:50:00.000+01:00"}"#
            let zones = try await client.post(Array(lines.utf8)).receipt()
            #expect(zones == Answer.Receipt(accepted: 1, duplicates: 1, rejected: []))
        }
    }
}
