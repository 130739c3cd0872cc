// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import MetricsRegistry
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState
@testable import LedgerTools
@testable import TextOutput

@Suite("A rebuild")
struct LedgerRebuildTests {
    private static let batches = (0..<3).map { batch in
        (0..<4).map { EventText.scheduled("id-\(batch)-\($0)") }
    }

    private func report(_ kept: KeptLedger) throws -> RebuildReport {
        try LedgerRebuild(try LedgerReader.open(directory: kept.path), EventText.identityKey).report()
    }

    /// A pipeline with a checkpoint, and with batches behind it that a later one may hold too.
    private func goneOn() async throws -> (TemporaryDirectory, Pipeline) {
        let directory = try TemporaryDirectory()
        var pipeline = try Pipeline(in: directory)
        _ = try await pipeline.submit(Self.batches[0])
        try await pipeline.close()
        pipeline = try Pipeline(in: directory)
        for lines in Self.batches[1...] { _ = try await pipeline.submit(lines) }
        return (directory, pipeline)
    }

    @Test(
        "a ledger rebuild is equal to what was saved over restarts, crashes, ticks and duplicates",
        arguments: 1...4 as ClosedRange<UInt64>
    )
    func equal(seed: UInt64) async throws {
        let kept = try await KeptLedger(seed: seed)
        let report = try report(kept)
        #expect(report.result == .equal)
        #expect(report.pages == [] && report.counters == [] && report.problems == [])
        #expect(report.savedPages > 3)
        #expect(report.saved == report.end)
        #expect(report.batches == UInt64(report.end.batch))
    }

    @Test(
        "a ledger rebuild is equal to what was saved under limits that a small disk halves, and after they are whole again",
        arguments: [[3], [3, 0], [3, 5]]
    )
    func halvedLimits(halvings: [Int]) async throws {
        let kept = try await KeptLedger(Self.batches)
        for count in halvings {
            let pipeline = try Pipeline(in: kept.directory)
            _ = try await pipeline.writer.submit(.limits(halvings: count))
            _ = try await pipeline.submit([EventText.scheduled("after-\(count)")])
            try await pipeline.close()
            let reader = try LedgerReader.open(directory: kept.path)
            var saved: [StateKey] = []
            _ = try reader.loadState(LedgerProjection.name) { (key, _) in saved.append(key) }
            #expect(saved.contains("limits"))
        }
        let report = try report(kept)
        #expect(report.pages == [] && report.counters == [] && report.problems == [])
        #expect(report.result == .equal)
    }

    @Test(
        "a ledger rebuild is equal to what was saved after the upgrade from a version that noted no effects",
        arguments: 5...7 as ClosedRange<UInt64>
    )
    func upgraded(seed: UInt64) async throws {
        let kept = try await KeptLedger(seed: seed)
        try kept.directory.makeCheckpointOlder()
        #expect(try self.report(kept).result == .equal)
        let pipeline = try Pipeline(in: kept.directory)
        #expect(pipeline.page.effectBalance == 0)
        for lines in Self.batches { _ = try await pipeline.submit(lines) }
        let page = pipeline.page
        try await pipeline.close()
        let report = try self.report(kept)
        #expect(report.pages == [] && report.counters == [] && report.problems == [])
        #expect(report.result == .equal)
        let reopened = try Pipeline(in: kept.directory)
        #expect(reopened.page.difference(from: page) == [])
        try await reopened.close()
    }

