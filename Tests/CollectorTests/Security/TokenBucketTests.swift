// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

@Suite("Rates of a bucket")
struct TokenBucketTests {
    static let second: UInt64 = 1_000_000_000
    let limit = TokenBucket.Limit(rate: 10, burst: 20)

    @Test("the burst passes at once, then the rate, over any pattern of asking")
    func burstThenRate() {
        var bucket = TokenBucket(limit, now: 0)
        var taken = 0
        var generator = SplitMix64(7)
        var now: UInt64 = 0
        while now < 60 * Self.second {
            if bucket.take(of: limit, now: now) == nil { taken += 1 }
            now += UInt64.random(in: 0..<40_000_000, using: &generator)
        }
        #expect((619...620).contains(taken))
    }

    @Test("who waits as long as told gets one, who waits less gets none")
    func wait() {
        var bucket = TokenBucket(limit, now: 5)
        for _ in 0..<20 { #expect(bucket.take(of: limit, now: 5) == nil) }
        let wait = bucket.take(of: limit, now: 5)
        #expect(wait == .milliseconds(100))
        var early = bucket
        #expect(early.take(of: limit, now: 5 + 99_000_000) != nil)
        #expect(bucket.take(of: limit, now: 5 + 100_000_001) == nil)
    }

    @Test("a batch larger than the burst passes once, and is paid with time")
    func debt() {
        var bucket = TokenBucket(limit, now: 0)
        #expect(bucket.charge(1_020, to: limit, now: 0) == nil)
        #expect(bucket.charge(1, to: limit, now: 0) == .seconds(100))
        #expect(bucket.wait(of: limit, now: 60 * Self.second) == .seconds(40))
        #expect(bucket.charge(1, to: limit, now: 101 * Self.second) == nil)
    }

    @Test("what is given back can be taken again, and nothing above the burst")
    func givenBack() {
        var bucket = TokenBucket(limit, now: 0)
        #expect(bucket.charge(1_020, to: limit, now: 0) == nil)
        bucket.giveBack(1_020)
        #expect(bucket.charge(19, to: limit, now: 0) == nil)
        #expect(bucket.wait(of: limit, now: 0) == nil)
        bucket.giveBack(1_000)
        #expect(bucket.charge(21, to: limit, now: 0) == nil)
        #expect(bucket.wait(of: limit, now: 0) == .milliseconds(100))
    }

    @Test("a clock that goes back gives nothing and takes nothing")
    func backwards() {
        var bucket = TokenBucket(limit, now: 100 * Self.second)
        for _ in 0..<20 { _ = bucket.take(of: limit, now: 100 * Self.second) }
        #expect(bucket.take(of: limit, now: 0) == .milliseconds(100))
        #expect(bucket.take(of: limit, now: 100 * Self.second) == .milliseconds(100))
        #expect(bucket.take(of: limit, now: .max) == nil)
    }

    @Test("a limit that shrinks holds at once, and no wait is longer than a day")
    func changed() {
        var bucket = TokenBucket(limit, now: 0)
        let smaller = TokenBucket.Limit(rate: 1e-9, burst: 1)
        #expect(bucket.take(of: smaller, now: 0) == nil)
        #expect(bucket.take(of: smaller, now: 0) == .seconds(86_400))
    }
}
