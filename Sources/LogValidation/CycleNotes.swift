// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What the fold does not keep of open cycles: the texts, the input with their first event, and where their events stand.
///
/// Bounded: above the limit new cycles are not noted and are listed without their id.
struct CycleNotes {
    /// The notes of one cycle.
    struct Note {
        var scheduleId: String?
        var input: Int
        /// The notification time that tells the passes of one schedule apart; nil where no event names it.
        fileprivate var due: Timestamp?
        /// What finds it.
        fileprivate var name: Name
        /// The notes of the pass of the same schedule that was noted before it.
        fileprivate var previous: Int?
        /// The number of its device, in the order of reading.
        var device = 0
        var evidence = CycleEvidence()
        /// Where a test run is recorded; in an array, which is one word in the many notes without any.
        fileprivate(set) var details: [CycleDetails] = []
        /// Whether the cycle was closed; another one of the same schedule may follow.
        fileprivate var isTaken = false
        /// Whether it is among the closed ones, and which comes after it there.
        fileprivate var isListed = false
        fileprivate var nextClosed: Int?

        fileprivate init(_ name: Name, scheduleId: String? = nil, due: Timestamp?, input: Int) {
            self.name = name
            self.scheduleId = scheduleId
            self.due = due
            self.input = input
        }

        /// Whether it is of the notification of a time, to the second.
        fileprivate func isDue(_ time: Timestamp) -> Bool {
            guard let due else { return false }
            return abs(due.microseconds - time.microseconds) <= 1_000_000
        }
    }

    /// A rule that events beside the cycles break.
    struct Breach: Hashable {
        var installation: UInt64
        var kind: ViolationKind
    }

    /// When that was first, and whether the time is the log's own.
    struct BreachTime {
        var time: Timestamp
        var isAssumed: Bool
    }

    /// What names a cycle without a schedule id.
    fileprivate struct Notification: Hashable {
        var installation: UInt64
        var time: Timestamp
    }

    fileprivate enum Name {
        /// The hash of its schedule.
        case schedule(UInt64)
        case notification(Notification)
    }

    /// The device as any event describes it.
    private(set) var device = DeviceNames()
    /// The conditions as any event tells them.
    private(set) var conditions = RunConditions()
    /// What the log of each device holds.
    private(set) var logs: [DeviceLog] = []
    /// The latest schedule that each installation told, of the first 1,000 that did.
    private(set) var plans: [UInt64: (time: Timestamp, schedules: PlannedSchedules)] = [:]
    private static let planLimit = 1_000
    /// The rules that events beside the cycles broke, of as many installations.
    private(set) var breaches: [Breach: BreachTime] = [:]
    /// The inputs in the order of reading.
    private(set) var inputs: [Int] = []

    private let limit: Int
    private let hasDetails: Bool
    private let observer: (@Sendable (StageNotice) -> Void)?
    private var notes: [Note] = []
    /// The pass of each schedule that was noted last.
    private var bySchedule: [UInt64: Int] = [:]
    private var byNotification: [Notification: Int] = [:]
    /// The notes of closed cycles, in the order of closing; another cycle may have taken some of them over since.
    private var closed: (first: Int, last: Int)?
    private var lastSchedule: (hash: UInt64, index: Int)?

    /// - Parameters:
    ///   - limit: the maximum number of noted cycles.
    ///   - hasDetails: whether to note the details of a test run's record.
    ///   - observer: is told each stage as it is read.
    init(limit: Int, hasDetails: Bool, observer: (@Sendable (StageNotice) -> Void)? = nil) {
        self.limit = limit
        self.hasDetails = hasDetails
        self.observer = observer
    }

    /// Begins the log of another device.
    mutating func beginDevice() { logs.append(DeviceLog()) }

    /// Begins the events of an input, or goes on with them.
    mutating func begin(input: Int) {
        if inputs.last != input { inputs.append(input) }
        if logs.isEmpty { logs.append(DeviceLog()) }
    }

    /// Takes the notes of a closed cycle.
    mutating func take(_ cycle: ClosedCycle) -> Note? {
        lastSchedule = nil
        var index = cycle.schedule.flatMap { pass(of: $0, cycle) }
        if index == nil, let time = cycle.notificationTime {
            index = byNotification[Notification(installation: cycle.installation, time: time)]
        }
        return index.map { close($0) }
    }

