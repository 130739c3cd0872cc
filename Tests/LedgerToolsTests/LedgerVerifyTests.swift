// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import RefreshLifecycle
import TestSupport
import Testing

@testable import LedgerState
@testable import LedgerTools
@testable import PrefetchLifecycle
@testable import TextOutput

@Suite("Verifying a ledger")
struct LedgerVerifyTests {
    private static let batches = (0..<3).map { batch in
        (0..<4).map { EventText.scheduled("id-\(batch)-\($0)") }
    }

    /// The checks that failed, with what they found.
    private func failures(_ directory: TemporaryDirectory) throws -> [LedgerCheck.Name: [String]] {
        let verdict = try LedgerVerify(stateDirectory: directory.path).verdict(.none)
        #expect(verdict.checks.map(\.name) == LedgerCheck.Name.allCases)
        let failed = verdict.checks.filter { $0.result == .failed }
        #expect(verdict.isSound == failed.isEmpty)
        return Dictionary(uniqueKeysWithValues: failed.map { ($0.name, $0.findings) })
    }

    @Test("ledger verify finds nothing after restarts and crashes", arguments: 1...4 as ClosedRange<UInt64>)
    func sound(seed: UInt64) async throws {
        #expect(try failures(try await KeptLedger(seed: seed).directory) == [:])
    }

    @Test("ledger verify finds nothing in an empty one")
    func ledgerVerifyEmpty() async throws {
        #expect(try failures(try await KeptLedger().directory) == [:])
    }

    @Test("ledger verify finds nothing while batches are written and deleted")
    func ledgerVerifyBeside() async throws {
        let directory = try TemporaryDirectory()
        _ = try InstallationKey(directory: directory.path)
        let pipeline = try Pipeline(in: directory, tickInterval: .milliseconds(1))
        let reader = pipeline.ledger.reader
        for round in 0..<20 {
            _ = try await pipeline.submit([EventText.scheduled("a-\(round)"), EventText.scheduled("a-0")])
            pipeline.clock.advance(seconds: 6)
            #expect(try failures(directory) == [:])
            await waitUntil("a checkpoint is saved") { (try? reader.position(of: LedgerProjection.name)) != nil }
            let saved = try #require(try reader.position(of: LedgerProjection.name)?.position)
            _ = try pipeline.ledger.prune(upTo: saved, keepSince: .max)
            #expect(try failures(directory) == [:])
        }
        #expect(try reader.statistics().pruned.batch > 0)
        try await pipeline.close()
    }

