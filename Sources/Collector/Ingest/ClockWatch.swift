// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// Decides whether the system clock can be believed when it says that time has passed (docs/lifecycle.md, A clock that
/// leaps).
///
/// A tick closes cycles for good, and retention deletes batches for good, so neither must follow a clock that was set wrong
/// for a moment. The monotonic clock shows each leap, from the first moment of the service on; the time after it is believed
/// once it has stood for a quarter of an hour, or at once where the leap only takes back the one before and the clock had
/// stood there so long. Pure: every call carries both times.
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
    /// Wall time minus monotonic time while the clock is believed, and the monotonic times at which it was seen first and
    /// last.
    private var believed: (offset: Int64, since: Int64, seen: Int64)?
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
        guard let known = doubted?.offset ?? believed?.offset else { return begin(now, offset, monotonic) }
        if let believed, Self.isNear(offset, believed.offset), doubted == nil || hasStood {
            self.believed = (offset, believed.since, monotonic)
            doubted = nil
            return .believed
        }
        guard let doubt = doubted, Self.isNear(offset, doubt.offset) else {
            doubted = (offset, monotonic)
            return .leapt(offset &- known)
        }
        doubted = (offset, doubt.since)
        guard monotonic - doubt.since >= Self.confirmationMicroseconds else { return .doubted }
        believed = (offset, doubt.since, monotonic)
        doubted = nil
        return .believed
    }

    /// The time that is believed: the clock's, and after a leap what it would be without; nil before the first look and
    /// while no time can be believed.
    ///
    /// - Parameter monotonic: the monotonic time in microseconds.
    func believedTime(monotonic: Int64) -> Int64? {
        guard let believed, doubted == nil || hasStood else { return nil }
        return believed.offset &+ monotonic
    }

    /// Whether the believed clock had stood long enough before a leap to be believed again, so that a clock that was false
    /// at the start is not.
    private var hasStood: Bool {
        believed.map { $0.seen &- $0.since >= Self.confirmationMicroseconds } ?? false
    }

    /// The first look: the clock is believed where it goes on from the ledger's last row.
    private mutating func begin(_ now: Int64, _ offset: Int64, _ monotonic: Int64) -> Belief {
        let passed = lastRow.map { now &- $0 } ?? 0
        guard passed >= -Self.toleratedMicroseconds, passed <= Self.believedDowntimeMicroseconds else {
            doubted = (offset, monotonic)
            return .leapt(passed)
        }
        believed = (offset, monotonic, monotonic)
        return .believed
    }

    private static func isNear(_ one: Int64, _ other: Int64) -> Bool {
        (one &- other).magnitude <= UInt64(toleratedMicroseconds)
    }
}

/// Both clocks at one moment, in microseconds.
struct ClockReading: Sendable {
    /// Since 1970.
    let wall: Int64
    let monotonic: Int64

    init(_ clock: LedgerClock) {
        wall = clock.now()
        monotonic = Int64(clamping: clock.monotonic() / 1_000)
    }
}