    /// Hands out the notes of a cycle that is closed; its place stays for its late events until room is needed.
    private mutating func close(_ index: Int) -> Note {
        if !notes[index].isListed {
            notes[index].isListed = true
            if let closed { notes[closed.last].nextClosed = index }
            closed = (closed?.first ?? index, index)
        }
        return notes[index].take()
    }

    /// The notes of the pass of a schedule that a closed cycle is.
    private mutating func pass(of schedule: UInt64, _ cycle: ClosedCycle) -> Int? {
        if let only = bySchedule[schedule], notes[only].previous == nil { return only }
        let passes = passes(of: schedule)
        let open = passes.filter { !notes[$0].isTaken }
        guard let due = cycle.notificationTime else {
            return open.first { notes[$0].due == nil } ?? open.first ?? passes.first
        }
        let own = open.first { notes[$0].isDue(due) } ?? open.first { notes[$0].due == nil } ?? open.first
        if let own, cycle.violations.contains(where: { $0.kind == .scheduleTimeDiffers }) {
            // Its result names another time than its schedule, and was noted as a pass of its own.
            let halfADay: Int64 = 12 * 3_600_000_000
            for other in open where other != own {
                guard let time = notes[other].due, abs(time.microseconds - due.microseconds) < halfADay else {
                    continue
                }
                let evidence = close(other).evidence
                notes[own].evidence.add(evidence)
            }
        }
        return own ?? passes.first
    }

    /// The places of the passes of a schedule, the latest noted first.
    private func passes(of schedule: UInt64) -> [Int] { passes(from: bySchedule[schedule]) }

    private func passes(from last: Int?) -> [Int] {
        var places: [Int] = []
        var next = last
        while let place = next {
            places.append(place)
            next = notes[place].previous
        }
        return places
    }

    /// Notes an event of the current input.
    ///
    /// - Parameters:
    ///   - schedule: the hash of its schedule; nil without one.
    ///   - place: where it stands, where that is known.
    mutating func note(_ event: Event, schedule: UInt64?, _ bytes: Span<UInt8>, _ place: EventPlace?) {
        let isLogLine = place?.isLogLine ?? false
        let place = LinePlace(order: Int32(clamping: inputs.count - 1), line: Int32(clamping: (place?.line ?? -1) + 1))
        if hasDetails {
            device = DeviceNames(event, bytes).completed(by: device)
            conditions.add(event)
        }
        // Another app's events belong to no cycle, and say nothing about why one stopped.
        guard event.kind.app == .dnp else { return }
        if event.kind == .scheduleSnapshot { keepPlan(event, bytes) }
        if event.kind == .rollingWindow || !event.clientCounters.isEmpty { keepBreaches(event, bytes) }
        let log = logs.count - 1
        logs[log].add(event, bytes, place)
        let index = index(of: event, schedule: schedule, bytes)
        if let observer, let notice = StageNotice(event, scheduleId: index.flatMap { notes[$0].scheduleId }) {
            observer(notice)
        }
        guard let index else { return }
        notes[index].isTaken = false
        if notes[index].evidence.kinds.isEmpty { notes[index].device = log }
        notes[index].evidence.add(event.kind, at: event.timestamp, place, isLogLine: isLogLine)
        if event.kind == .notificationDelivered { notes[index].evidence.addDelivery(event, isLogLine: isLogLine) }
        if event.kind == .prefetchScheduled { notes[index].evidence.addSubmission(event, isLogLine: isLogLine) }
        if hasDetails { notes[index].details[0].add(event, bytes, line: place.number) }
    }

    private mutating func keepBreaches(_ event: Event, _ bytes: Span<UInt8>) {
        for kind in event.shownViolations(in: bytes)
        where kind == .pendingLimitExceeded || kind == .countersOutOfPattern {
            let breach = Breach(installation: event.installation?.fingerprint ?? 0, kind: kind)
            guard breaches[breach] != nil || breaches.count < Self.planLimit else { return }
            if let known = breaches[breach], known.time <= event.timestamp { continue }
            breaches[breach] = BreachTime(time: event.timestamp, isAssumed: event.isTimeAssumed)
        }
    }

    private mutating func keepPlan(_ event: Event, _ bytes: Span<UInt8>) {
        let installation = event.installation?.fingerprint ?? 0
        if let plan = plans[installation] {
            guard event.timestamp >= plan.time else { return }
        } else if plans.count >= Self.planLimit {
            return
        }
        plans[installation] = (event.timestamp, PlannedSchedules(event, bytes))
    }

