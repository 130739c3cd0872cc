// SPDX-License-Identifier: Apache-2.0

/// The values of an event; what one holds whose field is absent means nothing.
@usableFromInline
struct EventValues: Sendable {
    @usableFromInline var scheduledFor = Timestamp(microseconds: 0)
    @usableFromInline var earliestBeginDate = Timestamp(microseconds: 0)
    @usableFromInline var duration: Int64 = 0
    @usableFromInline var ttl: Int64 = 0
    @usableFromInline var status: Int64 = 0
    @usableFromInline var byteCount: Int64 = 0
    @usableFromInline var itemCount: Int64 = 0
    @usableFromInline var age: Int64 = 0
    @usableFromInline var clockSkew: Int64 = 0
    @usableFromInline var installation = Pseudonym(high: 0, low: 0)
    @usableFromInline var reason = FailureReason.other

    @inlinable
    init() {}
}

/// The texts of an event; one whose field is absent is empty.
@usableFromInline
struct EventTextRanges: Sendable {
    @usableFromInline var scheduleId = TextRange()
    @usableFromInline var eventId = TextRange()
    @usableFromInline var error = TextRange()
    @usableFromInline var contentHash = TextRange()
    @usableFromInline var scheduleHash = TextRange()
    @usableFromInline var platform = TextRange()
    @usableFromInline var appVersion = TextRange()
    @usableFromInline var osVersion = TextRange()
    @usableFromInline var deviceModel = TextRange()
    @usableFromInline var clientCounters = TextRange()

    @inlinable
    init() {}
}

/// A range of bytes in 64 bits.
@usableFromInline
struct TextRange: Sendable {
    @usableFromInline var start: UInt32 = 0
    @usableFromInline var count: UInt32 = 0

    @inlinable
    init() {}

    /// The range, or an empty one where it does not fit.
    @inlinable
    init(_ range: Range<Int>) {
        guard UInt64(bitPattern: Int64(range.lowerBound | range.upperBound)) <= UInt64(UInt32.max) else { return }
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    @inlinable var isEmpty: Bool { count == 0 }
    @inlinable var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}
