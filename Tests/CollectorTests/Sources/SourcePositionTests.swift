// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import EventLedger
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LedgerState

@Suite("The position in a followed file")
struct FilePositionTests {
    static func random(_ random: inout SplitMix64) -> FilePosition {
        var position = FilePosition(
            path: "/var/log/\(random.next()).log",
            identity: FileIdentity(device: random.next(), inode: random.next()),
            offset: random.next(),
            fingerprint: random.next(),
            modified: Int64(bitPattern: random.next()),
            isInsideLongLine: Bool.random(using: &random)
        )
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            position.finish(FileIdentity(device: 1, inode: random.next()), at: random.next())
        }
        return position
    }

    @Test("the position in a followed file is read back as it was written, with the reader's state")
    func filePositionRoundTrip() {
        var random = SplitMix64(1)
        for _ in 0..<100 {
            let position = Self.random(&random)
            let state = (0..<Int.random(in: 0...50, using: &random)).map { UInt8($0) }
            let bytes = position.encoded(with: state)
            let read = FilePosition.decode(bytes)
            #expect(read?.position == position)
            #expect(read?.state == state)
            #expect(position.finished.count <= FilePosition.maximumFinished)
        }
    }

    @Test("the position in a followed file cut anywhere, or of any bytes, is none")
    func filePositionDamaged() {
        var random = SplitMix64(2)
        let bytes = Self.random(&random).encoded(with: [1, 2, 3])
        for length in 0..<bytes.count { #expect(FilePosition.decode(Array(bytes[..<length])) == nil) }
        #expect(FilePosition.decode(bytes + [0]) == nil)
        for _ in 0..<20_000 {
            var broken = bytes
            broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = FilePosition.decode(broken)
        }
    }
}

@Suite("How far a source has been read")
struct SourcePositionTests {
    @Test("the position of a source is told by the last row that names it")
    func sourcePositionLast() {
        var positions = SourcePositions()
        positions.note(SourcePosition(source: 1, bytes: [1]), batch: 1)
        positions.note(SourcePosition(source: 2, bytes: [2]), batch: 2)
        positions.note(SourcePosition(source: 1, bytes: [3]), batch: 3)
        #expect(positions.position(of: 1) == [3])
        #expect(positions.position(of: 2) == [2])
        #expect(positions.position(of: 3) == nil)
    }

    @Test(
        "the position of a source is remembered for so many sources, and the longest silent one is forgotten for a new one"
    )
    func sourcePositionBounded() {
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

    @Test("the position of a source is committed with a row that has no event")
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
