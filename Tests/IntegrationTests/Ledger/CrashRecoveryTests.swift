// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension EndToEnd {
    @Suite("kill -9")
    struct Kills {
        private static let rounds = 30

        @Test("thirty kills under load lose nothing and count nothing twice", .timeLimit(.minutes(4)))
        func thirtyRounds() async throws {
            let given = ProcessInfo.processInfo.environment["DNP_TELEMETRY_SEED"].flatMap { UInt64($0) }
            let seed = given ?? UInt64.random(in: 1...1_000_000)
            print("kill test: DNP_TELEMETRY_SEED=\(seed)")
            try await Journal.with { journal in
                try await withService(journal: .journald, in: journal.namespace) { service in
                    try await run(service, journal: journal, seed: seed)
                }
            }
        }

        private func run(_ service: Service, journal: Journal, seed: UInt64) async throws {
            let client = await service.client
            let stop = StopSignal()
            func sender(_ number: UInt64, usesKeys: Bool, givesUp: Bool = false) -> Sender {
                Sender(
                    client: client,
                    name: "kill-\(number)",
                    usesKeys: usesKeys,
                    givesUp: givesUp,
                    cycles: 1...8,
                    pause: .milliseconds(15),
                    seed: seed &+ number
                )
            }
            async let first = sender(1, usesKeys: true).run(until: stop)
            async let second = sender(2, usesKeys: true, givesUp: true).run(until: stop)
            async let third = sender(3, usesKeys: false).run(until: stop)
            async let fourth = sender(4, usesKeys: false, givesUp: true).run(until: stop)
            async let watch = scrape(client, until: stop)
            do {
                try await killRepeatedly(service, seed: seed)
            } catch {
                stop.set()
                throw error
            }
            stop.set()
            let delivery = try await first + second + third + fourth
            var counters = await watch
            try await waitUntilJournaled(service)
            let page = try await client.metrics()
            counters.observe(page)

            print(
                "kill test: \(delivery.acknowledged.count) events acknowledged, \(delivery.abandoned.count) given up, "
                    + "\(delivery.unanswered) requests cut off, \(delivery.duplicates) of their events already counted, "
                    + "\(counters.scrapes) scrapes"
            )
            #expect(delivery.unanswered > 0, "no kill met a request")
            #expect(counters.falls == [], "seed \(seed)")
            expectCounted(delivery, on: page)
            #expect(page.ingestBalance == 0)
            #expect(page.journalBalance == 0)
            try await expectExactlyOnce(
                delivery.acknowledged.identities,
                in: journal,
                optional: delivery.abandoned.identities
            )
        }

        @Test("what was acknowledged just before a kill is there after it", arguments: ["process", "power"])
        func acknowledgedThenKilled(durability: String) async throws {
            try await withService(options: ["--durability", durability]) { service in
                var totals = LifecycleTotals()
                for round in 0..<5 {
                    let batch = EventFactory(prefix: "ack-\(round)").cycles(0..<(round * 40 + 1))
                    _ = try await service.client.post(batch.ndjson).receipt()
                    await service.kill()
                    try await service.start()
                    totals += batch.totals
                    #expect(try await service.client.metrics().lifecycle == totals.series)
                }
            }
        }

        /// Two kills of three come when the service is ready, the third while it starts.
        private func killRepeatedly(_ service: Service, seed: UInt64) async throws {
            var random = SplitMix64(seed: seed)
            for round in 1...Self.rounds {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...250, using: &random)))
                await service.kill()
                if round % 3 == 0 {
                    try await service.launch()
                    try await Task.sleep(for: .milliseconds(Int.random(in: 1...100, using: &random)))
                    await service.kill()
                }
                try await service.start()
            }
        }

        /// Scrapes all the time, through every restart.
        private func scrape(_ client: TelemetryClient, until stop: StopSignal) async -> CounterWatch {
            var watch = CounterWatch()
            while !stop.isSet {
                if let page = try? await client.metrics() { watch.observe(page) }
                try? await Task.sleep(for: .milliseconds(5))
            }
            return watch
        }
    }
}
