// SPDX-License-Identifier: Apache-2.0

/// The set of present fields, and the values of the Boolean ones. Records store it verbatim, so bits are never
/// reassigned.
@usableFromInline
struct EventPresence: OptionSet, Sendable {
    @usableFromInline var rawValue: UInt32

    @inlinable
    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable
    mutating func set(_ field: EventPresence, _ isPresent: Bool) {
        rawValue = rawValue & ~field.rawValue | (isPresent ? field.rawValue : 0)
    }

    @inlinable static var scheduledFor: Self { Self(rawValue: 1 << 0) }
    @inlinable static var earliestBeginDate: Self { Self(rawValue: 1 << 1) }
    @inlinable static var duration: Self { Self(rawValue: 1 << 2) }
    @inlinable static var ttl: Self { Self(rawValue: 1 << 3) }
    @inlinable static var status: Self { Self(rawValue: 1 << 4) }
    @inlinable static var byteCount: Self { Self(rawValue: 1 << 5) }
    @inlinable static var itemCount: Self { Self(rawValue: 1 << 6) }
    @inlinable static var age: Self { Self(rawValue: 1 << 7) }
    @inlinable static var reason: Self { Self(rawValue: 1 << 8) }
    @inlinable static var installation: Self { Self(rawValue: 1 << 9) }
    @inlinable static var clockSkew: Self { Self(rawValue: 1 << 10) }
    @inlinable static var scheduleId: Self { Self(rawValue: 1 << 11) }
    @inlinable static var eventId: Self { Self(rawValue: 1 << 12) }
    @inlinable static var error: Self { Self(rawValue: 1 << 13) }
    @inlinable static var contentHash: Self { Self(rawValue: 1 << 14) }
    @inlinable static var scheduleHash: Self { Self(rawValue: 1 << 15) }
    @inlinable static var platform: Self { Self(rawValue: 1 << 16) }
    @inlinable static var appVersion: Self { Self(rawValue: 1 << 17) }
    @inlinable static var osVersion: Self { Self(rawValue: 1 << 18) }
    @inlinable static var deviceModel: Self { Self(rawValue: 1 << 19) }
    @inlinable static var clientCounters: Self { Self(rawValue: 1 << 20) }
    @inlinable static var willRetry: Self { Self(rawValue: 1 << 21) }
    @inlinable static var willRetryTrue: Self { Self(rawValue: 1 << 22) }
    @inlinable static var fetched: Self { Self(rawValue: 1 << 23) }
    @inlinable static var fetchedTrue: Self { Self(rawValue: 1 << 24) }
    @inlinable static var usedCached: Self { Self(rawValue: 1 << 25) }
    @inlinable static var usedCachedTrue: Self { Self(rawValue: 1 << 26) }
    @inlinable static var timeAssumed: Self { Self(rawValue: 1 << 27) }

    @inlinable static var originals: Self { Self(rawValue: 1 << 28) }

    @inlinable static var conditions: Self { Self(rawValue: 1 << 29) }
    @inlinable static var minutes: Self { Self(rawValue: 1 << 30) }

    static let known = EventPresence(rawValue: 1 << 31 - 1)
    static let times: EventPresence = [.scheduledFor, .earliestBeginDate]
    static let numbers: EventPresence = [.duration, .ttl, .status, .byteCount, .itemCount, .age]
    /// Texts that few events have.
    static let rareTexts: EventPresence = [
        .error, .contentHash, .scheduleHash, .platform, .appVersion, .osVersion, .deviceModel, .clientCounters,
        .originals,
    ]
    /// What only few events have, behind the texts.
    static let circumstances: EventPresence = [.conditions, .minutes]
    static let flags: EventPresence = [.willRetry, .fetched, .usedCached]

    /// The same set without values of absent Boolean fields.
    var withoutLooseFlags: EventPresence {
        EventPresence(rawValue: rawValue & ~((~rawValue & Self.flags.rawValue) << 1))
    }
}

/// The values of an event; undefined for absent fields.
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

/// The text ranges of an event; empty for absent fields.
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
    @usableFromInline var originals = TextRange()

    @inlinable
    init() {}
}

/// A byte range packed into 64 bits.
@usableFromInline
struct TextRange: Sendable {
    @usableFromInline var start: UInt32 = 0
    @usableFromInline var count: UInt32 = 0

    @inlinable
    init() {}

    /// Creates the range, or an empty one if it exceeds 32 bits.
    @inlinable
    init(_ range: Range<Int>) {
        guard UInt64(bitPattern: Int64(range.lowerBound | range.upperBound)) <= UInt64(UInt32.max) else { return }
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    @inlinable var isEmpty: Bool { count == 0 }
    @inlinable var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}
