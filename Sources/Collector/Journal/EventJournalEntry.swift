// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The fields of an event's journal entry (SPEC 9).
enum EventJournalEntry {
    /// By which `journalctl -t` selects the entries.
    static let identifier = "dnp-telemetry"
    static let event: JournalField = "DNP_EVENT"
    static let scheduleId: JournalField = "DNP_SCHEDULE_ID"
    static let timestamp: JournalField = "DNP_TIMESTAMP"
    static let scheduledFor: JournalField = "DNP_SCHEDULED_FOR"
    static let reason: JournalField = "DNP_REASON"
    static let error: JournalField = "DNP_ERROR"
    static let duration: JournalField = "DNP_DURATION_MS"
    static let ttl: JournalField = "DNP_TTL"
    static let status: JournalField = "DNP_HTTP_STATUS"
    static let installation: JournalField = "DNP_INSTALLATION"
    static let platform: JournalField = "DNP_PLATFORM"
    static let appVersion: JournalField = "DNP_APP_VERSION"
    static let eventId: JournalField = "DNP_EVENT_ID"
    /// The same in the entries of all events of a schedule and in those of its verdicts.
    static let cycle: JournalField = "DNP_CYCLE"
    /// A rule that the entry tells to be broken; once for each.
    static let violation: JournalField = "DNP_VIOLATION"

    /// - Parameter key: the key of the hashes that identify cycles.
    static func append(_ event: Event, _ records: [UInt8], key: IdentityKey, to entry: inout JournalEntry) {
        let violations = event.shownViolations
        entry.append(.message) { CanonicalJSON.append(event, in: records.span, to: &$0) }
        entry.append(.priority, violations.isEmpty ? event.kind.journalPriority : min(event.kind.journalPriority, 4))
        entry.append(.messageID, event.kind.messageID)
        entry.append(Self.event, event.kind.name)
        text(scheduleId, event.scheduleId, records, &entry)
        entry.append(timestamp) { event.timestamp.appendRFC3339(to: &$0) }
        if let due = event.scheduledFor { entry.append(scheduledFor) { due.appendRFC3339(to: &$0) } }
        if let reason = event.reason { entry.append(Self.reason, reason.name) }
        text(error, event.error, records, &entry)
        if let duration = event.duration { entry.append(Self.duration) { $0.appendMilliseconds(duration) } }
        if let ttl = event.ttl { entry.append(Self.ttl, ttl) }
        if let status = event.status { entry.append(Self.status, status) }
        if let installation = event.installation { entry.append(Self.installation) { installation.appendHex(to: &$0) } }
        text(platform, event.platform, records, &entry)
        text(appVersion, event.appVersion, records, &entry)
        text(eventId, event.eventId, records, &entry)
        if let schedule = key.schedule(of: event, in: records.span) { append(cycle: schedule, to: &entry) }
        append(violations, to: &entry)
    }

    static func append(cycle hash: UInt64, to entry: inout JournalEntry) {
        entry.append(cycle) { $0.append(contentsOf: [UInt8](hexadecimal: hash)) }
    }

    static func append(_ violations: [ViolationKind], to entry: inout JournalEntry) {
        for kind in violations { entry.append(violation, kind.name) }
    }

    private static func text(_ field: JournalField, _ text: Event.Text, _ records: [UInt8], _ entry: inout JournalEntry)
    {
        if !text.isEmpty { entry.append(field) { $0.append(contentsOf: records[text]) } }
    }
}
