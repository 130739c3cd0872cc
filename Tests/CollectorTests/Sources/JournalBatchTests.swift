// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LogInput

@Suite("Entries of the journal as lines")
struct JournalBatchTests {
    private static let start = JournalPosition(cursor: nil, realtime: 1)

    @Test("each entry is its lines, with its own time and stream")
    func lines() {
        var batch = JournalBatch(at: Self.start)
        batch.take(Array("one".utf8), writtenAt: 10, stream: 1)
        batch.skip()
        batch.take(Array("two\nthree\r\n".utf8), writtenAt: 20, stream: 2)
        batch.take([], writtenAt: 30, stream: 2)
        batch.take(Array("a\0b".utf8), writtenAt: 40, stream: 2)
        #expect(String(decoding: batch.lines, as: UTF8.self) == "one\ntwo\nthree\r\na\0b\n")
        #expect(batch.carriers.map(\.end) == [4, 15, 15, 19])
        #expect(batch.carriers.map(\.writtenAt.microseconds) == [10, 20, 30, 40])
        #expect(batch.carriers.map(\.stream) == [1, 2, 2, 2])
        #expect(batch.entries == 4)
        #expect(batch.skipped == 1)
    }

    @Test("is full of many entries, and of a long one whose rest is passed over")
    func bounded() {
        var batch = JournalBatch(at: Self.start)
        for _ in 0..<JournalBatch.maximumEntries {
            #expect(!batch.isFull)
            batch.skip()
        }
        #expect(batch.isFull)
        let long = [UInt8](repeating: 0x61, count: 3 << 20)
        let shorter = [UInt8](repeating: 0x62, count: 1_023) + [0x0A]
        batch = JournalBatch(at: Self.start)
        batch.take(long, writtenAt: 1, stream: 1)
        let held = batch.lines.count
        #expect(held == LineCutter.longestLine + 1)
        batch.take([[UInt8]](repeating: shorter, count: 3 << 10).flatMap { $0 }, writtenAt: 1, stream: 1)
        let all = batch.lines.count
        #expect(all == held + JournalBatch.longestMessage)
        let isFull = batch.isFull
        #expect(isFull)
    }

    @Test("an entry's time is the one the kernel knew, unless that cannot be")
    func times() {
        #expect(JournalBatch.time(realtime: 1_000, source: nil) == 1_000)
        #expect(JournalBatch.time(realtime: 1_000, source: 900) == 900)
        #expect(JournalBatch.time(realtime: 1_000, source: 1_001) == 1_000)
        #expect(JournalBatch.time(realtime: 100_000_000_000, source: 1) == 100_000_000_000)
        #expect(JournalBatch.time(realtime: .max, source: .max) == .max)
    }

    @Test("a position is read back as it was, and nothing else is")
    func position() {
        for cursor in [nil, "s=1;i=2"] {
            let position = JournalPosition(cursor: cursor, realtime: 1_763_185_000_000_000)
            let bytes = position.encoded(with: [1, 2, 3])
            #expect(JournalPosition.decode(bytes)?.position == position)
            #expect(JournalPosition.decode(bytes)?.state == [1, 2, 3])
            for count in bytes.indices { #expect(JournalPosition.decode(Array(bytes[..<count])) == nil) }
            #expect(JournalPosition.decode([2] + bytes.dropFirst()) == nil)
        }
        var random = SplitMix64(6)
        for _ in 0..<10_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random)
            }
            _ = JournalPosition.decode(bytes)
        }
    }
}
