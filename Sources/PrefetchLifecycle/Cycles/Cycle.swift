// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An open cycle in 92 bytes: its facts in event order, what it keeps once, and what has been counted of it.
///
/// Every member is a union, a minimum or a maximum over events, so the order of arrival cannot matter. Members of four
/// bytes avoid padding in a page of cycles.
struct Cycle: Sendable {
    static let inlineFacts = 4

    private var scheduleWords: SplitWord
    private let installationWords: SplitWord
    private var facts: InlineArray<4, SplitWord> = .init(repeating: SplitWord(0))
    /// The second that all times are relative to.
    private let baseSecond: UInt32
    private var dueSeconds: UInt32 = 0
    /// The closing time in seconds since 1970, by the ledger's clock.
    var closesAt: UInt32 = 0
    var used = EarliestTime()
    var delivered = EarliestTime()
    /// When its first fetch started, and when content was cached first, by the device's clock.
    var started = EarliestTime()
    var cached = EarliestTime()
    /// The earliest begin of the task.
    var window = EarliestTime()
    /// Bits 0-23: the largest age of its used content in seconds, plus one, 0 for none, at most 194 days, which is more
    /// than a `ttl`; 24-31: details.
    private var ageAndDetails: UInt32 = 0
    /// What has been counted; a long cycle keeps it in its `LongCycle`.
    private var countedStages = PackedStages()
    /// Bits 0-13: flags; 14-23: milliseconds of the notification time; 24-31: group.
    private var packed: UInt32 = 0

    struct Flags: OptionSet, Sendable {
        var rawValue: UInt16
        /// It was delivered or summed up, and closes after the grace period.
        static let isEnding = Flags(rawValue: 1 << 0)
        /// Its facts are in a `LongCycle`, because they do not fit inline.
        static let isLong = Flags(rawValue: 1 << 1)
        static let hasDue = Flags(rawValue: 1 << 2)
        /// It is the indexed one of the cycles with this installation and notification time.
        static let ownsDue = Flags(rawValue: 1 << 3)
        static let hasAssumedTimes = Flags(rawValue: 1 << 4)
        static let contentMissing = Flags(rawValue: 1 << 5)
        static let drifted = Flags(rawValue: 1 << 6)
        /// Hashes matched whose facts an older version did not keep.
        static let contentMatches = Flags(rawValue: 1 << 7)
        static let scheduleMatches = Flags(rawValue: 1 << 8)
        static let ageKnown = Flags(rawValue: 1 << 9)
        /// Its task was scheduled while another one was waiting.
        static let isSecond = Flags(rawValue: 1 << 10)
        /// An older version saw that its task was scheduled soon after a denial in the same installation.
        static let scheduledWhileDenied = Flags(rawValue: 1 << 11)
        /// It was closed and judged before; late events count but are not judged.
        static let isReopened = Flags(rawValue: 1 << 12)
        /// The use of its content carried an age, which is already counted.
        static let ageCounted = Flags(rawValue: 1 << 13)
    }

    /// What its rules need to know once.
    struct Details: OptionSet, Sendable {
        var rawValue: UInt8
        /// An event opened it that tells of a cycle; others alone, as that a schedule was persisted, get no verdict.
        static let isTold = Details(rawValue: 1 << 0)
        static let isPersisted = Details(rawValue: 1 << 1)
        static let isLeadCapped = Details(rawValue: 1 << 2)
        /// A submission told its lead, and its earliest begin was another one, or the same.
        static let leadDiffers = Details(rawValue: 1 << 3)
        static let leadAgrees = Details(rawValue: 1 << 4)
        /// A result named another notification time, and its cycle was taken into this one.
        static let timeDiffers = Details(rawValue: 1 << 5)
        /// Its delivery with prefetched content has been counted.
        static let isShownCounted = Details(rawValue: 1 << 6)
        /// The receiver's clock, by which it was delivered, is more than a second from the device's.
        static let isDeliverySkewed = Details(rawValue: 1 << 7)
    }

    init(schedule: UInt64, installation: UInt64, base: Timestamp) {
        scheduleWords = SplitWord(schedule)
        installationWords = SplitWord(installation)
        baseSecond = UInt32(clamping: base.microseconds / 1_000_000)
    }

    /// The hash of installation and schedule id; 0 without an id.
    var schedule: UInt64 {
        get { scheduleWords.value }
        set { scheduleWords = SplitWord(newValue) }
    }

    /// The fingerprint of the installation; 0 without one.
    var installation: UInt64 { installationWords.value }

    /// The time that its other times are relative to.
    var base: Timestamp { Timestamp(seconds: Int64(baseSecond)) }

    var flags: Flags {
        get { Flags(rawValue: UInt16(truncatingIfNeeded: packed & 0x3FFF)) }
        set { packed = packed & ~0x3FFF | UInt32(newValue.rawValue) }
    }

    /// The group of platform and version that it counts in.
    var group: UInt8 {
        get { UInt8(truncatingIfNeeded: packed >> 24) }
        set { packed = packed & 0x00FF_FFFF | UInt32(newValue) << 24 }
    }

