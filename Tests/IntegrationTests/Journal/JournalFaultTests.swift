// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("journal faults")
struct JournalFaultTests {
    /// Sends these cycles in batches of a hundred, with a scrape after each; all must be acknowledged.
    private func send(_ cycles: Range<Int>, prefix: String, to client: TelemetryClient) async throws -> EventBatch {
        var sent = EventBatch()
        for start in stride(from: cycles.lowerBound, to: cycles.upperBound, by: 100) {
            let batch = EventFactory(prefix: prefix).cycles(start..<min(start + 100, cycles.upperBound))
            let receipt = try await client.post(batch.ndjson, within: .seconds(10)).receipt()
            #expect(receipt == Answer.Receipt(accepted: batch.count, duplicates: 0, rejected: []))
            sent += batch
            let page = try await client.metrics()
            #expect(page.lifecycle == sent.totals.series)
            #expect(page.journalBalance == 0)
            expectLagWherePending(page)
        }
        return sent
    }

    /// The lag is above 0 just where an event waits for the journal.
    private func expectLagWherePending(_ page: MetricsPage) {
        let pending = page.sum("dnp_telemetry_journal_pending_entries")
        #expect((page.sum("dnp_telemetry_journal_lag_seconds") > 0) == (pending > 0), "\(pending) entries are pending")
    }

    @Test("the journal's lag is above 0 on each page with pending entries, beside ingest that the journal follows")
    func lagBesideIngest() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                _ = try await send(0..<400, prefix: "followed", to: await service.client)
                try await eventually("the journal has all, and the lag was right until then") {
                    let page = try await service.client.metrics()
                    expectLagWherePending(page)
                    return page.isJournalComplete
                }
            }
        }
    }

    @Test("journald stopped for 10,000 events: ingest and scrapes go on, and the journal catches up")
    func journaldStopped() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                try await eventually("the journal is reached") {
                    try await client.metrics().value("dnp_telemetry_journal_up") == 1
                }
                try await journal.stop()
                let sent = try await send(0..<2_632, prefix: "stopped", to: client)
                #expect(sent.count >= 10_000)
                let page = try await client.metrics()
                #expect(page.value("dnp_telemetry_journal_up") == 0)
                #expect(page.value("dnp_telemetry_journal_pending_entries") == Double(sent.count))
                #expect(page.sum("dnp_telemetry_journal_lag_seconds") > 0)
                try await journal.start()
                try await waitUntilJournaled(service)
                try await expectExactlyOnce(sent.identities, in: journal)
                let after = try await client.metrics()
                #expect(after.value("dnp_telemetry_journal_up") == 1)
                #expect(after.value("dnp_telemetry_journal_lag_seconds") == 0)
            }
        }
    }

    @Test("journald absent at the start: the service starts, and the journal catches up")
    func journaldAbsent() async throws {
        try await TestJournald.with(running: false) { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                let sent = try await send(0..<300, prefix: "absent", to: client)
                await service.kill()
                try await service.start()
                #expect(try await client.metrics().value("dnp_telemetry_journal_up") == 0)
                try await journal.start()
                try await waitUntilJournaled(service)
                try await expectExactlyOnce(sent.identities, in: journal)
            }
        }
    }

    @Test("journald suspended during ingest: nothing blocks, and each event is journaled once in the end")
    func journaldSuspended() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                await journal.suspend()
                let sent: EventBatch
                do {
                    sent = try await send(0..<500, prefix: "suspended", to: client)
                    let pending = try await client.metrics().value("dnp_telemetry_journal_pending_entries")
                    #expect(pending == Double(sent.count), "nothing can be confirmed now")
                } catch {
                    await journal.resume()
                    throw error
                }
                await journal.resume()
                try await waitUntilJournaled(service)
                try await expectExactlyOnce(sent.identities, in: journal)
            }
        }
    }

    @Test("journald killed with a full queue: what it had not read is sent again, once")
    func journaldKilledWithFullQueue() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let client = await service.client
                await journal.suspend()
                let sent = try await send(0..<500, prefix: "queue", to: client)
                try await eventually("some of it is on its way") {
                    try await client.metrics().sum("dnp_telemetry_journal_entries_written_total") > 0
                }
                await journal.kill()
                try await journal.start()
                try await waitUntilJournaled(service)
                try await expectExactlyOnce(sent.identities, in: journal)
                let page = try await client.metrics()
                let again =
                    page.sum("dnp_telemetry_journal_entries_lost_total")
                    + page.sum("dnp_telemetry_journal_entries_retried_total")
                #expect(again > 0, "the queue died with journald")
            }
        }
    }

    @Test("journald rotated and restarted under load: each event is journaled once in the end")
    func journaldRotatedAndRestarted() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                try await underLoad(service, journal: journal, name: "rotate", rounds: 4) { round in
                    if round.isMultiple(of: 2) {
                        try await journal.rotate()
                    } else {
                        try await journal.stop()
                        try await journal.start()
                    }
                }
            }
        }
    }

    @Test("journald killed under load, three times: each event is journaled once in the end")
    func journaldKilled() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                try await underLoad(service, journal: journal, name: "jkill") { _ in
                    await journal.kill()
                    try await journal.start()
                }
            }
        }
    }

    @Test("the service killed under load, five times: each event is journaled once in the end")
    func serviceKilledWithJournal() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                try await underLoad(service, journal: journal, name: "skill", rounds: 5) { _ in
                    await service.kill()
                    try await service.start()
                }
            }
        }
    }

    @Test("service and journald killed together under load: each event is journaled once in the end")
    func serviceAndJournaldKilled() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                try await underLoad(service, journal: journal, name: "both") { round in
                    if round.isMultiple(of: 2) {
                        await journal.kill()
                        await service.kill()
                        try await journal.start()
                        try await service.start()
                    } else {
                        await service.kill()
                        await journal.kill()
                        try await service.start()
                        try await journal.start()
                    }
                }
            }
        }
    }

    /// Runs two senders, disturbs each round once at least 500 more events are confirmed, and checks the end.
    private func underLoad(
        _ service: Service,
        journal: TestJournald,
        name: String,
        rounds: Int = 3,
        disturb: (Int) async throws -> Void
    ) async throws {
        let client = await service.client
        let stop = StopSignal()
        async let first = Sender(client: client, name: "\(name)-a", usesKeys: true, seed: 21).run(until: stop)
        async let second = Sender(client: client, name: "\(name)-b", cycles: 1...5, seed: 22).run(until: stop)
        do {
            for round in 1...rounds {
                let before = try await client.metrics().sum("dnp_telemetry_journal_entries_confirmed_total")
                try await eventually("500 more are confirmed before round \(round)") {
                    let now = try await client.metrics().sum("dnp_telemetry_journal_entries_confirmed_total")
                    return now >= before + 500
                }
                try await disturb(round)
            }
        } catch {
            stop.set()
            throw error
        }
        stop.set()
        let delivery = try await first + second
        try await waitUntilJournaled(service)
        let page = try await client.metrics()
        expectCounted(delivery, on: page)
        #expect(page.journalBalance == 0 && page.ingestBalance == 0)
        try await expectExactlyOnce(delivery.acknowledged.identities, in: journal)
    }
}

