// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// A set of kinds of events.
struct EventKinds: OptionSet, Hashable, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }
    init(_ kind: EventKind) { rawValue = 1 << UInt64(kind.rawValue) }
    init(_ kinds: [EventKind]) { rawValue = kinds.reduce(0) { $0 | 1 << UInt64($1.rawValue) } }

    func contains(_ kind: EventKind) -> Bool { contains(EventKinds(kind)) }
    func containsAny(_ kinds: EventKind...) -> Bool { kinds.contains { contains($0) } }
}

/// A line of an input.
struct LinePlace: Hashable, Comparable, Sendable {
    /// The position of the input in the order of reading, which for a device's rotations is that of time.
    var order: Int32
    /// The line, from 1; in a JSON document the event. Negative in a log that comes newest first.
    var line: Int32

    /// The line as it is shown; 0 where it is not known.
    var number: Int { Int(Int64(line).magnitude) }

    /// Behind all lines.
    static let last = LinePlace(order: .max, line: .max)

    static func < (left: LinePlace, right: LinePlace) -> Bool { (left.order, left.line) < (right.order, right.line) }
}

/// Which events a cycle has, and where in the log its earliest and latest of each kind stand.
struct CycleEvidence: Sendable {
    /// The earliest and the latest event of a kind, by their times.
    struct Sighting: Sendable {
        let kind: EventKind
        var first: LinePlace
        var last: LinePlace
        var firstTime: Timestamp
        var lastTime: Timestamp
    }

    private(set) var kinds: EventKinds = []
    private(set) var sightings: [Sighting] = []
    /// Whether all events are lines of the plugin's log, and none came as JSON.
    private(set) var isOfLogLines = true

    mutating func add(_ kind: EventKind, at time: Timestamp, _ place: LinePlace, isLogLine: Bool) {
        if !isLogLine { isOfLogLines = false }
        guard kinds.contains(kind) else {
            if kinds.isEmpty { sightings.reserveCapacity(6) }
            kinds.insert(EventKinds(kind))
            let sighting = Sighting(kind: kind, first: place, last: place, firstTime: time, lastTime: time)
            return sightings.append(sighting)
        }
        guard let index = sightings.firstIndex(where: { $0.kind == kind }) else { return }
        if time < sightings[index].firstTime {
            sightings[index].firstTime = time
            sightings[index].first = place
        }
        if time >= sightings[index].lastTime {
            sightings[index].lastTime = time
            sightings[index].last = place
        }
    }

    /// Adds what was seen of the same cycle elsewhere.
    mutating func add(_ other: CycleEvidence) {
        for sighting in other.sightings {
            add(sighting.kind, at: sighting.firstTime, sighting.first, isLogLine: other.isOfLogLines)
            add(sighting.kind, at: sighting.lastTime, sighting.last, isLogLine: other.isOfLogLines)
        }
        isDeliveredAgain = isDeliveredAgain || other.isDeliveredAgain
        isSubmittedAgain = isSubmittedAgain || other.isSubmittedAgain
    }

    /// Whether a notification was delivered twice.
    private(set) var isDeliveredAgain = false
    /// Whether the task of a notification was submitted twice.
    private(set) var isSubmittedAgain = false
    /// The first delivery and the first submission of each form and pass.
    private var deliveries: [Telling] = []
    private var submissions: [Telling] = []

    /// A delivery or a submission as one event tells it.
    private struct Telling {
        /// How it is told, which two tellings of one delivery or submission may differ in.
        struct Form: Equatable {
            var isLogLine: Bool
            var namesBegin: Bool
            var namesLead: Bool
            var isTimeAssumed: Bool
        }

        /// More than the forms of all passes of a schedule that are open at once.
        static let limit = 64
        /// As far as two tellings of one delivery or submission in one form may be apart.
        private static let oneForm: Int64 = 1_000_000
        /// The same in two forms, of which each is written at another step, and may be cut to the second.
        private static let twoForms: Int64 = 5_000_000
        /// As far as a telling that names no notification time may be from another one of its pass.
        private static let onePass: Int64 = 12 * 3_600_000_000

        var form: Form
        var due: Timestamp?
        var time: Timestamp

        init(_ event: Event, isLogLine: Bool) {
            form = Form(
                isLogLine: isLogLine,
                namesBegin: event.earliestBeginDate != nil,
                namesLead: event.minutes != nil,
                isTimeAssumed: event.isTimeAssumed
            )
            due = event.scheduledFor
            time = event.timestamp
        }

        /// Whether both are of one notification.
        func isOfPass(of other: Telling) -> Bool {
            if let due, let otherDue = other.due { return due == otherDue }
            return distance(to: other) < Self.onePass
        }

        func isAnotherDelivery(than other: Telling) -> Bool {
            distance(to: other) > (form == other.form ? Self.oneForm : Self.twoForms)
        }

        func isAnotherSubmission(than other: Telling) -> Bool {
            guard form == other.form else {
                return distance(to: other) > Self.twoForms && !form.isTimeAssumed && !other.form.isTimeAssumed
            }
            // Lines without a time are in order, so that each is told once.
            return form.isTimeAssumed ? time != other.time : distance(to: other) >= Self.oneForm
        }

        private func distance(to other: Telling) -> Int64 { abs(time.microseconds - other.time.microseconds) }
    }

    /// Adds a delivery of a notification.
    mutating func addDelivery(_ event: Event, isLogLine: Bool) {
        let new = Telling(event, isLogLine: isLogLine)
        if Self.add(new, to: &deliveries, isAnother: new.isAnotherDelivery) { isDeliveredAgain = true }
    }