    /// The notification time, in whole milliseconds.
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

    /// Whether it is known by its schedule alone, or by its notification time alone.
    var half: CycleHalf? {
        guard flags.contains(.hasDue) else { return .undated }
        return scheduleWords.isZero ? .timed : nil
    }

    /// The notification time, in seconds since 1970.
    var dueSecond: UInt32? { flags.contains(.hasDue) ? dueSeconds : nil }

    /// The largest age of its used content that was told, in seconds.
    var age: Int64? {
        get { ageAndDetails & Self.ageMask == 0 ? nil : Int64(ageAndDetails & Self.ageMask) - 1 }
        set {
            let plusOne = newValue.map { UInt32(clamping: min(max($0, 0), Int64(Self.ageMask) - 1) + 1) } ?? 0
            ageAndDetails = ageAndDetails & ~Self.ageMask | plusOne
        }
    }

    private static let ageMask: UInt32 = 1 << 24 - 1

    var details: Details {
        get { Details(rawValue: UInt8(truncatingIfNeeded: ageAndDetails >> 24)) }
        set { ageAndDetails = ageAndDetails & Self.ageMask | UInt32(newValue.rawValue) << 24 }
    }

    /// What has been counted of a cycle with inline facts.
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

    /// Counts a fact that was inserted, where `StageCounts` of all facts need not be made for it: it is the first one of its
    /// stage and behind all others, and no result is among those, so that no other count changes by it.
    ///
    /// - Returns: false where that may be otherwise; nothing was counted then.
    mutating func countAlone(_ fact: Fact, into totals: inout LifecycleTotals) -> Bool {
        guard let stage = fact.countedAlone else { return false }
        var stages: UInt32 = 0
        var place = 0
        while place < Self.inlineFacts, facts[place].value != fact.rawValue {
            stages |= Fact(rawValue: facts[place].value).stageBit
            place += 1
        }
        let isLast = place + 1 == Self.inlineFacts || facts[place + 1].isZero
        guard isLast, stages & (Fact.results | fact.stageBit) == 0 else { return false }
        countOnce(stage, into: &totals)
        return true
    }

    /// Counts a stage of a cycle with inline facts, unless it has been counted.
    @inline(__always)
    mutating func countOnce(_ stage: CountedOnce, into totals: inout LifecycleTotals) {
        guard countedStages.countOnce(stage) else { return }
        switch stage {
        case .scheduled: totals.scheduled += 1
        case .executed: totals.executed += 1
        case .success: totals.success += 1
        case .used: totals.used += 1
        }
        totals.increments += 1
    }

    mutating func removeFacts() {
        facts = .init(repeating: SplitWord(0))
    }

    /// Where a long cycle's facts are among those of its page; kept in the room of the inline ones.
    var longPlace: Int {
        get { Int(facts[0].low) }
        set {
            removeFacts()
            facts[0] = SplitWord(UInt64(newValue))
        }
    }

    /// Whether an event of its inline facts named no notification time.
    var hasUndatedFacts: Bool {
        for index in 0..<Self.inlineFacts where facts[index].low & UInt32(Fact.undatedBit) != 0 { return true }
        return false
    }

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

/// The one name that a cycle is known by, where an event with both may show that it is the same as one known by the other.
enum CycleHalf {
    /// Its schedule, without a notification time, or with one that some of its events are so far from that they may be of
    /// another pass (`CycleTable.half(at:)`).
    case undated
    /// Its notification time, without a schedule.
    case timed
}

/// A 64-bit word in two 32-bit halves, which lowers its alignment to four bytes.
private struct SplitWord: Sendable {
    let low: UInt32
    private let high: UInt32

    init(_ value: UInt64) {
        low = UInt32(truncatingIfNeeded: value)
        high = UInt32(truncatingIfNeeded: value >> 32)
    }

    var value: UInt64 { UInt64(high) << 32 | UInt64(low) }
    var isZero: Bool { low | high == 0 }
}

/// The earliest of several times, in milliseconds after a cycle's base, in four bytes.
///
/// Times more than 24 days from the base are ignored.
struct EarliestTime: Hashable, Sendable {
    private(set) var rawValue: Int32 = .max

    init(rawValue: Int32 = .max) {
        self.rawValue = rawValue
    }

    var isKnown: Bool { rawValue != .max }

    mutating func include(_ time: Timestamp, base: Timestamp) {
        let offset = time.microseconds &- base.microseconds
        guard let milliseconds = Int32(exactly: offset / 1_000 - (offset % 1_000 < 0 ? 1 : 0)) else { return }
        rawValue = min(rawValue, milliseconds)
    }

    /// Includes a time, or the fallback where the time is too far from the base.
    mutating func include(_ time: Timestamp, orElse other: Timestamp, base: Timestamp) {
        include(Fact.isRepresentable(time, from: base) ? time : other, base: base)
    }

    func time(base: Timestamp) -> Timestamp? {
        isKnown ? Timestamp(microseconds: base.microseconds + Int64(rawValue) * 1_000) : nil
    }
}
