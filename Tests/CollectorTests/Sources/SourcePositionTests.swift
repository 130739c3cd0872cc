// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("How far a source has been read")
struct SourcePositionTests {
    @Test("is told by the last row that names it")
    func last() {
        var positions = SourcePositions()
        positions.note(SourcePosition(source: 1, bytes: [1]), batch: 1)
        positions.note(SourcePosition(source: 2, bytes: [2]), batch: 2)
        positions.note(SourcePosition(source: 1, bytes: [3]), batch: 3)
        #expect(positions.position(of: 1) == [3])
        #expect(positions.position(of: 2) == [2])
        #expect(positions.position(of: 3) == nil)
    }

    @Test("is remembered for so many sources, and the longest silent one is forgotten for a new one")
    func bounded() {
        var positions = SourcePositions()
        let many = UInt64(SourcePositions.maximum)
        for source in 0..<many { positions.note(SourcePosition(source: source, bytes: []), batch: Int64(source)) }
        positions.note(SourcePosition(source: 0, bytes: [1]), batch: Int64(many))
        positions.note(SourcePosition(source: many, bytes: []), batch: Int64(many) + 1)
        #expect(positions.sources.count == Int(many))
        #expect(positions.position(of: 0) == [1])
        #expect(positions.position(of: 1) == nil)
        var changes = StateChanges()
        positions.takeChanges(into: &changes)
        #expect(changes.count == Int(many) + 1)
    }

    @Test("is committed with a row that has no event")
    func withoutEvents() async throws {
        let directory = try TemporaryDirectory()
        let pipeline = try Pipeline(in: directory)
        let position = SourcePosition(source: 5, bytes: [1, 2, 3])
        let nothing = IngestSubmission.reading(
            EventText.decode([]),
            origin: EventOrigin(.file, .log),
            lines: .init(),
            position: position
        )
        _ = try await pipeline.writer.submit(nothing)
        #expect(pipeline.ledger.position == LedgerPosition(batch: 1, sequence: 0))
        try await pipeline.close()
        let second = try Pipeline(in: directory)
        #expect(try await second.sources.position(of: 5) == [1, 2, 3])
        try await second.close()
    }
}