    @Test("ledger verify and rebuild name a key that is not the ledger's")
    func otherKey() async throws {
        let kept = try await KeptLedger(Self.batches)
        let own = try #require(try InstallationKey.load(from: kept.path))
        let ledger = try EventLedger.openExisting(directory: kept.path, durability: .process)
        try KeyFingerprint(of: own).save(to: ledger, now: startOfTest)
        try ledger.close()
        #expect(try failures(kept.directory) == [:])
        let verdict = try LedgerVerify(stateDirectory: kept.path).verdict(.none)
        #expect(verdict.text(style: .plain, isBrief: false).contains("installation.key is the key of this ledger"))
        #expect(!verdict.text(style: .plain, isBrief: false).contains(KeyFingerprint.projection))

        try Files.write([UInt8](1...32), to: kept.directory.file(InstallationKey.fileName))
        let failures = try failures(kept.directory)
        #expect(Set(failures.keys) == [.key])
        #expect(failures[.key]?.first?.contains("it is another key") == true)
        let error = #expect(throws: UnreadableLedger.self) { _ = try LedgerRebuild(stateDirectory: kept.path) }
        #expect(error?.description.contains("it is another key") == true)
        #expect(throws: UnreadableLedger.self) {
            _ = try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        }
    }

    @Test(
        "ledger verify, dump and rebuild say what a start says of a ledger that is empty or missing",
        arguments: [true, false]
    )
    func lostLedger(isEmpty: Bool) async throws {
        let kept = try await KeptLedger(Self.batches)
        let path = kept.directory.file("ledger.sqlite")
        if isEmpty { try Files.write([], to: path) } else { try FileManager.default.removeItem(atPath: path) }
        guard case .lost(let lost) = try LedgerPresence.find(in: kept.path) else {
            Issue.record("it does not count as lost")
            return
        }
        #expect(lost.description.contains(isEmpty ? "the file is empty" : "the file is missing"))
        let commands: [() throws -> Void] = [
            { _ = try LedgerVerify(stateDirectory: kept.path) },
            { _ = try LedgerDump(stateDirectory: kept.path, .events(nil), after: 0, limit: 1) },
            { _ = try LedgerRebuild(stateDirectory: kept.path) },
            { _ = try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest) },
        ]
        for command in commands {
            let error = #expect(throws: UnreadableLedger.self) { try command() }
            #expect(error?.description == lost.description)
        }
    }

    @Test("ledger verify names a batch with a changed byte")
    func flippedByte() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.flip("id-1-2")
        let failures = try failures(kept.directory)
        #expect(Set(failures.keys) == [.batches])
        #expect(failures[.batches]?.first?.hasPrefix("batch 2: checksum ") == true)
    }

    @Test("ledger verify names the place of a batch that is gone")
    func missingBatch() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.execute("DELETE FROM batch WHERE id = 2")
        let failures = try failures(kept.directory)
        #expect(
            failures == [.batches: ["batch 3 begins with event 9, and what is before it ends at batch 1, sequence 4"]]
        )
    }

    @Test("ledger verify sees a count that is not that of the records")
    func wrongCount() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.execute("UPDATE batch SET count = 5 WHERE id = 3")
        #expect(try failures(kept.directory)[.batches]?.contains("batch 3: 5 events expected, it holds 4") == true)
    }

    @Test("ledger verify sees a changed page of the accounts")
    func changedAccounts() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.execute("UPDATE state SET value = zeroblob(length(value)) WHERE key = CAST('accounts' AS BLOB)")
        let failures = try failures(kept.directory)
        #expect(failures[.checkpoint] == ["the checksum of page accounts is wrong"])
        #expect(failures[.sums] == ["the accounts of the checkpoint cannot be read"])
    }

    @Test("ledger verify sees accounts that do not add up, though their checksum is right")
    func wrongAccounts() async throws {
        let kept = try await KeptLedger(Self.batches)
        var accounts = IngestAccounts()
        accounts.add(IngestReceipt(), accepted: 11, origin: EventOrigin(.http, .json).rawValue)
        var changes = StateChanges()
        changes.put(IngestAccounts.stateKey, accounts.encoded)
        try kept.overwrite(changes)
        let failures = try failures(kept.directory)
        #expect(Set(failures.keys) == [.sums])
        #expect(failures[.sums]?.first == "at the checkpoint, accepted is 11 and the last event has number 12")
    }

    @Test("ledger verify sees effects and increments that do not add up to accepted events and counters")
    func wrongEffects() async throws {
        let kept = try await KeptLedger(Self.batches)
        var accounts = IngestAccounts()
        accounts.add(IngestReceipt(), accepted: 12, origin: EventOrigin(.http, .ndjson).rawValue)
        var tally = EffectTally()
        tally.add(.counted)
        accounts.add(tally, RefreshEffects(), of: 1, increments: 5)
        var changes = StateChanges()
        changes.put(IngestAccounts.stateKey, accounts.encoded)
        try kept.overwrite(changes)
        let failures = try failures(kept.directory)
        #expect(
            failures == [
                .sums: [
                    "at the checkpoint, accepted 12 is not counted 1 + repeated_stage 0 + informational 0 + late 0",
                    "at the checkpoint, the lifecycle's counters come to 12, and they grew by event 0 + client_counters 0 "
                        + "+ later 5",
                ]
            ]
        )
    }

    @Test("ledger verify finds nothing in a checkpoint of a version that noted no effects")
    func olderEffects() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.directory.makeCheckpointOlder()
        #expect(try failures(kept.directory) == [:])
    }

    @Test("ledger verify sees a page of the state that cannot be read back")
    func unreadablePage() async throws {
        let kept = try await KeptLedger(Self.batches)
        var changes = StateChanges()
        changes.put("fold/totals", [1, 2, 3])
        try kept.overwrite(changes)
        #expect(Set(try failures(kept.directory).keys) == [.checkpoint])
    }

    @Test("ledger verify sees a journal that is ahead of the ledger")
    func aheadPosition() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.execute(
            """
            INSERT INTO position (projection, sequence, batch, note, updated_at) VALUES ('journal', 13, 4, '0 ', 0)
            """
        )
        let failures = try failures(kept.directory)
        #expect(failures[.positions]?.first?.hasPrefix("journal is at batch 4, sequence 13, ahead") == true)
    }

    @Test("ledger verify sees batches deleted that no checkpoint holds")
    func uncounted() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.execute("DELETE FROM position", "UPDATE meta SET pruned_batch = 2, pruned_sequence = 8")
        #expect(try failures(kept.directory)[.positions]?.first?.contains("they are not counted") == true)
    }

    @Test("ledger verify sees that the key is missing, and makes none")
    func missingKey() async throws {
        let kept = try await KeptLedger(Self.batches)
        try FileManager.default.removeItem(atPath: kept.directory.file(InstallationKey.fileName))
        #expect(Set(try failures(kept.directory).keys) == [.key])
        #expect(!FileManager.default.fileExists(atPath: kept.directory.file(InstallationKey.fileName)))
    }

    @Test("ledger verify tells the same as text and as JSON")
    func rendering() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.flip("id-1-2")
        let verdict = try LedgerVerify(stateDirectory: kept.path).verdict(.none)
        let text = verdict.text(style: .plain)
        #expect(text.contains("\nFAILED  batches    3 batches with 8 events, numbers 1 to 12\n"))
        #expect(text.contains("\n          batch 2: checksum "))
        #expect(text.hasSuffix("\nunsound: 1 of 8 checks failed, 1 skipped\n"))
        #expect(verdict.text(style: .plain, isBrief: true).hasPrefix("FAILED  batches "))
        let object = try JSONSerialization.jsonObject(with: Data(verdict.json())) as? [String: Any]
        #expect(object?["verdict"] as? String == "unsound")
        #expect((object?["checks"] as? [[String: Any]])?.map { $0["result"] as? String }.contains("failed") == true)
    }
}

