// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("lives of the ledger")
struct LedgerLifeTests {
    /// Sends a batch that must be acknowledged whole.
    private func send(_ batch: EventBatch, to service: Service) async throws {
        let receipt = try await service.client.post(batch.ndjson, within: .seconds(10)).receipt()
        #expect(receipt == Answer.Receipt(accepted: batch.count, duplicates: 0, rejected: []))
    }

    private func copy(_ state: String, to other: String) throws {
        try? FileManager.default.removeItem(atPath: other)
        try FileManager.default.copyItem(atPath: state, toPath: other)
    }

    private func missing(_ service: Service, _ witness: String) async throws -> Double? {
        try await service.client.metrics().value("dnp_telemetry_ledger_missing_events_total", ["witness": witness])
    }

    /// The line that says since when missing events are counted.
    private func missingSince(_ service: Service, _ witness: String) async throws -> Substring? {
        let page = try await service.client.scrape([("Accept", "application/openmetrics-text")]).text
        let name = #"dnp_telemetry_ledger_missing_events_created{witness="\#(witness)"} "#
        return page.split(separator: "\n").first { $0.hasPrefix(name) }
    }

    /// The numbers in the journal under each life, each of which must be there once.
    private func numbers(in journal: TestJournald) async throws -> [String: Set<Int>] {
        var numbers: [String: Set<Int>] = [:]
        for entry in try await journal.entries(fields: ["DNP_SEQ", "DNP_LEDGER"]) {
            let isNew = numbers[entry["DNP_LEDGER"] ?? "", default: []].insert(Int(entry["DNP_SEQ"] ?? "") ?? -1)
                .inserted
            #expect(isNew, "number \(entry["DNP_SEQ"] ?? "") of a life stands twice")
        }
        return numbers
    }

