// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The fields of a verdict's journal entry (SPEC 9), named as those of events where they mean the same.
enum VerdictJournalEntry {
    static let outcome: JournalField = "DNP_OUTCOME"

    /// The id by which `journalctl` finds verdicts: random, made once, never changed.
    static let messageID: StaticString = "580112b3fbc44499a2570406064ec8ca"

    static func append(_ verdict: CycleVerdict, to entry: inout JournalEntry) {
        entry.append(.message, verdict.json)
        entry.append(.priority, verdict.journalPriority)
        entry.append(.messageID, messageID)
        entry.append(EventJournalEntry.event, CycleVerdict.event)
        entry.append(EventJournalEntry.timestamp) { verdict.closedAt.appendRFC3339(to: &$0) }
        if let due = verdict.notificationTime {
            entry.append(EventJournalEntry.scheduledFor) { due.appendRFC3339(to: &$0) }
        }
        if let schedule = verdict.schedule { EventJournalEntry.append(cycle: schedule, to: &entry) }
        entry.append(outcome, verdict.outcome.name)
        if let reason = verdict.failureReason { entry.append(EventJournalEntry.reason, reason.name) }
        EventJournalEntry.append(verdict.violations.map(\.kind), to: &entry)
    }
}
