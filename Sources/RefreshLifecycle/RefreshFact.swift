// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An event of the background refresh as its installation keeps it, in 16 bytes.
///
/// The word holds, from its lowest bit: the kind (4 bits), a truth (2), a reason (3), whether the time is assumed (1), a
/// number (40), and whether an analytics event told it (1). The bits from 60 on are the fold's own. Checkpoints store it.
struct RefreshFact: Hashable, Sendable {
    /// What it tells. The raw value orders facts of one time as the app writes them.
    enum Kind: UInt8, Sendable {
        case started = 0
        case checked = 1
        case notificationSent = 2
        case notificationSkipped = 3
        case notificationFailed = 4
        case skipped = 5
        case expired = 6
        case completed = 7
        case scheduled = 8
        case scheduleFailed = 9
    }

    /// The event time, in microseconds since 1970.
    let time: Int64
    private(set) var word: UInt64

    private static let truthShift: UInt64 = 4
    private static let reasonShift: UInt64 = 6
    private static let assumedBit: UInt64 = 1 << 9
    private static let numberShift: UInt64 = 10
    private static let numberLimit: UInt64 = 1 << 40 - 1
    private static let contentMask: UInt64 = 1 << 50 - 1
    private static let analyticsBit: UInt64 = 1 << 50
    private static let toldMask = contentMask | analyticsBit

    init(time: Int64, word: UInt64) {
        self.time = time
        self.word = word
    }

    /// Nil for an event of another app.
    init?(_ event: borrowing Event) {
        let kind: Kind
        var truth: Bool?
        var number: Int64?
        switch event.kind {
        case .refreshStarted: kind = .started
        case .refreshChecked:
            kind = .checked
            number = event.daysSinceTest
            truth = event.isTestAvailable ?? number.map { $0 >= RefreshRules.cadenceDays }
        case .refreshCompleted: (kind, truth, number) = (.completed, event.isRefreshSuccessful, event.refreshDuration)
        case .refreshExpired: kind = .expired
        case .refreshSkipped: kind = .skipped
        case .refreshScheduled: (kind, number) = (.scheduled, event.refreshDelay.map { $0 / 1_000_000 })
        case .refreshScheduleFailed: kind = .scheduleFailed
        case .refreshNotificationSent: kind = .notificationSent
        case .refreshNotificationSkipped: (kind, number) = (.notificationSkipped, event.daysSinceNotification)
        case .refreshNotificationFailed: kind = .notificationFailed
        default: return nil
        }
        var word = UInt64(kind.rawValue)
        if let truth { word |= (truth ? 2 : 1) << Self.truthShift }
        word |= UInt64(event.skipReason?.rawValue ?? 0) << Self.reasonShift
        if event.isTimeAssumed { word |= Self.assumedBit }
        if event.isAnalytics { word |= Self.analyticsBit }
        if let number { word |= min(UInt64(max(number, 0)) + 1, Self.numberLimit) << Self.numberShift }
        time = event.timestamp.microseconds
        self.word = word
    }

    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: word & 15)) ?? .started }

    /// Whether a refresh was successful, or a test is available.
    var truth: Bool? {
        switch word >> Self.truthShift & 3 {
        case 1: false
        case 2: true
        default: nil
        }
    }

    var reason: RefreshSkipReason? { RefreshSkipReason(rawValue: UInt8(word >> Self.reasonShift & 7)) }

    /// The days of a check or of a skipped notification, the microseconds of a completion, the seconds of a schedule.
    var number: Int64? {
        let stored = word >> Self.numberShift & Self.numberLimit
        return stored == 0 ? nil : Int64(stored) - 1
    }

    /// Whether the time only orders the fact among others.
    var isAssumed: Bool { word & Self.assumedBit != 0 }

    /// Whether an analytics event told it, and no log line.
    var isAnalytics: Bool { word & Self.analyticsBit != 0 }

    /// Whether its stamp has no fraction of a second, so that it stands for all of its second and may be earlier than the
    /// start of its run.
    var isWholeSecond: Bool { !isAssumed && time % RefreshRules.second == 0 }

    /// Whether it is a start whose stamp has a fraction of a second.
    var isStartWithinSecond: Bool { kind == .started && !isAssumed && time % RefreshRules.second != 0 }

    /// Whether two facts tell the same, but for the fold's own bits.
    func tellsTheSame(as other: RefreshFact) -> Bool {
        time == other.time && word & Self.toldMask == other.word & Self.toldMask
    }

    /// The order by time, and of one time by kind and what is told, so that it never depends on the arrival.
    static func precedes(_ left: RefreshFact, _ right: RefreshFact) -> Bool {
        left.time != right.time ? left.time < right.time : left.rank < right.rank
    }

    /// What it tells, as a number that begins with its kind.
    private var rank: UInt64 { word << 60 | (word & Self.toldMask) >> Self.truthShift }

    /// Whether it ends a run.
    var isEnd: Bool {
        switch kind {
        case .skipped, .expired, .completed: true
        default: false
        }
    }

    /// Whether it is about the schedule of the next run and belongs to none.
    var isOfSchedule: Bool { kind == .scheduled || kind == .scheduleFailed }

    /// What a line and an analytics event have in common that tell of one moment; nil for a fact that no counter counts at
    /// once.
    var momentKey: UInt64? {
        switch kind {
        case .started, .expired, .completed: nil
        case .skipped where reason == nil: nil
        case .notificationSkipped where reason == nil: nil
        case .checked where truth == nil: nil
        case .checked, .scheduled: word & Self.contentMask
        default: word & (1 << Self.numberShift - 1)
        }
    }
}

extension RefreshFact {
    /// It stands for its moment in the counters.
    static let counted: UInt64 = 1 << 60
    /// The outcome of its run is counted.
    static let outcomeCounted: UInt64 = 1 << 61
    /// Its run was judged.
    static let judged: UInt64 = 1 << 62

    func has(_ flag: UInt64) -> Bool { word & flag != 0 }
    mutating func set(_ flag: UInt64, _ isSet: Bool = true) { word = isSet ? word | flag : word & ~flag }
}

/// The limits of the rules (docs/second-app.md).
package enum RefreshRules {
    static let second: Int64 = 1_000_000
    private static let hour = 3_600 * second
    static let day = 24 * hour

    /// A test is due this many days after the last one.
    package static let cadenceDays: Int64 = 90
    /// The most days that an event can tell of.
    static let mostDays: Int64 = 100_000
    /// The shortest time between two refreshes.
    package static let minimumInterval = 4 * hour
    /// The time within which the user is notified once.
    static let notificationWindow = 90 * day
    /// The time within which a run must end.
    static let runLimit = 35 * second
    /// The target for the duration of a run.
    package static let targetDuration = 20 * second
    /// The time that the operating system gives a task.
    static let systemLimit = 30 * second
    /// The time within which the next run must be scheduled.
    static let schedulingLimit = 4 * hour + 15 * 60 * second

    /// A line and an analytics event of one moment are less than this apart: by their times at most a second, and a stamp of
    /// whole seconds may be up to a second before its time.
    static let moment = 2 * second
    /// How long after its start an event may still belong to a run, so that an end that comes far too late is its end.
    static let reach = 10 * 60 * second
    /// How long after the end an event belongs to a run that has told of no start.
    static let trailing = 5 * second
}
