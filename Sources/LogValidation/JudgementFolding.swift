// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// Binds lines to cycles and folds the events into a judgement, on the calling thread of a run.
struct JudgementFolding {
    /// More cycles than one piece of an input can hold.
    private static let cyclesOfAPiece = 32_768

    private let detail: JudgementOptions.Detail
    private let key: IdentityKey
    private let pseudonyms: EphemeralPseudonyms
    private let lines: LogDecoderOptions
    /// The binder of the current device.
    private var binder: LogBinder
    private let listedCycles: Int
    private var fold: LifecycleFold
    private var notes: CycleNotes
    private var judgement = Judgement()
    /// The fingerprints of the devices that are known only by their files.
    private var devices: Set<UInt64> = [0]
    /// The installations that cycles name, until there are two.
    private var installations: Set<UInt64?> = []
    /// The inputs in the order in which they were read.
    private var inputs: [(index: Int, input: JudgedInput)] = []

    /// - Parameters:
    ///   - openCycles: the maximum number of open cycles.
    ///   - listedCycles: the maximum number of listed cycles.
    init(
        _ options: JudgementOptions,
        _ pseudonyms: EphemeralPseudonyms,
        openCycles: Int,
        listedCycles: Int = JudgementOptions.listedCycles
    ) {
        self.listedCycles = listedCycles
        if case .testRun(let scheduleId?) = options.detail {
            detail = .testRun(scheduleId: pseudonyms.shaped(identifier: scheduleId))
        } else {
            detail = options.detail
        }
        key = pseudonyms.identityKey
        self.pseudonyms = pseudonyms
        lines = options.lines
        binder = LogBinder(lines, pseudonyms: pseudonyms, identityKey: key)
        var limits = LifecycleLimits()
        limits.openCycles = openCycles
        fold = LifecycleFold(
            key: key,
            limits: limits,
            keepsClosedCycles: detail.needsCycles,
            deduplicates: false,
            isReceiver: false
        )
        // The notes of the cycles that a piece closes are still kept while its own events are noted.
        notes = CycleNotes(limit: openCycles + Self.cyclesOfAPiece, hasDetails: detail.isTestRun)
    }

    /// Whether the judgement names the file of each cycle.
    var namesFiles: Bool {
        get { judgement.namesFiles }
        set { judgement.namesFiles = newValue }
    }

    mutating func add(_ piece: InputPiece, input: Int, readAt: Timestamp) {
        switch piece {
        case .device(let source):
            finishDevice(readAt)
            var lines = lines
            lines.source = source
            if let source { devices.insert(source.fingerprint) }
            binder = LogBinder(lines, pseudonyms: pseudonyms, identityKey: key)
        case .lines(let parsed): add(binder.bind(parsed, readAt: readAt), input: input, receivedAt: readAt)
        case .events(let decoded): add(decoded, input: input, receivedAt: readAt)
        case .end(let judged):
            inputs.append((input, judged))
            binder.beginPart()
        }
    }

    /// Takes the events that waited for more lines of the device.
    private mutating func finishDevice(_ readAt: Timestamp) {
        guard let last = inputs.last else { return }
        add(binder.flush(readAt: readAt), input: last.index, receivedAt: readAt)
    }

    private mutating func add(_ decoded: DecodedEvents, input: Int, receivedAt: Timestamp) {
        let events = decoded.events
        judgement.events += UInt64(events.count)
        judgement.rejectedEvents += UInt64(decoded.rejected)
        let room = JudgementOptions.listedRejections - judgement.rejected.count
        judgement.rejected += decoded.rejections.prefix(room).map {
            RejectedEvent(input: input, index: $0.index, reason: $0.description)
        }
        if detail.needsCycles { notes.note(events, untimedLines: decoded.untimedLines, input: input, key: key) }
        try? fold.apply(events.bytes.span, receivedAt: receivedAt)
        takeCycles()
    }

    consuming func finish(readAt: Timestamp) -> Judgement {
        finishDevice(readAt)
        fold.finish()
        takeCycles()
        judgement.inputs = inputs.sorted { $0.index < $1.index }.map(\.input)
        judgement.totals = fold.totals
        judgement.groups = fold.totalsByGroup
        judgement.device = notes.device
        judgement.namesInstallations = installations.count > 1
        judgement.cycles.sort { left, right in
            left.order == right.order
                ? (left.scheduleId ?? "", left.input) < (right.scheduleId ?? "", right.input) : left.order < right.order
        }
        return judgement
    }

    private mutating func takeCycles() {
        guard detail.needsCycles else { return }
        for closed in fold.takeClosedCycles() {
            for requirement in Requirement.allCases where requirement.isMet(by: closed) {
                judgement.reached.insert(requirement)
            }
            var cycle = JudgedCycle(closed: closed)
            if !devices.contains(closed.installation) { cycle.installation = closed.installation }
            if installations.count < 2 { installations.insert(cycle.installation) }
            if let note = notes.take(closed) {
                cycle.scheduleId = note.scheduleId
                cycle.input = note.input
                if let details = note.details { cycle.details = details }
            }
            list(cycle)
        }
    }

    private mutating func list(_ cycle: JudgedCycle) {
        switch detail {
        case .counters: break
        case .cycles:
            if judgement.cycles.count < listedCycles {
                judgement.cycles.append(cycle)
            } else {
                judgement.omittedCycles += 1
            }
        case .testRun(let scheduleId):
            let isWanted = scheduleId == nil || cycle.scheduleId == scheduleId
            let isLater = judgement.cycles.first.map { $0.order <= cycle.order } ?? true
            if isWanted, isLater {
                judgement.omittedCycles += UInt64(judgement.cycles.count)
                judgement.cycles = [cycle]
            } else {
                judgement.omittedCycles += 1
            }
        }
    }
}

