// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("full disk")
    struct FullDisks {
        @Test("a full disk stops acknowledging, not serving, and nothing acknowledged is lost")
        func fullDisk() async throws {
            try await MountNamespace.with { namespace in
                try await withService(
                    in: namespace,
                    prepare: { try await namespace.mountMemory(at: $0, options: "size=24m") },
                    { service in try await fill(service, in: namespace) }
                )
            }
        }

        private func fill(_ service: Service, in namespace: MountNamespace) async throws {
            let client = await service.client
            let filler = await service.settings.stateDirectory + "/filler"
            var acknowledged = LifecycleTotals()
            let first = EventFactory(prefix: "space").cycles(0..<100)
            _ = try await client.post(first.ndjson).receipt()
            acknowledged += first.totals

            let fill = try await namespace.run(["/bin/sh", "-c", "cat /dev/zero > \(filler)"])
            #expect(fill.error.contains("No space left"), "\(fill.error)")
            var refused: EventBatch?
            for number in 0..<400 where refused == nil {
                let batch = EventFactory(prefix: "full-\(number)").cycles(0..<200)
                let answer = try await client.post(batch.ndjson, key: "full-\(number)")
                if answer.status == 200 {
                    acknowledged += batch.totals
                    continue
                }
                #expect(answer.status == 503)
                #expect(answer.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
                #expect(try answer.problem().detail.count > 10)
                refused = batch
            }
            let batch = try #require(refused, "24 MB are full and everything was acknowledged")
            #expect(try await client.metrics().lifecycle == acknowledged.series, "a scrape goes on, and is right")
            #expect(try await client.get("/-/healthy").status == 200)
            #expect(try await available(client) < 1 << 20)

            try FileManager.default.removeItem(atPath: namespace.outside(filler))
            try await eventually("it goes on when space returns") { try await client.post(batch.ndjson).status == 200 }
            acknowledged += batch.totals
            #expect(try await available(client) > 1 << 20)
            #expect(try await client.metrics().lifecycle == acknowledged.series)
            await service.kill()
            try await service.start()
            let page = try await client.metrics()
            #expect(page.lifecycle == acknowledged.series)
            #expect(page.ingestBalance == 0)
        }

        private func available(_ client: TelemetryClient) async throws -> Int {
            Int(try #require(try await client.metrics().value("dnp_telemetry_ledger_available_bytes")))
        }
    }
}
