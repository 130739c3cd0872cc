// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("full disk")
struct FullDiskTests {
    @Test("a full disk stops acknowledging, not serving, and nothing acknowledged is lost")
    func fullDiskStopsIngest() async throws {
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

    @Test("a service starts on a full disk after a stop or a kill, is scraped, and resumes ingest with free space")
    func startsOnFullDisk() async throws {
        try await MountNamespace.with { namespace in
            try await withService(
                in: namespace,
                prepare: { try await namespace.mountMemory(at: $0, options: "size=24m") },
                { service in
                    let filler = await service.settings.stateDirectory + "/filler"
                    let first = EventFactory(prefix: "before").cycles(0..<200)
                    _ = try await service.client.post(first.ndjson).receipt()
                    let next = EventFactory(prefix: "after").cycles(0..<500)
                    for isKilled in [false, false, true] {
                        if isKilled { await service.kill() } else { _ = try await service.terminate() }
                        let fill = try await namespace.run(["/bin/sh", "-c", "cat /dev/zero >> \(filler)"])
                        #expect(fill.error.contains("No space left"), "\(fill.error)")
                        try await service.start()
                        let client = await service.client
                        #expect(try await client.metrics().lifecycle == first.totals.series)
                        let answer = try await client.post(next.ndjson, key: "next")
                        #expect(answer.status == 503)
                        #expect(try answer.problem().type == "urn:dnp-telemetry:problem:ledger-full")
                    }
                    try FileManager.default.removeItem(atPath: namespace.outside(filler))
                    try await eventually("it goes on when space returns") {
                        try await service.client.post(next.ndjson, key: "next").status == 200
                    }
                    let page = try await service.client.metrics()
                    #expect(page.lifecycle == (first.totals + next.totals).series)
                    #expect(page.ingestBalance == 0)
                }
            )
        }
    }

    @Test("a failing disk is not reported as full, watchdog pings stop, and the service resumes once it works")
    func failingDisk() async throws {
        try MissingDependency.require(executable: "/usr/bin/prlimit", package: "util-linux")
        let manager = try NotifiedManager(watchdog: .seconds(2))
        // A write past RLIMIT_FSIZE fails with EFBIG where its signal is ignored.
        let wrapper = ["/usr/bin/env", "--ignore-signal=XFSZ"]
        try await withService(wrapper: wrapper, under: manager) { service in
            let client = await service.client
            func limit(_ bytes: String) async throws {
                let process = try #require(await service.identifier)
                let set = try await Command.run(["/usr/bin/prlimit", "--pid", "\(process)", "--fsize=\(bytes)"])
                #expect(set.status == .code(0), "\(set.error)")
            }
            let batch = EventFactory(prefix: "failing").cycles(0..<500)
            try await eventually("a ping") { !manager.values("WATCHDOG").isEmpty }
            try await limit("4096:unlimited")
            let answer = try await client.post(batch.ndjson, key: "failing")
            #expect(answer.status == 503)
            #expect(try answer.problem().type == "urn:dnp-telemetry:problem:ledger-failed")
            let page = try await client.metrics()
            #expect(page.value("dnp_telemetry_ledger_refused_total", ["reason": "failed"]) == 1)
            #expect(page.value("dnp_telemetry_ledger_refused_total", ["reason": "full"]) == 0)
            try await eventually("the manager would restart it") { manager.isWatchdogOverdue }
            manager.forget()
            try await limit("unlimited:unlimited")
            try await eventually("it takes events again") {
                try await client.post(batch.ndjson, key: "failing").status == 200
            }
            try await eventually("it pings again") { !manager.values("WATCHDOG").isEmpty }
            #expect(try await client.metrics().lifecycle == batch.totals.series)
        }
    }

    @Test(
        "a disk that fills under load: events are refused, scrapes go on, the watchdog pings, and ingest resumes with free space",
        .timeLimit(.minutes(3))
    )
    func diskFillsUnderLoad() async throws {
        let manager = try NotifiedManager(watchdog: .seconds(6))
        try await TestJournald.with { journal in
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

    private func fillUnderLoad(_ service: Service, _ manager: NotifiedManager, _ journal: TestJournald) async throws {
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
        try await eventually("the watchdog is served meanwhile") { manager.values("WATCHDOG").count >= 2 }
        #expect(!manager.isWatchdogOverdue)
        #expect(try await client.get("/-/healthy").status == 200)
        #expect(try await client.get("/-/ready").status == 200)
        #expect(try await client.metrics().value("dnp_telemetry_journal_up") == 1)

        let before = try await accepted(client)
        try FileManager.default.removeItem(atPath: namespace.outside(filler))
        try await eventually("it goes on when space returns") { try await accepted(client) > before + 1_000 }
        let refusedBefore = try await refused(client)
        try await eventually("nothing more is refused") { try await accepted(client) > before + 2_000 }
        #expect(try await refused(client) == refusedBefore)
    }

    private func expectKept(_ delivery: Delivery, _ service: Service, _ journal: TestJournald) async throws {
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

    @Test(
        "a ledger that filled its file system while journald was away takes events within 10 s of its return, and each is journaled once",
        .timeLimit(.minutes(4)),
        arguments: [(24, 1, false), (256, 4, true)]
    )
    func filledByItself(megabytes: Int, eventsPerCycle: Int, isKilled: Bool) async throws {
        try await TestJournald.with(running: false) { journal in
            try await withService(
                journal: .journald,
                in: journal.namespace,
                prepare: { try await journal.namespace.mountMemory(at: $0, options: "size=\(megabytes)m") },
                { service in
                    // It takes minutes to fill a large disk: a file of ballast takes most of it, and stays.
                    try await takeAllBut(1 << 20, of: service, in: journal.namespace)
                    var sent = try await fillWhileJournaldIsAway(service.client, eventsPerCycle)
                    try await eventually("the metric tells that there is hardly any room") {
                        let page = try await service.client.metrics()
                        return page.value("dnp_telemetry_ledger_room_bytes") ?? .nan < Double(1 << 18)
                    }
                    if isKilled {
                        await service.kill()
                        try await service.start()
                    }
                    try await journal.start()
                    let back = EventFactory(prefix: "back").cycles(0..<10)
                    try await eventually("events are taken again", within: .seconds(10)) {
                        try await service.client.post(back.ndjson).status == 200
                    }
                    sent += back
                    for number in 0..<5 {
                        let batch = EventFactory(prefix: "after-\(number)").cycles(0..<20)
                        try await eventually("events go on", within: .seconds(10)) {
                            try await service.client.post(batch.ndjson, key: "after-\(number)").status == 200
                        }
                        sent += batch
                    }
                    try await waitUntilJournaled(service)
                    let page = try await service.client.metrics()
                    #expect(page.lifecycle == sent.totals.series)
                    #expect(page.ingestBalance == 0)
                    #expect(page.journalBalance == 0)
                    #expect(page.sum("dnp_telemetry_checkpoint_failures_total") == 0)
                    // Verdicts of cycles that time has closed are journaled beside them.
                    let entries = try await journal.entries(fields: ["DNP_EVENT", "DNP_SCHEDULE_ID"])
                    let events = entries.map(\.identity).filter { !$0.scheduleId.isEmpty }
                    #expect(events.count == sent.count)
                    let missing = Set(sent.identities).subtracting(events)
                    #expect(missing.isEmpty, "\(missing.count) are missing, such as \(missing.prefix(3))")
                }
            )
        }
    }

    /// Takes most of the disk, so that little fills the rest.
    private func takeAllBut(_ rest: Int, of service: Service, in namespace: MountNamespace) async throws {
        let room = try #require(try await service.client.metrics().value("dnp_telemetry_ledger_room_bytes"))
        let ballast = await service.settings.stateDirectory + "/ballast"
        let fill = try await namespace.run(["/usr/bin/fallocate", "-l", "\(Int(room) - rest)", ballast])
        #expect(fill.status == .code(0), "\(fill.error)")
    }

    /// Posts until posts have been refused for some turns of upkeep; returns what was acknowledged.
    private func fillWhileJournaldIsAway(_ client: TelemetryClient, _ eventsPerCycle: Int) async throws -> EventBatch {
        var sent = EventBatch()
        var number = 0
        var refusedSince: ContinuousClock.Instant?
        while refusedSince.map({ ContinuousClock.now - $0 < .milliseconds(500) }) ?? true {
            let factory = EventFactory(prefix: "fill-\(number)")
            let batch = eventsPerCycle == 1 ? factory.schedules(0..<100) : factory.cycles(0..<25)
            let answer = try await client.post(batch.ndjson, key: "\(number)")
            if answer.status == 200 {
                sent += batch
                number += 1
                refusedSince = nil
            } else {
                #expect(try answer.problem().type == "urn:dnp-telemetry:problem:ledger-full")
                refusedSince = refusedSince ?? ContinuousClock.now
            }
        }
        return sent
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
