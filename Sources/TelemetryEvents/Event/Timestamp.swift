// SPDX-License-Identifier: Apache-2.0

/// A point in time in UTC with microseconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public var microseconds: Int64

    /// Makes a time from microseconds since 1970.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Makes a time from whole seconds since 1970.
    public init(seconds: Int64) {
        microseconds = seconds * 1_000_000
    }

    /// The earlier time is the smaller one.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }

    /// 2020-01-01T00:00:00Z, before which no event is accepted (SPEC 3.1).
    public static let earliestAccepted = Timestamp(seconds: 1_577_836_800)

    /// 48 hours in microseconds: how far ahead of the receiver an event may be (SPEC 3.1).
    public static let acceptedLead: Int64 = 48 * 3_600 * 1_000_000

    /// How far apart two times are, in microseconds.
    func distance(to other: Timestamp) -> UInt64 {
        self < other
            ? UInt64(bitPattern: other.microseconds &- microseconds)
            : UInt64(bitPattern: microseconds &- other.microseconds)
    }
}