    @Test("a ledger rebuild of an earlier version's counts names the counters that differ and is not comparable")
    func countsOfEarlierVersion() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.directory.makeCheckpointContinueEarlierOne()
        #expect(try report(kept).result == .equal)
        var accounts = IngestAccounts()
        accounts.add(IngestReceipt(), accepted: 11, origin: EventOrigin(.http, .ndjson).rawValue)
        var changes = StateChanges()
        changes.put(IngestAccounts.stateKey, accounts.encoded)
        try kept.overwrite(changes)
        let report = try report(kept)
        #expect(report.result == .notComparable && report.continuesEarlierVersion)
        let text = report.text(style: .plain)
        #expect(text.contains("counter  dnp_telemetry_events_accepted_total  saved 11, rebuilt 12\n"))
        #expect(!text.contains("page  ") && text.contains("not comparable: the checkpoint for "))
        let written = try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        #expect(written.result == .notComparable)
        let again = try LedgerRebuild(stateDirectory: kept.path).report()
        #expect(again.result == .equal && again.continuesEarlierVersion)
        try kept.execute("UPDATE batch SET events = zeroblob(length(events)) WHERE id = 2")
        #expect(try LedgerRebuild(stateDirectory: kept.path).report().result == .different)
    }

    @Test(
        "a ledger rebuild of a ledger beside its service compares what the checkpoint holds, whatever it folds behind that"
    )
    func ledgerRebuildBeside() async throws {
        let (directory, pipeline) = try await goneOn()
        let report = try report(KeptLedger(in: directory))
        #expect(report.result == .equal)
        #expect(report.end == pipeline.ledger.position)
        #expect(report.saved != nil)
        try await pipeline.close()
    }

    @Test("a ledger rebuild of an empty ledger has nothing to compare and is equal")
    func ledgerRebuildEmpty() async throws {
        let kept = try await KeptLedger()
        let report = try report(kept)
        #expect(report.result == .equal)
        #expect(report.saved == nil)
    }

    @Test("a ledger rebuild names the pages and counters that differ, with both values")
    func tampered() async throws {
        let kept = try await KeptLedger(Self.batches)
        var accounts = IngestAccounts()
        accounts.add(IngestReceipt(), accepted: 11, origin: EventOrigin(.http, .ndjson).rawValue)
        var changes = StateChanges()
        changes.put(IngestAccounts.stateKey, accounts.encoded)
        changes.put(SourcePositions.key(of: 7), [UInt8](repeating: 0, count: 16))
        try kept.overwrite(changes)
        let report = try report(kept)
        #expect(report.result == .different)
        #expect(
            report.pages == [
                .init(name: "accounts", difference: .content),
                .init(name: #"source/\x00\x00\x00\x00\x00\x00\x00\x07"#, difference: .savedOnly),
            ]
        )
        let accepted = RebuildReport.Counter(
            name: "dnp_telemetry_events_accepted_total",
            saved: "11",
            rebuilt: "12"
        )
        #expect(report.counters.contains(accepted))
        #expect(report.text(style: .plain).contains("counter  \(accepted.name)  saved 11, rebuilt 12\n"))
        let object = try JSONSerialization.jsonObject(with: Data(report.json())) as? [String: Any]
        #expect(object?["result"] as? String == "different")
        #expect(object?["differentPages"] as? Int == 2)
    }

    @Test("a ledger rebuild names a page that cannot be read back, and the others that differ")
    func ledgerRebuildUnreadable() async throws {
        let kept = try await KeptLedger(Self.batches)
        var changes = StateChanges()
        changes.put("fold/cycles/what", [1])
        changes.put("fold/totals", [1, 2, 3])
        try kept.overwrite(changes)
        let report = try report(kept)
        #expect(report.result == .different)
        #expect(report.problems.count == 1)
        #expect(report.pages.map(\.name) == ["fold/cycles/what", "fold/totals"])
    }

    @Test("a ledger rebuild names a damaged batch")
    func ledgerRebuildDamagedBatch() async throws {
        let kept = try await KeptLedger(Self.batches)
        try kept.flip("id-1-2")
        let report = try report(kept)
        #expect(report.result == .different)
        #expect(report.problems.first?.hasPrefix("batch 2 is damaged") == true)
    }

    @Test(
        "a ledger rebuild says that it cannot be compared once batches were deleted, and folds what is behind the checkpoint"
    )
    func ledgerRebuildReportPruned() async throws {
        let (directory, pipeline) = try await goneOn()
        let saved = try #require(try pipeline.ledger.reader.position(of: LedgerProjection.name)?.position)
        _ = try pipeline.ledger.prune(upTo: saved, keepSince: .max)
        let report = try report(KeptLedger(in: directory))
        #expect(report.result == .notComparable)
        #expect(report.pruned == saved)
        #expect(report.end == pipeline.ledger.position)
        #expect(report.text(style: .plain).hasPrefix("not comparable: batches up to \(saved) were deleted"))
        try await pipeline.close()
    }
}

@Suite("A rebuild that is written")
struct LedgerRebuildWritingTests {
    /// A ledger under the key in its directory, as the service makes it, with a page of it changed.
    private func tampered() async throws -> KeptLedger {
        let kept = KeptLedger(in: try TemporaryDirectory())
        let key = try InstallationKey(directory: kept.path).identityKey
        let ledger = try EventLedger.open(directory: kept.path, durability: .process, now: startOfTest).ledger
        for second in 0..<5 as Range<Int64> {
            let decoded = EventText.decode([EventText.scheduled("id-\(second)")])
            try ledger.append([
                LedgerBatch(
                    receivedAt: startOfTest + second,
                    origin: EventOrigin(.http, .ndjson).rawValue,
                    count: 1,
                    receipt: [],
                    events: decoded.events.bytes
                )
            ])
        }
        var projection = LedgerProjection(identityKey: key, limits: LifecycleLimits())
        var changes = StateChanges()
        projection.takeWholeState { changes.put($0, $1) }
        try ledger.checkpoint(
            projection: LedgerProjection.name,
            at: LedgerPosition(batch: 4, sequence: 4),
            changes: changes,
            now: startOfTest
        )
        try ledger.close()
        return kept
    }

    @Test("a written ledger rebuild mends a wrong checkpoint, and is true for the end")
    func mends() async throws {
        let kept = try await tampered()
        #expect(try LedgerRebuild(stateDirectory: kept.path).report().result == .different)
        let written = try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        #expect(written.isWritten)
        #expect(written.result == .different)
        #expect(written.text(style: .plain).hasSuffix("true for batch 5, sequence 5\n"))
        let after = try LedgerRebuild(stateDirectory: kept.path).report()
        #expect(after.result == .equal)
        #expect(after.saved == LedgerPosition(batch: 5, sequence: 5))
        #expect(try LedgerVerify(stateDirectory: kept.path).verdict(.none).isSound)
    }

    @Test("a written ledger rebuild saves nothing while a batch is damaged")
    func refusesDamage() async throws {
        let kept = try await tampered()
        try kept.flip("id-2")
        #expect(throws: UnreadableLedger.self) {
            try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path).allSatisfy { !$0.contains("corrupt") })
    }

    @Test("a written ledger rebuild is refused while a service works there")
    func refusesRunning() async throws {
        let kept = try await tampered()
        let ledger = try EventLedger.open(directory: kept.path, durability: .process, now: startOfTest).ledger
        let error = #expect(throws: UnreadableLedger.self) {
            try LedgerRebuild.write(stateDirectory: kept.path, now: startOfTest)
        }
        #expect(error?.description.contains("is in use by process") == true)
        try ledger.close()
    }

    @Test("a written ledger rebuild makes neither a key nor a ledger")
    func makesNothing() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: UnreadableLedger.self) {
            try LedgerRebuild.write(stateDirectory: directory.path, now: startOfTest)
        }
        #expect(throws: UnreadableLedger.self) { try LedgerRebuild(stateDirectory: directory.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }
}
