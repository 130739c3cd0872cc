// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import RefreshLifecycle
import TestSupport
import Testing

@testable import CycleIndex

@Suite("The counts of the last day")
struct RecentCountsTests {
    private static let start: Int64 = 1_700_000_000_000_000 / 900_000_000 * 900_000_000

    private static func counts(received: UInt64) -> ConsoleCounts {
        ConsoleCounts([], RefreshTotals(), received: received, accepted: 0, duplicates: 0, rejected: 0)
    }

    @Test("recent counts stand in the minute in which the batch was received, whatever the clock does, over restarts")
    func minutes() throws {
        var random = SplitMix64(3)
        var recent = RecentCounts(since: Self.start)
        var now = Self.start
        var total: UInt64 = 0
        var expected: [Int64: UInt64] = [:]
        recent.take(Self.counts(received: 0))
        for _ in 0..<5_000 {
            now += Int64.random(in: -2...40, using: &random) * 1_000_000
            if recent.isNewMinute(now) { recent.take(Self.counts(received: total), next: now) }
            let more = UInt64.random(in: 0...10_000, using: &random)
            total += more
            expected[now / 60_000_000, default: 0] += more
            if random.next() % 50 == 0 {
                recent.take(Self.counts(received: total))
                recent = try #require(RecentCounts(encoded: recent.encoded))
                recent.take(Self.counts(received: total))
            }
        }
        recent.take(Self.counts(received: total))
        let minute = now / 60_000_000
        for back in 0..<60 {
            #expect(recent.minutes[minute - Int64(back)][.received] == expected[minute - Int64(back)] ?? 0)
        }
        for back in 0..<96 {
            let quarter = minute / 15 - Int64(back)
            let sum = (quarter * 15..<quarter * 15 + 15).reduce(0) { $0 + (expected[$1] ?? 0) }
            #expect(recent.quarters[quarter][.received] == sum)
        }
        #expect(recent.minutes[minute - 70][.received] == 0)
        #expect(recent.encoded.count < 8_192)
    }

    @Test("recent counts whose saved form is damaged are not restored, and no bytes stop the process")
    func damaged() {
        var random = SplitMix64(4)
        var recent = RecentCounts(since: Self.start)
        recent.take(Self.counts(received: 0), next: Self.start)
        recent.take(Self.counts(received: .max))
        for _ in 0..<5_000 {
            var bytes = recent.encoded
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            if random.next() % 2 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
            _ = RecentCounts(encoded: bytes)
        }
        #expect(RecentCounts(encoded: []) == nil)
        #expect(RecentCounts(encoded: [2] + recent.encoded.dropFirst()) == nil)
        #expect(RecentCounts(encoded: recent.encoded + [0]) == nil)
    }
}
