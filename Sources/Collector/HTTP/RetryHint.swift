// SPDX-License-Identifier: Apache-2.0

/// The seconds of a `Retry-After` (RFC 9110, 10.2.3), spread so that those who were refused together do not come back
/// together.
enum RetryHint {
    /// The longest, in seconds.
    static let maximum = 60

    /// At least the given time and half as much again or 2 s at most, in whole seconds from 1 to ``maximum``; what is
    /// longer than 40 s is taken for 40, so that there is room to spread.
    static func jittered(_ duration: Duration, using generator: inout some RandomNumberGenerator) -> Int {
        let (whole, rest) = duration.components
        let seconds = min(max(Int(clamping: whole) + (rest > 0 && whole < maximum ? 1 : 0), 1), maximum * 2 / 3)
        return seconds + Int.random(in: 0...max(2, seconds / 2), using: &generator)
    }

    static func jittered(_ duration: Duration) -> Int {
        var generator = SystemRandomNumberGenerator()
        return jittered(duration, using: &generator)
    }
}
