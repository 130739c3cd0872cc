// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("kill -9")
struct KillTests {
    private static let rounds = 15

    @Test("fifteen kills under load of both apps lose nothing and count nothing twice", .timeLimit(.minutes(4)))
    func fifteenKills() async throws {
        let given = ProcessInfo.processInfo.environment["DNP_TELEMETRY_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...1_000_000)
        print("kill test: DNP_TELEMETRY_SEED=\(seed)")
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                try await run(service, journal: journal, seed: seed)
            }
        }
    }

    private func run(_ service: Service, journal: TestJournald, seed: UInt64) async throws {
        let client = await service.client
        let stop = StopSignal()
        func sender(_ number: UInt64, usesKeys: Bool, givesUp: Bool = false) -> Sender {
            Sender(
                client: client,
                name: "kill-\(number)",
                usesKeys: usesKeys,
                givesUp: givesUp,
                hasRuns: number.isMultiple(of: 2),
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
        try await eventually("the outcome of each run is counted", within: .seconds(60), every: .milliseconds(200)) {
            let page = try await client.metrics()
            return page.value("aiq_background_refresh_open_runs") == 0
        }
        expectCompleted(on: try await client.metrics())
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

@Suite("corrupt ledger")
struct CorruptLedgerTests {
    @Test("a ledger of garbage is set aside under a dated name, and the service starts")
    func garbageLedger() async throws {
        var random = SplitMix64(seed: 8)
        let garbage = Data((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        let batch = EventFactory(prefix: "corrupt").cycles(0..<10)
        try await withService { service in
            let client = await service.client
            let state = await service.settings.stateDirectory
            #expect(try await client.metrics().value("dnp_telemetry_ledger_set_aside") == 0)
            _ = try await client.post(batch.ndjson).receipt()
            #expect(try await service.terminate() == .code(0))
            try garbage.write(to: URL(fileURLWithPath: "\(state)/ledger.sqlite"))

            try await service.start()
            #expect(try await client.metrics().value("dnp_telemetry_ledger_set_aside") == 1)
            let aside = try setAside(in: state, holding: garbage)
            let name = try #require(aside, "the old file is not there any more")
            #expect(name.contains("\(Calendar.current.component(.year, from: Date()))"), "no date in \(name)")
            #expect(await service.log.contains(name), "the log does not name \(name)")
            #expect(try await client.post(batch.ndjson).receipt().accepted == batch.count)

            #expect(try await service.terminate() == .code(0))
            try await service.start()
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_ledger_set_aside") == 0)
            #expect(page.lifecycle == batch.totals.series)
            #expect(try setAside(in: state, holding: garbage) == name)
        }
    }

    @Test("a damaged batch behind the checkpoint is skipped alone and told: by verify, the log and a metric")
    func damagedNewestBatch() async throws {
        try await withService(journal: .journald, options: withoutJournald) { service in
            let client = await service.client
            let state = await service.settings.stateDirectory
            _ = try await client.post(EventFactory(prefix: "saved").cycles(0..<10).ndjson).receipt()
            #expect(try await service.terminate() == .code(0))
            try await service.start()
            var kept = EventFactory(prefix: "saved").cycles(0..<10)
            for number in 0..<20 {
                let batch = EventFactory(prefix: "new-\(number)").cycles(0..<5)
                _ = try await client.post(batch.ndjson).receipt()
                if number != 18 { kept += batch }
            }
            let lost = EventFactory(prefix: "new-18").cycles(0..<5).count
            await service.kill()
            // In the database's own pages, not in its log.
            try await StateFile.flip(Data("new-18-0".utf8), in: state)
            let before = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
            #expect(before.status == .code(1))
            let finding = try VerifyOutput(before)["batches"]?.findings.first ?? ""
            #expect(finding.contains("checksum"), "\(before.text)")

            try await service.start()
            let page = try await client.metrics()
            #expect(page.lifecycle == kept.totals.series)
            #expect(page.sum("dnp_telemetry_events_accepted_total") == Double(kept.count))
            #expect(page.value("dnp_telemetry_unreadable_batches_total") == 1)
            #expect(page.value("dnp_telemetry_ledger_set_aside") == 0)
            #expect(page.value("dnp_telemetry_ledger_lives") == 1)
            #expect(await service.log.contains("damaged batches of the ledger were skipped"))
            #expect(await service.log.contains("events=\(lost)"))
            let next = EventFactory(prefix: "after").cycles(0..<5)
            #expect(try await client.post(next.ndjson).receipt().accepted == next.count)
            let after = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
            #expect(after.status == .code(1))
            #expect(try VerifyOutput(after)["batches"]?.findings.first == finding)

            // In the checkpoint it counts like any other, and is told as long as it is among the last ones.
            #expect(try await service.terminate() == .code(0))
            try await StateFile.flip(Data("new-17-0".utf8), in: state)
            try await service.start()
            let counted = try await client.metrics()
            #expect(counted.lifecycle == (kept.totals + next.totals).series)
            #expect(counted.value("dnp_telemetry_unreadable_batches_total") == 2)
            #expect(await service.log.contains("batches of the ledger are damaged whose events are counted"))
        }
    }

    @Test("a truncated ledger is set aside or read, and the service starts")
    func truncatedLedger() async throws {
        let batch = EventFactory(prefix: "cut").cycles(0..<2_000)
        try await withService { service in
            let client = await service.client
            let path = await service.settings.stateDirectory + "/ledger.sqlite"
            _ = try await client.post(batch.ndjson).receipt()
            #expect(try await service.terminate() == .code(0))
            let whole = contents(of: path)
            try whole.prefix(whole.count / 2 + 100).write(to: URL(fileURLWithPath: path))
            try await service.start()
            let page = try await client.metrics()
            let isAside = page.value("dnp_telemetry_ledger_set_aside") == 1
            #expect(isAside || page.lifecycle == batch.totals.series, "counters gone, and not a word")
            let next = EventFactory(prefix: "after").cycles(0..<5)
            #expect(try await client.post(next.ndjson).receipt().accepted == next.count)
        }
    }

    private func setAside(in state: String, holding bytes: Data) throws -> String? {
        let names = try FileManager.default.subpathsOfDirectory(atPath: state)
        return names.first { contents(of: "\(state)/\($0)") == bytes }
    }
}