    /// The index of the notes of an event's cycle; nil where it has none, or where there is no room.
    private mutating func index(of event: Event, schedule: UInt64?, _ bytes: Span<UInt8>) -> Int? {
        if let schedule {
            if let lastSchedule, lastSchedule.hash == schedule, isPass(lastSchedule.index, of: event) {
                return lastSchedule.index
            }
            let index = pass(of: schedule, event) ?? addPass(of: schedule, event, bytes)
            if let index { lastSchedule = (schedule, index) }
            return index
        }
        guard let time = event.scheduledFor else { return nil }
        let notification = Notification(installation: event.installation?.fingerprint ?? 0, time: time)
        if let known = byNotification[notification] { return known }
        let index = add(Note(.notification(notification), due: time, input: inputs.last ?? 0))
        byNotification[notification] = index
        return index
    }

    /// Whether the pass that an event of the same schedule was of is that of another event, too.
    private func isPass(_ index: Int, of event: Event) -> Bool {
        if let due = event.scheduledFor { return notes[index].due == due }
        return notes[index].previous == nil
    }

    /// The noted pass of a schedule that an event is of: by its notification time, else the nearest one.
    private mutating func pass(of schedule: UInt64, _ event: Event) -> Int? {
        guard let last = bySchedule[schedule] else { return nil }
        var nearest = last
        var undated: Int?
        var next: Int? = last
        while let place = next {
            if let due = event.scheduledFor, notes[place].isDue(due) { return place }
            if notes[place].due == nil, !notes[place].isTaken { undated = place }
            if distance(place, from: event.timestamp) < distance(nearest, from: event.timestamp) { nearest = place }
            next = notes[place].previous
        }
        guard let due = event.scheduledFor else { return nearest }
        if let undated { notes[undated].due = due }
        return undated
    }

    private func distance(_ place: Int, from time: Timestamp) -> Int64 {
        notes[place].due.map { abs($0.microseconds - time.microseconds) } ?? .max
    }

    /// Adds the notes of another pass of a schedule, in the place of those of a closed one.
    private mutating func addPass(of schedule: UInt64, _ event: Event, _ bytes: Span<UInt8>) -> Int? {
        if let closed = passes(of: schedule).first(where: { notes[$0].isTaken }) {
            notes[closed].due = event.scheduledFor
            return closed
        }
        let id = bytes.text(event.scheduleId)
        let note = Note(.schedule(schedule), scheduleId: id, due: event.scheduledFor, input: inputs.last ?? 0)
        guard let index = add(note) else { return bySchedule[schedule] }
        // Room may have been made by forgetting a pass of this schedule.
        notes[index].previous = bySchedule[schedule]
        bySchedule[schedule] = index
        return index
    }

    /// Adds notes, when full in the place of those of the cycle that closed first; nil when it is still full.
    private mutating func add(_ note: Note) -> Int? {
        var note = note
        if hasDetails { note.details = [CycleDetails()] }
        guard notes.count >= limit else {
            notes.append(note)
            return notes.count - 1
        }
        guard let index = forgetClosed() else { return nil }
        notes[index] = note
        return index
    }

    /// Forgets the notes of the cycle that closed first, and returns their place.
    private mutating func forgetClosed() -> Int? {
        while let (first, last) = closed {
            closed = notes[first].nextClosed.map { ($0, last) }
            notes[first].nextClosed = nil
            notes[first].isListed = false
            guard notes[first].isTaken else { continue }
            switch notes[first].name {
            case .schedule(let schedule): forget(first, ofSchedule: schedule)
            case .notification(let notification): byNotification[notification] = nil
            }
            return first
        }
        return nil
    }

    private mutating func forget(_ index: Int, ofSchedule schedule: UInt64) {
        if lastSchedule?.index == index { lastSchedule = nil }
        guard bySchedule[schedule] != index else {
            bySchedule[schedule] = notes[index].previous
            return
        }
        guard let later = passes(of: schedule).first(where: { notes[$0].previous == index }) else { return }
        notes[later].previous = notes[index].previous
    }
}

extension CycleNotes.Note {
    /// Hands out what was noted, without a copy, and begins anew.
    fileprivate mutating func take() -> Self {
        var taken = Self(name, scheduleId: scheduleId, due: due, input: input)
        taken.device = device
        swap(&taken.evidence, &evidence)
        swap(&taken.details, &details)
        if !taken.details.isEmpty { details = [CycleDetails()] }
        isTaken = true
        return taken
    }
}

extension Span<UInt8> {
    /// A text of an event; nil where it is empty.
    func text(_ range: Event.Text) -> String? {
        guard !range.isEmpty else { return nil }
        return unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
