// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An open cycle: its facts in their order, what is kept of it once, and how much of it has been counted. 96 bytes.
///
/// Everything in it is a union, an earliest or a largest of what was told, so that the order of arrival cannot matter.
struct Cycle: Sendable {
    static let inlineFacts = 5

    /// The hash of installation and schedule id; 0 where no id was told.
    var schedule: UInt64
    /// The fingerprint of the installation; 0 where none was told.
    let installation: UInt64
    private var facts: InlineArray<5, UInt64> = [0, 0, 0, 0, 0]
    var counted = CountedStages()
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
    var flags: Flags = []
    /// Which group of platform and version it counts in.
    var group: UInt8 = 0
    /// The milliseconds of the notification time, and from bit 10 on how many facts there are.
    private var packed: UInt16 = 0

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
        self.schedule = schedule
        self.installation = installation
        baseSecond = UInt32(clamping: base.microseconds / 1_000_000)
    }

    /// What its times are relative to.
    var base: Timestamp { Timestamp(seconds: Int64(baseSecond)) }

    /// When the notification is due, in whole milliseconds.
    var due: Timestamp? {
        get {
            guard flags.contains(.hasDue) else { return nil }
            return Timestamp(microseconds: Int64(dueSeconds) * 1_000_000 + Int64(packed & 0x3FF) * 1_000)
        }
        set {
            guard let newValue else { return }
            let milliseconds = newValue.microseconds / 1_000
            flags.insert(.hasDue)
            dueSeconds = UInt32(clamping: milliseconds / 1_000)
            packed = packed & ~0x3FF | UInt16(truncatingIfNeeded: milliseconds % 1_000)
        }
    }

    private(set) var factCount: Int {
        get { Int(packed >> 10) }
        set { packed = packed & 0x3FF | UInt16(truncatingIfNeeded: newValue << 10) }
    }

    /// When the notification is due, in seconds since 1970.
    var dueSecond: UInt32? { flags.contains(.hasDue) ? dueSeconds : nil }

    /// How long its content may be used, in seconds.
    var ttl: Int64? {
        get { ttlPlusOne == 0 ? nil : Int64(ttlPlusOne) - 1 }
        set { ttlPlusOne = newValue.map { UInt32(clamping: $0 + 1) } ?? 0 }
    }

    enum Insertion {
        case inserted
        case known
        case full
    }

    mutating func insert(_ fact: Fact) -> Insertion {
        var place = factCount
        while place > 0, facts[place - 1] >= fact.rawValue {
            if facts[place - 1] == fact.rawValue { return .known }
            place -= 1
        }
        guard factCount < Self.inlineFacts else { return .full }
        for index in stride(from: factCount, to: place, by: -1) { facts[index] = facts[index - 1] }
        facts[place] = fact.rawValue
        factCount += 1
        return .inserted
    }

    /// Counts what its inline facts tell beyond what was counted before.
    mutating func count(into totals: inout LifecycleTotals) {
        let counts = StageCounts(
            facts.span.extracting(first: factCount),
            flags,
            isUsed: used.isKnown,
            isClosing: false
        )
        counted.count(counts, into: &totals)
        countKept(into: &totals)
    }

    mutating func removeFact(at index: Int) {
        for place in index + 1..<max(factCount, index + 1) { facts[place - 1] = facts[place] }
        factCount -= 1
    }

    /// The facts, for a checkpoint or for a list that outgrows the cycle.
    var factList: [UInt64] { (0..<factCount).map { facts[$0] } }

    /// Calls `body` with the inline facts.
    func withFacts<Result>(_ body: (Span<UInt64>) -> Result) -> Result {
        let facts = facts
        return body(facts.span.extracting(first: factCount))
    }
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

    func time(base: Timestamp) -> Timestamp? {
        isKnown ? Timestamp(microseconds: base.microseconds + Int64(rawValue) * 1_000) : nil
    }
}
