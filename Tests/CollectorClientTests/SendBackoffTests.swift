// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import CollectorClient

@Suite("A batch is tried again")
struct SendBackoffTests {
    /// Always the largest or the smallest of all numbers.
    private struct Fixed: RandomNumberGenerator {
        let value: UInt64
        mutating func next() -> UInt64 { value }
    }

    private func pauses(_ random: UInt64, limit: Duration = .seconds(10_000)) -> [Duration] {
        var backoff = SendBackoff(limit: limit)
        var generator = Fixed(value: random)
        var (now, pauses) = (Duration.zero, [Duration]())
        while pauses.count < 12, let pause = backoff.pause(now: now, retryAfter: nil, using: &generator) {
            pauses.append(pause)
            now += pause + .milliseconds(1)
        }
        return pauses
    }

    @Test("after pauses that double, up to thirty seconds, and that chance shortens down to none")
    func grows() {
        let longest = pauses(.max).map { $0 / .seconds(1) }
        let expected = [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30]
        #expect(longest.count == expected.count)
        #expect(zip(longest, expected).allSatisfy { abs($0 - $1) < 0.001 })
        #expect(pauses(0).allSatisfy { $0 == .zero })
        var backoff = SendBackoff(limit: .seconds(10_000))
        var random = SplitMix64(1)
        let drawn = (0..<200).compactMap { _ in backoff.pause(now: .zero, retryAfter: nil, using: &random) }.dropFirst(
            8
        )
        #expect(Set(drawn).count > 150)
        #expect(drawn.allSatisfy { $0 <= SendBackoff.longest })
    }

    @Test("no sooner than the collector asks for")
    func asked() {
        var backoff = SendBackoff(limit: .seconds(60))
        var random = Fixed(value: 0)
        #expect(backoff.pause(now: .zero, retryAfter: .seconds(7), using: &random) == .seconds(7))
        #expect(backoff.pause(now: .seconds(7), retryAfter: .seconds(300), using: &random) == .seconds(53))
        #expect(backoff.pause(now: .seconds(60), retryAfter: .seconds(1), using: &random) == nil)
    }

    @Test("for as long as it may, the last time at the end")
    func limit() {
        var backoff = SendBackoff(limit: .seconds(1))
        var random = Fixed(value: .max)
        var now = Duration.seconds(100)
        while let pause = backoff.pause(now: now, retryAfter: nil, using: &random) { now += pause }
        #expect(now == .seconds(101))
        var once = SendBackoff(limit: .zero)
        #expect(once.pause(now: .seconds(3), retryAfter: nil, using: &random) == nil)
    }

    @Test("only a little longer once it is interrupted")
    func interrupted() {
        var backoff = SendBackoff(limit: .seconds(300))
        var random = Fixed(value: .max)
        _ = backoff.pause(now: .zero, retryAfter: nil, using: &random)
        backoff.shorten(to: .seconds(5), now: .seconds(10))
        #expect(backoff.pause(now: .seconds(12), retryAfter: .seconds(60), using: &random) == .seconds(3))
        backoff.shorten(to: .seconds(5), now: .seconds(14))
        #expect(backoff.pause(now: .seconds(15), retryAfter: nil, using: &random) == nil)
    }

    @Test("after the seconds or until the date of Retry-After, within reason")
    func retryAfter() {
        let now = Date(timeIntervalSince1970: 784_111_770)
        func seconds(_ text: String?) -> Duration? { RetryAfter.duration(text, now: now) }
        #expect(seconds("7") == .seconds(7))
        #expect(seconds(" 0 ") == .zero)
        #expect(seconds("Sun, 06 Nov 1994 08:49:37 GMT") == .seconds(7))
        #expect(seconds("Sun, 06 Nov 1993 08:49:37 GMT") == .zero)
        #expect(seconds("99999999999999999999999") == RetryAfter.longest)
        #expect(seconds("Sun, 06 Nov 2094 08:49:37 GMT") == RetryAfter.longest)
        for text in [nil, "", "-1", "soon", "1.5", "1e3"] { #expect(seconds(text) == nil) }
    }
}
