// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An open cycle: its facts in their order, what is kept of it once, and how much of it has been counted. 84 bytes.
///
/// Everything in it is a union, an earliest or a largest of what was told, so that the order of arrival cannot matter.
/// Words of four bytes keep a page of cycles without gaps.
struct Cycle: Sendable {
    static let inlineFacts = 4

    private var scheduleWords: SplitWord
    private let installationWords: SplitWord
    private var facts: InlineArray<4, SplitWord> = .init(repeating: SplitWord(0))
    /// The second that all its times are relative to.
    private let baseSecond: UInt32
    private var dueSeconds: UInt32 = 0
    /// When the cycle closes, in seconds since 1970 by the ledger's clock.
    var closesAt: UInt32 = 0
    var used = EarliestTime()
    var delivered = EarliestTime()
    /// The earliest time at which the task may be executed.
    var window = EarliestTime()
    /// The largest time to live of its content, in seconds and plus one; 0 where none was told.
    private var ttlPlusOne: UInt32 = 0
    /// How much of it has been counted; of a long one that stands beside its facts.
    private var countedStages = PackedStages()
    /// From the first bit on: the flags, the milliseconds of the notification time, the group.
    private var packed: UInt32 = 0

    struct Flags: OptionSet, Sendable {
        var rawValue: UInt16
        /// It has been delivered or summed up, so that it closes after the grace period.
        static let isEnding = Flags(rawValue: 1 << 0)
        /// Its facts stand in a list of their own because they are too many.
        static let isLong = Flags(rawValue: 1 << 1)
        static let hasDue = Flags(rawValue: 1 << 2)
        /// It is the one that is found by its notification time alone.
        static let ownsDue = Flags(rawValue: 1 << 3)
        static let hasAssumedTimes = Flags(rawValue: 1 << 4)
        static let contentMissing = Flags(rawValue: 1 << 5)
        static let drifted = Flags(rawValue: 1 << 6)
        static let contentMatches = Flags(rawValue: 1 << 7)
        static let scheduleMatches = Flags(rawValue: 1 << 8)
        static let ageKnown = Flags(rawValue: 1 << 9)
        /// Its task was scheduled while another one waited.
        static let isSecond = Flags(rawValue: 1 << 10)
        /// Its task was scheduled right after the installation was denied notifications.
        static let scheduledWhileDenied = Flags(rawValue: 1 << 11)
        /// It was closed and judged before.
        static let isReopened = Flags(rawValue: 1 << 12)
        /// The age of its content was told when it was used, and is counted.
        static let ageCounted = Flags(rawValue: 1 << 13)
    }

    init(schedule: UInt64, installation: UInt64, base: Timestamp) {
        scheduleWords = SplitWord(schedule)
        installationWords = SplitWord(installation)
        baseSecond = UInt32(clamping: base.microseconds / 1_000_000)
    }

    /// The hash of installation and schedule id; 0 where no id was told.
    var schedule: UInt64 {
        get { scheduleWords.value }
        set { scheduleWords = SplitWord(newValue) }
    }

    /// The fingerprint of the installation; 0 where none was told.
    var installation: UInt64 { installationWords.value }

    /// What its times are relative to.
    var base: Timestamp { Timestamp(seconds: Int64(baseSecond)) }

    var flags: Flags {
        get { Flags(rawValue: UInt16(truncatingIfNeeded: packed & 0x3FFF)) }
        set { packed = packed & ~0x3FFF | UInt32(newValue.rawValue) }
    }

    /// Which group of platform and version it counts in.
    var group: UInt8 {
        get { UInt8(truncatingIfNeeded: packed >> 24) }
        set { packed = packed & 0x00FF_FFFF | UInt32(newValue) << 24 }
    }

    /// When the notification is due, in whole milliseconds.
    var due: Timestamp? {
        get {
            guard flags.contains(.hasDue) else { return nil }
            return Timestamp(microseconds: Int64(dueSeconds) * 1_000_000 + Int64(packed >> 14 & 0x3FF) * 1_000)
        }
        set {
            guard let newValue else { return }
            let milliseconds = newValue.microseconds / 1_000
            flags.insert(.hasDue)
            dueSeconds = UInt32(clamping: milliseconds / 1_000)
            packed = packed & 0xFF00_3FFF | UInt32(truncatingIfNeeded: milliseconds % 1_000) << 14
        }
    }

    /// When the notification is due, in seconds since 1970.
    var dueSecond: UInt32? { flags.contains(.hasDue) ? dueSeconds : nil }

