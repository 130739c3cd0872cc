// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("samples")
    struct Samples {
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

        @Test("a sample moves the counters as its expectation says", arguments: ["documented", "full-cycle"])
        func counts(sample: String) async throws {
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
}
