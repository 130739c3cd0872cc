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
        var details = CycleDetails()
    }

    /// How many failures of a cycle are kept.
    private static let failuresPerCycle = 16

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

    mutating func note(_ events: EventBatch, input: Int, key: IdentityKey) {
        let bytes = events.bytes.span
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        while (try? cursor.next(into: &event, in: bytes)) ?? false { note(event, bytes, input: input, key: key) }
    }

    /// Gives out what is known of a closed cycle and forgets it.
    mutating func take(_ cycle: ClosedCycle) -> Note? {
        lastSchedule = nil
        if let schedule = cycle.schedule, let note = bySchedule.removeValue(forKey: schedule) { return note }
        return cycle.notificationTime.flatMap { byNotification.removeValue(forKey: $0) }
    }

    private mutating func note(_ event: Event, _ bytes: Span<UInt8>, input: Int, key: IdentityKey) {
        if let schedule = key.schedule(of: event, in: bytes) {
            guard hasDetails || schedule != lastSchedule else { return }
            lastSchedule = schedule
            if bySchedule[schedule] == nil {
                guard bySchedule.count < limit else { return }
                bySchedule[schedule] = Note(scheduleId: text(bytes, event.scheduleId), input: input)
            }
            if hasDetails { addDetails(of: event, bytes, to: &bySchedule[schedule]) }
        } else if let time = event.scheduledFor {
            if byNotification[time] == nil {
                guard byNotification.count < limit else { return }
                byNotification[time] = Note(input: input)
            }
            if hasDetails { addDetails(of: event, bytes, to: &byNotification[time]) }
        } else if hasDetails {
            device = names(of: event, bytes).completed(by: device)
        }
    }

    private mutating func addDetails(of event: Event, _ bytes: Span<UInt8>, to note: inout Note?) {
        guard var details = note?.details else { return }
        details.earliestBeginDate = event.earliestBeginDate ?? details.earliestBeginDate
        let names = names(of: event, bytes)
        details.device = names.completed(by: details.device)
        device = names.completed(by: device)
        if event.kind.tellsOfFailure {
            details.failureCount += 1
            if details.failures.count < Self.failuresPerCycle {
                details.failures.append(
                    FailureNote(
                        time: event.timestamp,
                        hasAssumedTime: event.isTimeAssumed,
                        kind: event.kind,
                        reason: event.reason,
                        error: text(bytes, event.error),
                        status: event.status
                    )
                )
            }
        }
        note?.details = details
    }

    private func names(of event: Event, _ bytes: Span<UInt8>) -> DeviceNames {
        DeviceNames(
            model: text(bytes, event.deviceModel),
            system: text(bytes, event.osVersion),
            app: text(bytes, event.appVersion)
        )
    }

    private func text(_ bytes: Span<UInt8>, _ range: Event.Text) -> String? {
        guard !range.isEmpty else { return nil }
        var copy: [UInt8] = []
        copy.reserveCapacity(range.count)
        for index in range { copy.append(bytes[index]) }
        return String(decoding: copy, as: UTF8.self)
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
