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

        @Test(
            "a disk that fills under load: refused and told so, scraped, not restarted, and all goes on with the space",
            .timeLimit(.minutes(3))
        )
        func underLoad() async throws {
            let manager = try NotifiedManager(watchdog: .seconds(10))
            try await Journal.with { journal in
                try await withService(
                    journal: .journald,
                    in: journal.namespace,
                    under: manager,
                    prepare: { try await journal.namespace.mountMemory(at: $0, options: "size=32m") },
                    { service in
                        let client = await service.client
                        let stop = StopSignal()
                        func sender(_ number: UInt64) -> Sender {
                            Sender(client: client, name: "fill-\(number)", usesKeys: number < 3, seed: number)
                        }
                        async let first = sender(1).run(until: stop)
                        async let second = sender(2).run(until: stop)
                        async let third = sender(3).run(until: stop)
                        async let fourth = sender(4).run(until: stop)
                        do {
                            try await fillUnderLoad(service, manager, journal)
                        } catch {
                            stop.set()
                            throw error
                        }
                        stop.set()
                        let delivery = try await first + second + third + fourth
                        #expect(delivery.refused > 0)
                        #expect(delivery.unanswered == 0, "a request got no answer")
                        try await expectKept(delivery, service, journal)
                    }
                )
            }
        }

        private func fillUnderLoad(_ service: Service, _ manager: NotifiedManager, _ journal: Journal) async throws {
            let client = await service.client
            let namespace = journal.namespace
            try await eventually("the load arrives") { try await accepted(client) > 1_000 }
            let filler = await service.settings.stateDirectory + "/filler"
            let fill = try await namespace.run(["/bin/sh", "-c", "cat /dev/zero > \(filler)"])
            #expect(fill.error.contains("No space left"), "\(fill.error)")
            try await eventually("the scrape shows what was refused") { try await refused(client) > 10 }
            manager.forget()
            try await eventually("the status line tells of it") {
                manager.values("STATUS").contains { $0.hasPrefix("no space left for the ledger, events are refused; ") }
            }
            try await eventually("the watchdog is served meanwhile") { manager.values("WATCHDOG").count >= 3 }
            #expect(!manager.isWatchdogOverdue)
            #expect(try await client.get("/-/healthy").status == 200)
            #expect(try await client.get("/-/ready").status == 200)
            #expect(try await client.metrics().value("dnp_telemetry_journal_up") == 1)

            let before = try await accepted(client)
            try FileManager.default.removeItem(atPath: namespace.outside(filler))
            try await eventually("it goes on when space returns") { try await accepted(client) > before + 1_000 }
            let refusedBefore = try await refused(client)
            try await eventually("nothing more is refused") { try await accepted(client) > before + 5_000 }
            #expect(try await refused(client) == refusedBefore)
        }

        private func expectKept(_ delivery: Delivery, _ service: Service, _ journal: Journal) async throws {
            try await waitUntilJournaled(service)
            for isRestarted in [false, true] {
                if isRestarted {
                    await service.kill()
                    try await service.start()
                }
                let page = try await service.client.metrics()
                expectCounted(delivery, on: page)
                #expect(page.ingestBalance == 0)
                #expect(page.journalBalance == 0)
            }
            try await expectExactlyOnce(delivery.acknowledged.identities, in: journal)
        }

        private func accepted(_ client: TelemetryClient) async throws -> Double {
            try await client.metrics().sum("dnp_telemetry_events_accepted_total")
        }

        private func refused(_ client: TelemetryClient) async throws -> Double {
            try await client.metrics().value("dnp_telemetry_ledger_refused_total", ["reason": "full"]) ?? 0
        }

        private func available(_ client: TelemetryClient) async throws -> Int {
            Int(try #require(try await client.metrics().value("dnp_telemetry_ledger_available_bytes")))
        }
    }
}
