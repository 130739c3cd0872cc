// SPDX-License-Identifier: Apache-2.0

/// Decides whether the system clock can be believed when it says that time has passed (docs/lifecycle.md, A clock that
/// leaps).
///
/// A tick closes cycles for good, and retention deletes batches for good, so neither must follow a clock that was set wrong
/// for a moment. The monotonic clock shows
/// each leap; the time after it is believed once it has stood for a quarter of an hour, or at once where the leap only
/// takes back the one before. Pure: every call carries both times.
struct ClockWatch: Sendable {
    /// A smaller difference is no leap; clocks are slewed and set by less.
    static let toleratedMicroseconds: Int64 = 5 * 60 * 1_000_000
    /// How long a clock must stand after a leap.
    static let confirmationMicroseconds: Int64 = 15 * 60 * 1_000_000
    /// A longer time without a row before the start is as likely a leap.
    static let believedDowntimeMicroseconds: Int64 = 86_400 * 1_000_000

    /// Whether the clock is believed, and the leap if it has just begun to be doubted.
    enum Belief: Equatable {
        case believed
        case doubted
        /// It has leapt by so many microseconds since it was last seen.
        case leapt(Int64)
    }

    /// The time of the ledger's last row before the start; nil for a ledger without rows.
    private let lastRow: Int64?
    /// Wall time minus monotonic time while the clock is believed.
    private var believed: Int64?
    /// The same after a leap, and the monotonic time at which it was seen first.
    private var doubted: (offset: Int64, since: Int64)?

    /// - Parameter lastRow: the time of the ledger's last row, in microseconds since 1970; nil for a ledger without rows.
    init(lastRow: Int64?) {
        self.lastRow = lastRow
    }

    /// Looks at the clock.
    ///
    /// - Parameters:
    ///   - now: the wall time, in microseconds since 1970.
    ///   - monotonic: the monotonic time in microseconds.
    mutating func look(now: Int64, monotonic: Int64) -> Belief {
        let offset = now &- monotonic
        guard let known = doubted?.offset ?? believed else { return begin(now, offset, monotonic) }
        if let believed, Self.isNear(offset, believed) {
            self.believed = offset
            doubted = nil
            return .believed
        }
        guard let doubt = doubted, Self.isNear(offset, doubt.offset) else {
            doubted = (offset, monotonic)
            return .leapt(offset &- known)
        }
        doubted = (offset, doubt.since)
        guard monotonic - doubt.since >= Self.confirmationMicroseconds else { return .doubted }
        believed = offset
        doubted = nil
        return .believed
    }

    /// The time that is believed: the clock's, and after a leap what it would be without; nil before the first look and
    /// while no time can be believed.
    ///
    /// - Parameter monotonic: the monotonic time in microseconds.
    func believedTime(monotonic: Int64) -> Int64? { believed.map { $0 &+ monotonic } }

    /// The first look: the clock is believed where it goes on from the ledger's last row.
    private mutating func begin(_ now: Int64, _ offset: Int64, _ monotonic: Int64) -> Belief {
        guard let lastRow else {
            believed = offset
            return .believed
        }
        let passed = now &- lastRow
        if passed >= -Self.toleratedMicroseconds, passed <= Self.believedDowntimeMicroseconds {
            believed = offset
            return .believed
        }
        doubted = (offset, monotonic)
        return .leapt(passed)
    }

    private static func isNear(_ one: Int64, _ other: Int64) -> Bool {
        (one &- other).magnitude <= UInt64(toleratedMicroseconds)
    }
}
