// SPDX-License-Identifier: Apache-2.0

/// How long to wait before a batch is sent again: exponential, with full jitter (Brooker, "Exponential Backoff And Jitter",
/// AWS Architecture Blog, 2015), no shorter than the collector asks for, and at an end some time after the first failure.
struct SendBackoff: Sendable {
    static let first = Duration.milliseconds(250)
    static let longest = Duration.seconds(30)

    /// How long after its first failure a batch is given up.
    let limit: Duration
    private(set) var failures = 0
    private var giveUpAt: Duration?

    init(limit: Duration) {
        self.limit = limit
    }

    /// How long to wait; nil when it is time to give up. The last attempt comes at the end of the time.
    ///
    /// - Parameters:
    ///   - now: since some start.
    ///   - retryAfter: what the collector asks for.
    mutating func pause(
        now: Duration,
        retryAfter: Duration?,
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        let end = giveUpAt ?? now + limit
        giveUpAt = end
        guard now < end else { return nil }
        let ceiling = min(Self.first * (1 << min(failures, 16)), Self.longest)
        failures += 1
        let jittered = ceiling * Double.random(in: 0..<1, using: &random)
        return min(max(jittered, retryAfter ?? .zero), end - now)
    }

    /// Leaves no more than so much time from now on.
    mutating func shorten(to rest: Duration, now: Duration) {
        giveUpAt = min(giveUpAt ?? now + limit, now + rest)
    }
}
