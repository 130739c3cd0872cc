// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import Foundation
import Glibc
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState
@testable import LedgerTools

extension OneAtATime {
    @Suite("A dump prints")
    struct LedgerDumpTests {
        private static let lines = (0..<9).map {
            EventText.event("prefetch_scheduled", id: "id-\($0)", second: Int64($0))
        }

        private func kept() async throws -> KeptLedger {
            try await KeptLedger([Array(Self.lines[..<2]), Array(Self.lines[2..<7]), Array(Self.lines[7...])])
        }

        private func ids(_ lines: [String]) -> [String] {
            lines.compactMap { $0.firstMatch(of: #/"scheduleId":"([^"]*)"/#).map { String($0.output.1) } }
        }

        @Test("a ledger dump prints every event as it stands in the journal, in an envelope")
        func envelope() async throws {
            let dump = try await kept().dump()
            #expect(ids(dump.lines) == (0..<9).map { "id-\($0)" })
            #expect(
                dump.lines[2] == """
                    {"seq":3,"batch":2,"received":"2025-11-15T05:36:41Z","source":"http","format":"ndjson",\
                    "event":\(Self.lines[2])}
                    """
            )
            #expect(dump.warnings == [])
            #expect(dump.outcome == LedgerDump.Outcome())
        }

        @Test("a ledger dump prints what comes after a number, and no more lines than asked for")
        func bounds() async throws {
            let kept = try await kept()
            for after in 0...10 as ClosedRange<UInt64> {
                for limit in [0, 1, 4, 100] as [UInt64] {
                    let expected = (0..<9).dropFirst(Int(after)).prefix(Int(limit)).map { "id-\($0)" }
                    #expect(ids(try kept.dump(after: after, limit: limit).lines) == expected)
                }
            }
        }

        @Test("a ledger dump prints events of one kind")
        func kinds() async throws {
            let lines = ["prefetch_scheduled", "prefetch_executed", "prefetch_success"].map {
                EventText.event($0, id: "a")
            }
            let kept = try await KeptLedger([lines, [EventText.event("prefetch_executed", id: "b")]])
            #expect(ids(try kept.dump(.events(.init(name: "prefetch_executed"))).lines) == ["a", "b"])
            #expect(ids(try kept.dump(.events(.init(name: "prefetch_executed")), after: 2).lines) == ["b"])
            #expect(try kept.dump(.events(.init(name: "prefetch_missed"))).lines == [])
        }

        @Test("a ledger dump prints rows with their receipts, ticks included")
        func rows() async throws {
            let first = EventText.scheduled("a")
            let kept = try await KeptLedger([[first], [first, EventText.scheduled("b"), "{}"]])
            let rows = try kept.dump(.rows).lines
            #expect(rows.count == 3)
            #expect(
                rows[0].hasPrefix(#"{"batch":1,"seq":1,"count":1,"received":"2025-11-15T05:36:40Z","source":"http","#)
            )
            #expect(rows[1].contains(#""count":1"#))
            #expect(rows[1].contains(#""receipt":{"duplicates":1,"rejected":{"missing_field":1},"unknownFields":0,"#))
            #expect(rows[2].contains(#""seq":null,"count":0"#))
            #expect(rows[2].contains(#""source":"collector","format":"verdict""#))
            for row in rows { _ = try JSONSerialization.jsonObject(with: Data(row.utf8)) }
        }

        @Test("a ledger dump prints positions of sources only as hashes")
        func ledgerDumpPositions() async throws {
            let directory = try TemporaryDirectory()
            let pipeline = try Pipeline(in: directory)
            try await pipeline.remember(SourcePosition(source: 0xAB, bytes: Array("the beginning of a line".utf8)))
            try await pipeline.close()
            let text = try KeptLedger(in: directory).dump(.rows).lines.joined()
            #expect(text.contains(#""position":{"source":"00000000000000ab","hash":""#))
            #expect(!text.contains("beginning"))
        }

        @Test("a ledger dump prints all but a damaged batch, which it names")
        func ledgerDumpDamaged() async throws {
            let kept = try await kept()
            try kept.flip("id-4")
            let dump = try kept.dump()
            #expect(ids(dump.lines) == ["id-0", "id-1", "id-7", "id-8"])
            #expect(!dump.outcome.isWhole)
            #expect(dump.warnings.count == 1)
            #expect(dump.warnings[0].hasPrefix("batch 2 is damaged and left out: checksum "))
            #expect(ids(try kept.dump(after: 3).lines) == ["id-7", "id-8"])
        }

        @Test("a ledger dump prints all but a batch that is gone, and says where")
        func ledgerDumpMissing() async throws {
            let kept = try await kept()
            try kept.execute("DELETE FROM batch WHERE id = 2")
            let dump = try kept.dump()
            #expect(ids(dump.lines) == ["id-0", "id-1", "id-7", "id-8"])
            #expect(dump.warnings == ["batch 3 does not follow batch 1, sequence 2: something between them is missing"])
        }

        @Test("a ledger dump prints no more when the reader has gone away, which is no error")
        func readerGone() async throws {
            signal(SIGPIPE, SIG_IGN)
            let kept = try await kept()
            let pipe = Pipe()
            try pipe.fileHandleForReading.close()
            let outcome = try LedgerDump(stateDirectory: kept.path, .events(nil)).print(
                to: pipe.fileHandleForWriting.fileDescriptor
            )
            #expect(outcome == LedgerDump.Outcome())
        }

        @Test("a ledger dump prints a sentence when there is no ledger")
        func ledgerDumpAbsent() throws {
            let directory = try TemporaryDirectory()
            #expect(throws: UnreadableLedger.self) { try LedgerDump(stateDirectory: directory.path, .rows) }
            #expect(throws: UnreadableLedger.self) { try LedgerDump(stateDirectory: directory.path + "/none", .rows) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        }
    }
}
