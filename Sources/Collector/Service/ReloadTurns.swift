// SPDX-License-Identifier: Apache-2.0

/// When a reload that is asked for over HTTP is done: one at a time, and one a second at most.
///
/// Nobody takes the outcome of one that another asked for: it may have read the files before they were written.
///
/// Pure: times are nanoseconds of a monotonic clock.
struct ReloadTurns {
    /// What becomes of one who asks.
    enum Turn: Equatable {
        /// Does the reload.
        case begin
        /// Comes again after that.
        case wait(Duration)
    }

    /// How far the beginnings of two are apart.
    static let interval: UInt64 = 1_000_000_000

    private var last: UInt64?
    private var isUnderWay = false

    mutating func ask(at now: UInt64) -> Turn {
        if let last, now < last &+ Self.interval { return .wait(.nanoseconds(Int64(last &+ Self.interval - now))) }
        if isUnderWay { return .wait(.nanoseconds(Int64(Self.interval))) }
        last = now
        isUnderWay = true
        return .begin
    }

    mutating func ended() {
        isUnderWay = false
    }
}
