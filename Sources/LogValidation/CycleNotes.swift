// SPDX-License-Identifier: Apache-2.0

internal import PrefetchLifecycle
internal import TelemetryEvents

/// What the fold does not keep of open cycles: the texts, and which input told of them first.
///
/// Bounded: past the limit nothing new is noted, and such a cycle is listed without its id.
struct CycleNotes {
    /// What is noted of a cycle.
    struct Note {
        var scheduleId: String?
        var input: Int
        var details: CycleDetails?
        /// Whether its cycle has been closed; another one of the same schedule may follow.
        fileprivate var isTaken = false
    }

    /// The device as any event describes it.
    private(set) var device = DeviceNames()

    private let limit: Int
    private let hasDetails: Bool
    private var bySchedule: [UInt64: Note] = [:]
    private var byNotification: [Timestamp: Note] = [:]
    private var lastSchedule: UInt64?

    /// - Parameters:
    ///   - limit: how many cycles are noted at most.
    ///   - hasDetails: whether everything that a test run's record holds is noted.
    init(limit: Int, hasDetails: Bool) {
        self.limit = limit
        self.hasDetails = hasDetails
    }

    /// - Parameter untimedLines: where the lines of the events without a time stand, as far as that is known.
    mutating func note(_ events: EventBatch, untimedLines: [Int] = [], input: Int, key: IdentityKey) {
        let bytes = events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        var lines = untimedLines[...]
        while (try? cursor.next(into: &event, in: bytes)) ?? false {
            note(event, bytes, line: event.isTimeAssumed ? lines.popFirst() : nil, input: input, key: key)
        }
    }

    /// Gives out what is known of a closed cycle.
    mutating func take(_ cycle: ClosedCycle) -> Note? {
        lastSchedule = nil
        if let schedule = cycle.schedule, let note = bySchedule[schedule] {
            bySchedule[schedule]?.take()
            return note
        }
        guard let time = cycle.notificationTime, let note = byNotification[time] else { return nil }
        byNotification[time]?.take()
        return note
    }

    private mutating func note(_ event: Event, _ bytes: Span<UInt8>, line: Int?, input: Int, key: IdentityKey) {
        if hasDetails { device = DeviceNames(event, bytes).completed(by: device) }
        if let schedule = key.schedule(of: event, in: bytes) {
            guard hasDetails || schedule != lastSchedule else { return }
            lastSchedule = schedule
            if bySchedule[schedule] == nil {
                guard Self.hasRoom(&bySchedule, limit) else { return }
                bySchedule[schedule] = newNote(bytes.text(event.scheduleId), input)
            }
            bySchedule[schedule]?.isTaken = false
            if hasDetails { bySchedule[schedule]?.details?.add(event, bytes, line: line) }
        } else if let time = event.scheduledFor {
            if byNotification[time] == nil {
                guard Self.hasRoom(&byNotification, limit) else { return }
                byNotification[time] = newNote(nil, input)
            }
            byNotification[time]?.isTaken = false
            if hasDetails { byNotification[time]?.details?.add(event, bytes, line: line) }
        }
    }
}

extension CycleNotes {
    private func newNote(_ scheduleId: String?, _ input: Int) -> Note {
        Note(scheduleId: scheduleId, input: input, details: hasDetails ? CycleDetails() : nil)
    }

    /// Whether one more can be noted, once those of closed cycles are gone.
    private static func hasRoom<Key>(_ notes: inout [Key: Note], _ limit: Int) -> Bool {
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
    /// How many failures of a cycle are kept.
    private static let keptFailures = 16

    fileprivate mutating func add(_ event: Event, _ bytes: Span<UInt8>, line: Int?) {
        earliestBeginDate = event.earliestBeginDate ?? earliestBeginDate
        device = DeviceNames(event, bytes).completed(by: device)
        guard event.kind.tellsOfFailure else { return }
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
    /// Whether an event of this kind says that something went wrong.
    fileprivate var tellsOfFailure: Bool {
        switch self {
        case .prefetchScheduleFailed, .prefetchFailure, .prefetchExpired, .prefetchMissed, .contentCacheFailed,
            .contentMissing, .notificationDenied, .notificationDrift:
            true
        default: false
        }
    }
}