extension InPairs {
    @Suite("a journal without space")
    struct FullJournalTests {
        @Test(
            "when journald turns from /var to /run and back under load, entries are read back without waiting for a timeout"
        )
        func journaldTurnsToRun() async throws {
            try await TestJournald.with { journal in
                try await withService(journal: .journald, in: journal.namespace) { service in
                    let client = await service.client
                    let stop = StopSignal()
                    async let sender = Sender(client: client, name: "turn", seed: 41).run(until: stop)
                    func confirmed() async throws -> Double {
                        try await client.metrics().sum("dnp_telemetry_journal_entries_confirmed_total")
                    }
                    do {
                        try await eventually("the load arrives") { try await confirmed() >= 500 }
                        for command in ["--relinquish-var", "--flush"] {
                            let turn = try await journal.namespace.run(["/usr/bin/journalctl", command])
                            #expect(turn.status == .code(0), "\(turn.error)")
                            let accepted = try await client.metrics().sum("dnp_telemetry_events_accepted_total")
                            try await eventually("all before it are confirmed after \(command)") {
                                try await confirmed() >= accepted
                            }
                        }
                    } catch {
                        stop.set()
                        throw error
                    }
                    stop.set()
                    let delivery = try await sender
                    try await waitUntilJournaled(service)
                    // Entries that are not read back for five seconds lead to one.
                    let reconnects = try await client.metrics().value("dnp_telemetry_journal_reconnects_total")
                    #expect(reconnects == 0)
                    try await expectExactlyOnce(delivery.acknowledged.identities, in: journal)
                }
            }
        }

        @Test(
            "a journal on a full disk catches up within a minute once there is space, with each entry once",
            .timeLimit(.minutes(5))
        )
        func journalDiskFull() async throws {
            try await TestJournald.with(running: false) { journal in
                let namespace = journal.namespace
                try await namespace.mountMemory(at: "/var/log/journal", options: "size=96m")
                try await journal.start()
                try await withService(journal: .journald, in: namespace) { service in
                    let client = await service.client
                    let filler = "/var/log/journal/filler"
                    let fill = try await namespace.run(["/bin/sh", "-c", "cat /dev/zero > \(filler)"])
                    #expect(fill.error.contains("No space left"), "\(fill.error)")
                    var sent = EventBatch()
                    for round in 0..<10 {
                        let batch = EventFactory(prefix: "full-\(round)").cycles(0..<500)
                        _ = try await client.post(batch.ndjson).receipt()
                        sent += batch
                    }
                    let remove = try await namespace.run(["/bin/rm", filler])
                    #expect(remove.status == .code(0))
                    try await waitUntilJournaled(service, within: .seconds(60))
                    try await expectExactlyOnce(sent.identities, in: journal)
                }
            }
        }
    }
}
