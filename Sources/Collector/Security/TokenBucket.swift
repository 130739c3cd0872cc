// SPDX-License-Identifier: Apache-2.0

/// A rate that is kept over time and may be passed for a moment: a bucket that fills at the rate up to the burst.
///
/// The time is nanoseconds of a monotonic clock; a time before the last one changes nothing.
struct TokenBucket: Equatable, Sendable {
    struct Limit: Equatable, Sendable {
        /// How many in a second; above 0.
        var rate: Double
        /// How many at once; at least 1.
        var burst: Double
    }

    private var left: Double
    private var filledAt: UInt64

    /// A full bucket.
    init(_ limit: Limit, now: UInt64) {
        left = limit.burst
        filledAt = now
    }

    /// Takes one, or tells after how long one will be there.
    mutating func take(of limit: Limit, now: UInt64) -> Duration? {
        refill(limit, now: now)
        guard left >= 1 else { return wait(for: 1 - left, limit) }
        left -= 1
        return nil
    }

    /// Takes any number while something is left, so that a batch larger than the burst passes too and what comes behind
    /// it waits the longer; else tells after how long something will be left.
    mutating func charge(_ amount: Double, to limit: Limit, now: UInt64) -> Duration? {
        if let wait = wait(of: limit, now: now) { return wait }
        left -= amount
        return nil
    }

    /// Puts back what was charged for nothing; above the burst it does not count.
    mutating func giveBack(_ amount: Double) {
        left += amount
    }

    /// After how long something is left; nil when something is.
    mutating func wait(of limit: Limit, now: UInt64) -> Duration? {
        refill(limit, now: now)
        return left > 0 ? nil : wait(for: -left, limit)
    }

    private mutating func refill(_ limit: Limit, now: UInt64) {
        if now > filledAt {
            left += Double(now - filledAt) / 1e9 * limit.rate
            filledAt = now
        }
        left = min(left, limit.burst)
    }

    /// Never nothing, and a day at most.
    private func wait(for missing: Double, _ limit: Limit) -> Duration {
        .milliseconds(Int64(min(max(missing / limit.rate, 0.001), 86_400) * 1_000))
    }
}