    /// Adds a submission of a notification's task.
    mutating func addSubmission(_ event: Event, isLogLine: Bool) {
        let new = Telling(event, isLogLine: isLogLine)
        if Self.add(new, to: &submissions, isAnother: new.isAnotherSubmission) { isSubmittedAgain = true }
    }

    /// Keeps a telling that is the first one of its form and pass.
    ///
    /// - Returns: whether it is another one than any that its pass has.
    private static func add(
        _ new: Telling,
        to tellings: inout [Telling],
        isAnother: (Telling) -> Bool
    ) -> Bool {
        let others = tellings.filter { $0.isOfPass(of: new) }
        if !others.contains(where: { $0.form == new.form }), tellings.count < Telling.limit { tellings.append(new) }
        return others.contains(where: isAnother)
    }

    func sighting(_ kind: EventKind) -> Sighting? {
        kinds.contains(kind) ? sightings.first { $0.kind == kind } : nil
    }

    /// The kind and place of the line that stands first in the log.
    var firstLine: (kind: EventKind, place: LinePlace)? {
        guard var first = sightings.first.map({ ($0.kind, min($0.first, $0.last)) }) else { return nil }
        for sighting in sightings where min(sighting.first, sighting.last) < first.1 {
            first = (sighting.kind, min(sighting.first, sighting.last))
        }
        return first
    }

    /// The kind and place of the line that stands last in the log.
    var lastLine: (kind: EventKind, place: LinePlace)? {
        guard var last = sightings.first.map({ ($0.kind, max($0.first, $0.last)) }) else { return nil }
        for sighting in sightings where max(sighting.first, sighting.last) > last.1 {
            last = (sighting.kind, max(sighting.first, sighting.last))
        }
        return last
    }

    /// The line that shows a violation; nil where its event is not in the log.
    func place(of violation: ViolationKind) -> LinePlace? {
        if violation == .outOfOrder, let early = firstOutOfOrder { return early }
        let shown = ViolationEvidence.of(violation)
        for kind in shown.kinds {
            if let sighting = sighting(kind) { return shown.isLatest ? sighting.last : sighting.first }
        }
        return firstLine?.place
    }

    /// The stages in the order that a cycle must have.
    private static let order: [[EventKind]] = [
        [.prefetchScheduled], [.prefetchExecuted], [.prefetchStarted],
        [.prefetchSuccess, .prefetchFailure, .prefetchExpired],
        [.prefetchCompleted], [.contentCached], [.prefetchUsedForNotification], [.notificationDelivered],
    ]

    /// The first event that comes before one that it needs.
    private var firstOutOfOrder: LinePlace? {
        var before: Timestamp?
        for kinds in Self.order {
            for sighting in kinds.compactMap(sighting) {
                if let before, sighting.firstTime < before { return sighting.first }
            }
            let times = kinds.compactMap { sighting($0)?.firstTime }
            if let earliest = times.min() { before = max(before ?? earliest, earliest) }
        }
        return nil
    }
}

/// Which events show that a rule is broken.
private struct ViolationEvidence {
    var kinds: [EventKind]
    /// Whether the latest of them shows it, and not the earliest.
    var isLatest = true

    static func of(_ violation: ViolationKind) -> ViolationEvidence {
        switch violation {
        case .executedWithoutScheduled: ViolationEvidence(kinds: [.prefetchExecuted], isLatest: false)
        case .successWithoutExecuted: ViolationEvidence(kinds: [.prefetchSuccess], isLatest: false)
        case .failureWithoutExecuted:
            ViolationEvidence(kinds: [.prefetchFailure, .prefetchExpired, .prefetchCompleted], isLatest: false)
        case .usedWithoutSuccess:
            ViolationEvidence(kinds: [.prefetchUsedForNotification, .prefetchCycleComplete], isLatest: false)
        case .duplicateTerminal:
            ViolationEvidence(kinds: [.prefetchSuccess, .prefetchCompleted, .prefetchFailure, .prefetchExpired])
        case .taskNotCompleted, .scheduleHashMismatch, .nextNotScheduled, .executedAfterNotification:
            ViolationEvidence(kinds: [.prefetchExecuted])
        case .contentHashMismatch, .staleContentUsed:
            ViolationEvidence(
                kinds: [.prefetchUsedForNotification, .notificationDelivered, .prefetchCycleComplete, .contentCached]
            )
        case .secondActiveTask, .scheduledWhileDenied, .leadBelowMinimum: ViolationEvidence(kinds: [.prefetchScheduled])
        case .missedWindow: ViolationEvidence(kinds: [.prefetchMissed, .prefetchExecuted, .prefetchScheduled])
        case .driftExceeded: ViolationEvidence(kinds: [.notificationDrift, .notificationDelivered])
        case .expired: ViolationEvidence(kinds: [.prefetchExpired])
        case .outOfOrder: ViolationEvidence(kinds: [.prefetchExecuted])
        case .scheduledNotPersisted, .leadDiffers, .scheduleMissing, .scheduleMoved, .missedNotRescheduled,
            .pendingScheduleLost, .notRescheduledAfterLaunch:
            ViolationEvidence(kinds: [.prefetchScheduled, .notificationScheduled])
        case .scheduleTimeDiffers, .ttlDiffers, .notModifiedWithoutETag:
            ViolationEvidence(kinds: [.prefetchSuccess, .prefetchFailure])
        case .ranTooLong: ViolationEvidence(kinds: [.prefetchCompleted, .prefetchSuccess, .prefetchFailure])
        case .cachedContentLost: ViolationEvidence(kinds: [.contentMissing])
        case .clearedContentUsed: ViolationEvidence(kinds: [.prefetchUsedForNotification])
        case .pendingLimitExceeded, .countersOutOfPattern: ViolationEvidence(kinds: [])
        }
    }
}