    /// How long its content may be used, in seconds.
    var ttl: Int64? {
        get { ttlPlusOne == 0 ? nil : Int64(ttlPlusOne) - 1 }
        set { ttlPlusOne = newValue.map { UInt32(clamping: $0 + 1) } ?? 0 }
    }

    /// How much of a cycle that is not long has been counted.
    var counted: CountedStages {
        get { countedStages.stages }
        set { countedStages = PackedStages(newValue) }
    }
}

extension Cycle {
    enum Insertion {
        case inserted
        case known
        case full
    }

    private var factCount: Int {
        var count = 0
        while count < Self.inlineFacts, !facts[count].isZero { count += 1 }
        return count
    }

    mutating func insert(_ fact: Fact) -> Insertion {
        let count = factCount
        var place = count
        while place > 0, facts[place - 1].value >= fact.rawValue {
            if facts[place - 1].value == fact.rawValue { return .known }
            place -= 1
        }
        guard count < Self.inlineFacts else { return .full }
        for index in stride(from: count, to: place, by: -1) { facts[index] = facts[index - 1] }
        facts[place] = SplitWord(fact.rawValue)
        return .inserted
    }

    mutating func removeFact(at index: Int) {
        for place in index + 1..<Self.inlineFacts { facts[place - 1] = facts[place] }
        facts[Self.inlineFacts - 1] = SplitWord(0)
    }

    mutating func removeFacts() {
        facts = .init(repeating: SplitWord(0))
    }

    /// The facts, for a checkpoint or for a list that outgrows the cycle.
    var factList: [UInt64] { (0..<factCount).map { facts[$0].value } }

    /// Calls `body` with the inline facts.
    func withFacts<Result>(_ body: (Span<UInt64>) -> Result) -> Result {
        var words: InlineArray<4, UInt64> = .init(repeating: 0)
        var count = 0
        while count < Self.inlineFacts, !facts[count].isZero {
            words[count] = facts[count].value
            count += 1
        }
        return body(words.span.extracting(first: count))
    }
}

/// A word of eight bytes in two of four, so that it needs no alignment of its own.
struct SplitWord: Sendable {
    private let low: UInt32
    private let high: UInt32

    init(_ value: UInt64) {
        low = UInt32(truncatingIfNeeded: value)
        high = UInt32(truncatingIfNeeded: value >> 32)
    }

    var value: UInt64 { UInt64(high) << 32 | UInt64(low) }
    var isZero: Bool { low | high == 0 }
}

/// The earliest of some times, in whole milliseconds after a cycle's base. Four bytes; a time more than 24 days from the
/// base is not taken.
struct EarliestTime: Hashable, Sendable {
    private(set) var rawValue: Int32 = .max

    init(rawValue: Int32 = .max) {
        self.rawValue = rawValue
    }

    var isKnown: Bool { rawValue != .max }

    mutating func take(_ time: Timestamp, base: Timestamp) {
        let offset = time.microseconds &- base.microseconds
        guard let milliseconds = Int32(exactly: offset / 1_000 - (offset % 1_000 < 0 ? 1 : 0)) else { return }
        rawValue = min(rawValue, milliseconds)
    }

    /// The same, with another time for one that is too far from the base.
    mutating func take(_ time: Timestamp, orElse other: Timestamp, base: Timestamp) {
        take(Fact.canTell(time, from: base) ? time : other, base: base)
    }

    func time(base: Timestamp) -> Timestamp? {
        isKnown ? Timestamp(microseconds: base.microseconds + Int64(rawValue) * 1_000) : nil
    }
}

/// The facts of a cycle that has too many to hold them itself, and how much of it has been counted.
struct LongCycle: Sendable {
    private(set) var facts: [UInt64]
    var counted: CountedStages

    init(facts: [UInt64], counted: CountedStages) {
        self.facts = facts
        self.counted = counted
    }

    /// Inserts a fact in its place.
    ///
    /// - Parameter limit: how many facts a cycle may have.
    mutating func insert(_ fact: Fact, limit: Int) -> Cycle.Insertion {
        var end = facts.count
        while end > 0, facts[end - 1] > fact.rawValue { end -= 1 }
        if end > 0, facts[end - 1] == fact.rawValue { return .known }
        guard facts.count < limit else { return .full }
        facts.insert(fact.rawValue, at: end)
        return .inserted
    }

    mutating func removeFact(at index: Int) {
        facts.remove(at: index)
    }

    /// Whether a cycle can hold it itself again.
    var isShort: Bool { facts.count <= Cycle.inlineFacts && PackedStages.fits(counted) }
}