    @Test(
        "an older copy of the state directory is told, and everything that is accepted after it is journaled",
        arguments: [true, false]
    )
    func olderCopy(journaldRunsAtStart: Bool) async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                try await withService(journal: .journald, in: journal.namespace) { service in
                    let state = await service.settings.stateDirectory
                    let first = EventFactory(prefix: "first").cycles(0..<13)
                    let second = EventFactory(prefix: "second").cycles(0..<132)
                    let third = EventFactory(prefix: "third").cycles(0..<140)
                    try await send(first, to: service)
                    try await waitUntilJournaled(service)
                    #expect(try await service.terminate() == .code(0))
                    try copy(state, to: "\(directory)/older")
                    try await service.start()
                    try await send(second, to: service)
                    try await waitUntilJournaled(service)
                    await service.kill()

                    try copy("\(directory)/older", to: state)
                    if !journaldRunsAtStart { try await journal.stop() }
                    try await service.start()
                    try await send(third, to: service)
                    if !journaldRunsAtStart {
                        let page = try await service.client.metrics()
                        #expect(page.value("dnp_telemetry_journal_pending_entries") == Double(third.count))
                        #expect(page.value("dnp_telemetry_ledger_lives") == 1, "nothing shows it so far")
                        try await journal.start()
                    }
                    try await waitUntilJournaled(service)

                    let page = try await service.client.metrics()
                    #expect(page.value("dnp_telemetry_ledger_lives") == 2)
                    #expect(try await missing(service, "journal") == Double(second.count))
                    #expect(page.lifecycle == (first.totals + third.totals).series)
                    #expect(await service.log.contains("the ledger is older than its journal"))
                    #expect(await service.log.contains("\(second.count) events that were acknowledged are missing"))
                    var counts: [EventIdentity: Int] = [:]
                    for entry in try await journal.entries(fields: ["DNP_EVENT", "DNP_SCHEDULE_ID"]) {
                        counts[entry.identity, default: 0] += 1
                    }
                    let all = (first + second + third).identities
                    #expect(counts == Dictionary(uniqueKeysWithValues: all.map { ($0, 1) }), "each event stands once")
                    let numbers = try await numbers(in: journal)
                    let end = first.count + third.count
                    let expected = [Set(1...first.count + second.count), Set(first.count + 1...end)]
                    #expect(numbers.values.sorted { $0.count < $1.count } == expected.sorted { $0.count < $1.count })

                    try await expectToldByVerify(service, missing: second.count, after: first.count)
                    // Killed and restarted, it is the same life.
                    await service.kill()
                    try await service.start()
                    try await send(EventFactory(prefix: "fourth").cycles(0..<5), to: service)
                    try await waitUntilJournaled(service)
                    #expect(try await service.client.metrics().value("dnp_telemetry_ledger_lives") == 2)
                    #expect(try await self.numbers(in: journal).count == 2)
                }
            }
        }
    }

    @Test("a service killed again and again on an older copy of its ledger journals each event once, in one new life")
    func killedOnOlderCopy() async throws {
        try await TestJournald.with { journal in
            try await withTemporaryDirectory { directory in
                try await withService(journal: .journald, in: journal.namespace) { service in
                    let state = await service.settings.stateDirectory
                    var sent = EventFactory(prefix: "first").cycles(0..<10)
                    try await send(sent, to: service)
                    try await waitUntilJournaled(service)
                    #expect(try await service.terminate() == .code(0))
                    try copy(state, to: "\(directory)/older")
                    try await service.start()
                    let lost = EventFactory(prefix: "lost").cycles(0..<500)
                    try await send(lost, to: service)
                    try await waitUntilJournaled(service)
                    await service.kill()
                    try copy("\(directory)/older", to: state)

                    // From before the comparison with the journal to the middle of the delivery.
                    for round in 0..<6 {
                        try await service.start()
                        let batch = EventFactory(prefix: "round-\(round)").cycles(0..<100)
                        try await send(batch, to: service)
                        sent += batch
                        if round >= 2 {
                            try await eventually("the journal was compared in round \(round)") {
                                try await service.client.metrics().value("dnp_telemetry_ledger_lives") == 2
                            }
                        }
                        if round >= 4 {
                            try await eventually("some of it is written in round \(round)") {
                                try await service.client.metrics().sum("dnp_telemetry_journal_entries_written_total")
                                    > 0
                            }
                        }
                        await service.kill()
                    }
                    try await service.start()
                    try await waitUntilJournaled(service)
                    #expect(try await service.client.metrics().value("dnp_telemetry_ledger_lives") == 2)
                    #expect(try await missing(service, "journal") == Double(lost.count))
                    let first = EventFactory(prefix: "first").cycles(0..<10).count
                    let numbers = try await numbers(in: journal).values.sorted { ($0.min() ?? 0) < ($1.min() ?? 0) }
                    let expected: [Set<Int>] = [Set(1...first + lost.count), Set(first + 1...sent.count)]
                    #expect(numbers == expected)
                    let entries = try await journal.entries(fields: ["DNP_EVENT", "DNP_SCHEDULE_ID"])
                    #expect(Set(entries.map(\.identity)) == Set((sent + lost).identities))
                    #expect(entries.count == sent.count + lost.count)
                }
            }
        }
    }

    private func expectToldByVerify(_ service: Service, missing: Int, after: Int) async throws {
        let command = try await Command.ledger(service, "verify", "--format", "json")
        #expect(command.status == .code(1))
        let output = try VerifyOutput(command)
        #expect(output.failed == ["lives"], "\(command.text)")
        #expect(output["lives"]?.figures["missing"] == UInt64(missing))
        let finding = output["lives"]?.findings.first ?? ""
        #expect(
            finding.hasPrefix("\(missing) acknowledged events are missing: numbers \(after + 1) to \(after + missing)")
        )
        #expect(output["journal"]?.figures["history"] == UInt64(missing))
        #expect(output["sums"]?.figures["pending"] == 0)
    }

    enum LogDamage: String, CaseIterable {
        case flippedByte, cut, deleted, header
    }

    @Test(
        "a write-ahead log that is damaged, cut or deleted is told with the number of missing events",
        arguments: LogDamage.allCases
    )
    func damagedLog(damage: LogDamage) async throws {
        try await withService { service in
            let log = await service.settings.stateDirectory + "/ledger.sqlite-wal"
            var sent = 0
            for number in 0..<30 {
                let batch = EventFactory(prefix: "log-\(number)").cycles(0..<40)
                try await send(batch, to: service)
                sent += batch.count
                guard number == 0, damage != .header else { continue }
                // Write the log back, so that the database has events without it.
                #expect(try await service.terminate() == .code(0))
                try await service.start()
            }
            await service.kill()
            switch damage {
            case .flippedByte:
                var bytes = contents(of: log)
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: URL(fileURLWithPath: log))
            case .cut: try contents(of: log).prefix(contents(of: log).count / 2).write(to: URL(fileURLWithPath: log))
            case .deleted: try FileManager.default.removeItem(atPath: log)
            case .header:
                var bytes = contents(of: log)
                bytes[0] ^= 0xFF
                try bytes.write(to: URL(fileURLWithPath: log))
            }
            let beside = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
            #expect(beside.status == .code(1), "verify tells it before the start, too: \(beside.error)")
            #expect(try VerifyOutput(beside)["lives"]?.findings.first?.contains("events are missing") == true)

            let damaged = contents(of: log)
            try await service.start()
            let copy = await service.settings.stateDirectory + "/ledger-damaged.sqlite-wal"
            #expect(contents(of: copy) == damaged)
            #expect(await service.log.contains("kept as it was found in \(copy)") == (damage != .deleted))
            let page = try await service.client.metrics()
            let kept = Int(page.sum("dnp_telemetry_events_accepted_total"))
            #expect(kept < sent, "the damage is behind what the log had given back")
            #expect(try await missing(service, "mark") == Double(sent - kept))
            // Without a journal none was compared, so that the numbers before the loss get a life, too, where there are any.
            let lives = kept > 0 ? 3.0 : 2.0
            #expect(page.value("dnp_telemetry_ledger_lives") == lives)
            #expect(await service.log.contains("\(sent - kept) events in "))

            try await send(EventFactory(prefix: "after").cycles(0..<10), to: service)
            let verified = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
            #expect(verified.status == .code(1))
            #expect(try VerifyOutput(verified).failed == ["lives"], "\(verified.text)")
            #expect(try VerifyOutput(verified)["lives"]?.figures["missing"] == UInt64(sent - kept))
            let since = try #require(try await missingSince(service, "mark"))
            await service.kill()
            try await service.start()
            #expect(try await missing(service, "mark") == Double(sent - kept), "it is not forgotten, nor told twice")
            #expect(try await missingSince(service, "mark") == since)
            #expect(try await service.client.metrics().value("dnp_telemetry_ledger_lives") == lives)
        }
    }

    @Test("a ledger that lost its log and its mark begins a new life, under which everything that follows is journaled")
    func lostLogAndMark() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let state = await service.settings.stateDirectory
                let first = EventFactory(prefix: "first").cycles(0..<30)
                try await send(first, to: service)
                try await waitUntilJournaled(service)
                await service.kill()
                for name in ["ledger.sqlite-wal", "ledger.mark"] {
                    try FileManager.default.removeItem(atPath: "\(state)/\(name)")
                }
                let before = try await Command.ledger(service, "verify", "--no-journal", "--format", "json")
                #expect(before.status == .code(1))
                #expect(try VerifyOutput(before).failed == ["lives"], "\(before.text)")

                try await service.start()
                let next = EventFactory(prefix: "next").cycles(0..<20)
                try await send(next, to: service)
                try await waitUntilJournaled(service)
                let page = try await service.client.metrics()
                #expect(page.lifecycle == next.totals.series)
                #expect(page.value("dnp_telemetry_ledger_lives") == 2)
                #expect(await service.log.contains("the ledger's mark is missing or unreadable"))
                let numbers = try await numbers(in: journal).values.sorted { $0.count > $1.count }
                #expect(numbers == [Set(1...first.count), Set(1...next.count)])
                try await eventually("what the journal shows is known to be missing") {
                    try await missing(service, "journal") == Double(first.count)
                }
            }
        }
    }

    @Test("a mark that cannot be written is told in log and metrics and holds nothing up, until it is written again")
    func unwritableMark() async throws {
        try await MountNamespace.with { namespace in
            try await withService(in: namespace) { service in
                let mark = await service.settings.stateDirectory + "/ledger.mark"
                func mount(_ arguments: String...) async throws {
                    let command = try await namespace.run(arguments)
                    #expect(command.status == .code(0), "\(command.error)")
                }
                var sent = EventFactory(prefix: "marked").cycles(0..<10)
                try await send(sent, to: service)
                await service.kill()
                try await mount("/usr/bin/mount", "--bind", mark, mark)
                try await mount("/usr/bin/mount", "-o", "remount,bind,ro", mark)

                try await service.start()
                let unmarked = EventFactory(prefix: "unmarked").cycles(0..<100)
                try await send(unmarked, to: service)
                sent += unmarked
                var page = try await service.client.metrics()
                #expect(page.value("dnp_telemetry_ledger_unmarked_events") == Double(unmarked.count))
                #expect(page.sum("dnp_telemetry_ledger_mark_failures_total") > 0)
                #expect(page.lifecycle == sent.totals.series)
                try await eventually("the log tells it") {
                    await service.log.contains("ledger.mark cannot be written (Read-only file system)")
                }

                try await mount("/usr/bin/umount", mark)
                let marked = EventFactory(prefix: "again").cycles(0..<10)
                try await send(marked, to: service)
                sent += marked
                #expect(try await service.client.metrics().value("dnp_telemetry_ledger_unmarked_events") == 0)
                try await eventually("the log tells that, too") {
                    await service.log.contains("the ledger's mark is written again")
                }
                await service.kill()
                try await service.start()
                page = try await service.client.metrics()
                #expect(page.lifecycle == sent.totals.series)
                #expect(page.value("dnp_telemetry_ledger_lives") == 1)
            }
        }
    }

    @Test("what a damaged log loses stays in the journal, and what follows is journaled under the new life")
    func damagedLogWithJournal() async throws {
        try await TestJournald.with { journal in
            try await withService(journal: .journald, in: journal.namespace) { service in
                let log = await service.settings.stateDirectory + "/ledger.sqlite-wal"
                var sent = EventBatch()
                for number in 0..<30 {
                    let batch = EventFactory(prefix: "log-\(number)").cycles(0..<50)
                    try await send(batch, to: service)
                    sent += batch
                    // That the journal was compared is then stored at the front of the log, which is kept.
                    if number == 0 { try await waitUntilJournaled(service) }
                }
                try await waitUntilJournaled(service)
                await service.kill()
                try contents(of: log).prefix(contents(of: log).count / 3).write(to: URL(fileURLWithPath: log))
                try await service.start()
                let next = EventFactory(prefix: "after").cycles(0..<200)
                try await send(next, to: service)
                try await waitUntilJournaled(service)
                let page = try await service.client.metrics()
                let kept = Int(page.sum("dnp_telemetry_events_accepted_total")) - next.count
                #expect(try await missing(service, "mark") == Double(sent.count - kept))
                #expect(try await missing(service, "journal") == 0, "the journal shows what the mark did")
                let numbers = try await numbers(in: journal).values.sorted { $0.count > $1.count }
                #expect(numbers == [Set(1...sent.count), Set(kept + 1...kept + next.count)])
                let verified = try await Command.ledger(service, "verify", "--format", "json")
                #expect(try VerifyOutput(verified).failed == ["lives"], "\(verified.text)")
            }
        }
    }
}