@Suite("Verifying a ledger's lives")
struct LivesVerifyTests {
    private func verdict(_ kept: KeptLedger) throws -> LedgerCheck {
        let checks = try LedgerVerify(stateDirectory: kept.path).verdict(.none).checks
        return try #require(checks.first { $0.name == .lives })
    }

    private static let batches = [
        [EventText.scheduled("id-0"), EventText.scheduled("id-1")], [EventText.scheduled("id-2")],
    ]

    @Test("ledger verify says how many events are missing when the mark is ahead, before and after the next start")
    func markAhead() async throws {
        let kept = try await KeptLedger(Self.batches)
        #expect(try verdict(kept).sentence == "one life")
        try kept.execute("DELETE FROM batch WHERE id >= 2", "DELETE FROM position")
        let before = try verdict(kept)
        #expect(
            before.findings == [
                "1 acknowledged events are missing: the ledger ends at batch 1, sequence 2, and its mark shows batch 3, "
                    + "sequence 3"
            ]
        )
        try EventLedger.open(directory: kept.path, durability: .process, now: startOfTest).ledger.close()
        let after = try verdict(kept)
        // The journal was not compared, so that the numbers before have a life, too.
        #expect(after.sentence.hasPrefix("3 lives; the newest, "))
        #expect(after.sentence.hasSuffix(", began after number 2"))
        #expect(after.findings.count == 1)
        #expect(after.findings.first?.hasPrefix("1 acknowledged events are missing: numbers 3 to 3 of life ") == true)
        #expect(after.findings.first?.hasSuffix(", as the mark showed") == true)
    }

    @Test("ledger verify names a mark that is missing or of another ledger", arguments: [true, false])
    func foreignMark(isMissing: Bool) async throws {
        let kept = try await KeptLedger(Self.batches)
        let mark = kept.directory.file("ledger.mark")
        try FileManager.default.removeItem(atPath: mark)
        if !isMissing {
            let other = try await KeptLedger(Self.batches)
            try FileManager.default.copyItem(atPath: other.directory.file("ledger.mark"), toPath: mark)
        }
        let check = try verdict(kept)
        #expect(check.result == .failed)
        #expect(
            check.findings.first?.hasPrefix(isMissing ? "ledger.mark is missing" : "ledger.mark is of life ") == true
        )
    }
}