extension JudgementOptions.Detail {
    fileprivate var needsCycles: Bool {
        if case .counters = self { false } else { true }
    }

    var isTestRun: Bool {
        if case .testRun = self { true } else { false }
    }
}

/// What the fold does not keep of open cycles: the texts, and the input with their first event.
///
/// Bounded: above the limit new cycles are not noted and are listed without their id.
private struct CycleNotes {
    /// The notes of one cycle.
    struct Note {
        var scheduleId: String?
        var input: Int
        var details: CycleDetails?
        /// Whether the cycle was closed; another one of the same schedule may follow.
        fileprivate var isTaken = false
    }

    /// What names a cycle without a schedule id.
    private struct Notification: Hashable {
        var installation: UInt64
        var time: Timestamp
    }

    /// The device as any event describes it.
    private(set) var device = DeviceNames()

    private let limit: Int
    private let hasDetails: Bool
    private var bySchedule: [UInt64: Note] = [:]
    private var byNotification: [Notification: Note] = [:]
    private var lastSchedule: UInt64?

    /// - Parameters:
    ///   - limit: the maximum number of noted cycles.
    ///   - hasDetails: whether to note the details of a test run's record.
    init(limit: Int, hasDetails: Bool) {
        self.limit = limit
        self.hasDetails = hasDetails
    }

    /// - Parameter untimedLines: the line numbers of the events without a time, as far as they are known.
    mutating func note(_ events: EventBatch, untimedLines: [Int] = [], input: Int, key: IdentityKey) {
        let bytes = events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        var lines = untimedLines[...]
        while (try? cursor.next(into: &event, in: bytes)) ?? false {
            note(event, bytes, line: event.isTimeAssumed ? lines.popFirst() : nil, input: input, key: key)
        }
    }

    /// Takes the notes of a closed cycle.
    mutating func take(_ cycle: ClosedCycle) -> Note? {
        lastSchedule = nil
        if let schedule = cycle.schedule, let note = bySchedule[schedule] {
            bySchedule[schedule]?.take()
            return note
        }
        guard let time = cycle.notificationTime else { return nil }
        let notification = Notification(installation: cycle.installation, time: time)
        guard let note = byNotification[notification] else { return nil }
        byNotification[notification]?.take()
        return note
    }

    private mutating func note(_ event: Event, _ bytes: Span<UInt8>, line: Int?, input: Int, key: IdentityKey) {
        if hasDetails { device = DeviceNames(event, bytes).completed(by: device) }
        if let schedule = key.schedule(of: event, in: bytes) {
            guard hasDetails || schedule != lastSchedule else { return }
            lastSchedule = schedule
            if bySchedule[schedule] == nil {
                guard Self.dropTaken(&bySchedule, limit) else { return }
                bySchedule[schedule] = newNote(bytes.text(event.scheduleId), input)
            }
            bySchedule[schedule]?.isTaken = false
            if hasDetails { bySchedule[schedule]?.details?.add(event, bytes, line: line) }
        } else if let time = event.scheduledFor {
            let notification = Notification(installation: event.installation?.fingerprint ?? 0, time: time)
            if byNotification[notification] == nil {
                guard Self.dropTaken(&byNotification, limit) else { return }
                byNotification[notification] = newNote(nil, input)
            }
            byNotification[notification]?.isTaken = false
            if hasDetails { byNotification[notification]?.details?.add(event, bytes, line: line) }
        }
    }

    private func newNote(_ scheduleId: String?, _ input: Int) -> Note {
        Note(scheduleId: scheduleId, input: input, details: hasDetails ? CycleDetails() : nil)
    }

    /// Drops the notes of closed cycles when full; false when it is still full.
    private static func dropTaken<Key>(_ notes: inout [Key: Note], _ limit: Int) -> Bool {
        if notes.count >= limit { notes = notes.filter { !$0.value.isTaken } }
        return notes.count < limit
    }
}

extension CycleNotes.Note {
    fileprivate mutating func take() {
        isTaken = true
        if details != nil { details = CycleDetails() }
    }
}

extension CycleDetails {
    /// The maximum number of failures kept of a cycle.
    private static let keptFailures = 16

    fileprivate mutating func add(_ event: Event, _ bytes: Span<UInt8>, line: Int?) {
        earliestBeginDate = event.earliestBeginDate ?? earliestBeginDate
        device = DeviceNames(event, bytes).completed(by: device)
        guard event.kind.isFailure else { return }
        failureCount += 1
        if failures.count < Self.keptFailures { failures.append(FailureNote(event, bytes, line: line)) }
    }
}

extension DeviceNames {
    fileprivate init(_ event: Event, _ bytes: Span<UInt8>) {
        model = bytes.text(event.deviceModel)
        system = bytes.text(event.osVersion)
        app = bytes.text(event.appVersion)
    }
}

extension FailureNote {
    fileprivate init(_ event: Event, _ bytes: Span<UInt8>, line: Int?) {
        time = event.timestamp
        hasAssumedTime = event.isTimeAssumed
        self.line = line.map { $0 + 1 }
        kind = event.kind
        reason = event.reason
        error = bytes.text(event.error)
        status = event.status
    }
}

extension Span<UInt8> {
    /// A text of an event; nil where it is empty.
    fileprivate func text(_ range: Event.Text) -> String? {
        guard !range.isEmpty else { return nil }
        return unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension EventKind {
    /// Whether events of this kind report a failure.
    fileprivate var isFailure: Bool {
        switch self {
        case .prefetchScheduleFailed, .prefetchFailure, .prefetchExpired, .prefetchMissed, .contentCacheFailed,
            .contentMissing, .notificationDenied, .notificationDrift:
            true
        default: false
        }
    }
}
