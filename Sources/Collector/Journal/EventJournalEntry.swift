// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import PrefetchLifecycle
internal import RefreshLifecycle
internal import TelemetryEvents

/// What takes the fields of an entry: an entry of the journal, or a log record of another destination. Message, priority
/// and event come before all others.
protocol EntryFields: ~Copyable {
    /// Takes the text that people read, which the closure appends.
    mutating func message(writing text: (inout [UInt8]) -> Void)
    /// Takes the syslog level.
    mutating func priority(_ level: Int)
    /// Takes the name of the event.
    mutating func event(_ name: StaticString)
    mutating func append(_ field: JournalField, _ value: StaticString)
    mutating func append(_ field: JournalField, _ value: Int64)
    /// Takes a field whose value the closure appends.
    mutating func append(_ field: JournalField, writing value: (inout [UInt8]) -> Void)
    /// Takes a field with any number of values.
    mutating func append(_ field: JournalField, all values: [StaticString])
}

extension JournalEntry: EntryFields {
    mutating func message(writing text: (inout [UInt8]) -> Void) { append(.message, writing: text) }

    mutating func priority(_ level: Int) { append(.priority, level) }

    mutating func event(_ name: StaticString) { append(EventJournalEntry.event, name) }

    mutating func append(_ field: JournalField, all values: [StaticString]) {
        for value in values { append(field, value) }
    }
}

/// The journal entry of an event; docs/journal.md lists the fields.
enum EventJournalEntry {
    /// The `SYSLOG_IDENTIFIER`, by which `journalctl -t` selects the entries.
    static let identifier = JournalEntryNames.identifier
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
    /// A hash of the schedule that correlates the entries of its events and verdicts; of the background refresh, whose
    /// runs have no id, one of the installation.
    static let cycle: JournalField = "DNP_CYCLE"
    /// A violation; the field occurs once for each.
    static let violation: JournalField = "DNP_VIOLATION"

    /// Appends a record, which may be a verdict, of a batch.
    static func append(
        _ record: LedgerRecord,
        _ batch: LedgerBatch,
        key: IdentityKey,
        to entry: inout some EntryFields & ~Copyable
    ) {
        switch record {
        case .event(let event): append(event, batch.events, key: key, to: &entry)
        case .cycle(let verdict): VerdictJournalEntry.append(verdict, to: &entry)
        case .run(let verdict): VerdictJournalEntry.append(verdict, to: &entry)
        }
    }

    /// - Parameter key: The key of the hashes that identify cycles.
    static func append(
        _ event: Event,
        _ records: [UInt8],
        key: IdentityKey,
        to entry: inout some EntryFields & ~Copyable
    ) {
        let violations = event.shownViolations(in: records.span)
        entry.message { CanonicalJSON.append(event, in: records.span, to: &$0) }
        let hasFailed = event.kind.isFailure || event.isRefreshSuccessful == false
        entry.priority(hasFailed || !violations.isEmpty ? 4 : 6)
        entry.event(event.kind.name)
        entry.append(.messageID, event.kind.messageID)
        text(scheduleId, event.scheduleId, records, &entry)
        entry.append(timestamp) { event.timestamp.appendRFC3339(to: &$0) }
        if let due = event.scheduledFor { entry.append(scheduledFor) { due.appendRFC3339(to: &$0) } }
        if let reason = event.reason { entry.append(Self.reason, reason.name) }
        if let reason = event.skipReason { entry.append(Self.reason, reason.name) }
        text(error, event.error, records, &entry)
        if let duration = event.duration, event.kind != .refreshScheduled {
            entry.append(Self.duration) { $0.appendMilliseconds(duration) }
        }
        if let ttl = event.ttl { entry.append(Self.ttl, ttl) }
        if let status = event.status, event.kind.app == .dnp { entry.append(Self.status, status) }
        if let installation = event.installation { entry.append(Self.installation) { installation.appendHex(to: &$0) } }
        text(platform, event.platform, records, &entry)
        text(appVersion, event.appVersion, records, &entry)
        text(eventId, event.eventId, records, &entry)
        switch event.kind.app {
        case .dnp:
            if let schedule = key.schedule(of: event, in: records.span) { append(cycle: schedule, to: &entry) }
        case .aiq:
            if let installation = event.installation {
                append(cycle: key.runs(ofInstallation: installation.fingerprint), to: &entry)
            }
        }
        entry.append(violation, all: violations.map(\.name))
    }

    static func append(cycle hash: UInt64, to entry: inout some EntryFields & ~Copyable) {
        entry.append(cycle) { $0.appendHex(hash) }
    }

    private static func text(
        _ field: JournalField,
        _ text: Event.Text,
        _ records: [UInt8],
        _ entry: inout some EntryFields & ~Copyable
    ) {
        if !text.isEmpty { entry.append(field) { $0.append(contentsOf: records[text]) } }
    }
}

/// The journal entry of a verdict; a field has the name that it has in the entries of events.
enum VerdictJournalEntry {
    static let outcome: JournalField = "DNP_OUTCOME"

    /// The `MESSAGE_ID` of verdicts: random, and part of the catalog, so it must never change.
    static let messageID: StaticString = "580112b3fbc44499a2570406064ec8ca"
    /// That of a run's verdict, which never changes either.
    static let runMessageID: StaticString = "4281780026a84a40abf763a8dd7fcc51"

    static func append(_ verdict: CycleVerdict, to entry: inout some EntryFields & ~Copyable) {
        entry.message { $0 += verdict.json }
        entry.priority(verdict.journalPriority)
        entry.event(CycleVerdict.event)
        entry.append(.messageID, messageID)
        entry.append(EventJournalEntry.timestamp) { verdict.closedAt.appendRFC3339(to: &$0) }
        if let due = verdict.notificationTime {
            entry.append(EventJournalEntry.scheduledFor) { due.appendRFC3339(to: &$0) }
        }
        if let schedule = verdict.schedule { EventJournalEntry.append(cycle: schedule, to: &entry) }
        entry.append(outcome, verdict.outcome.name)
        if let reason = verdict.failureReason { entry.append(EventJournalEntry.reason, reason.name) }
        entry.append(EventJournalEntry.violation, all: verdict.violations.map(\.kind.name))
    }

    static func append(_ verdict: RunVerdict, to entry: inout some EntryFields & ~Copyable) {
        entry.message { $0 += verdict.json }
        entry.priority(verdict.journalPriority)
        entry.event(RunVerdict.event)
        entry.append(.messageID, runMessageID)
        entry.append(EventJournalEntry.timestamp) { verdict.closedAt.appendRFC3339(to: &$0) }
        if let installation = verdict.installation { EventJournalEntry.append(cycle: installation, to: &entry) }
        entry.append(outcome, verdict.outcome.name)
        if let reason = verdict.skipReason { entry.append(EventJournalEntry.reason, reason.name) }
        entry.append(EventJournalEntry.violation, all: verdict.violations.map(\.kind.name))
    }
}

extension EventKind {
    /// Whether an event of this kind always tells that something went wrong.
    fileprivate var isFailure: Bool {
        switch self {
        case .prefetchScheduleFailed, .prefetchFailure, .prefetchExpired, .prefetchMissed, .contentCacheFailed,
            .contentMissing, .notificationDenied, .notificationDrift, .pluginError, .refreshExpired,
            .refreshScheduleFailed, .refreshNotificationFailed:
            true
        default: false
        }
    }

    /// The `MESSAGE_ID` of this kind: random, and part of the catalog, so it must never change.
    var messageID: StaticString {
        switch self {
        case .prefetchRegistered: "d5ebb373b1d847c98ebb0b194de413b7"
        case .prefetchScheduled: "02f2723416b945319d93741094fdec40"
        case .prefetchScheduleFailed: "b168d64f277847b3a3fe95d6c709edb1"
        case .prefetchExecuted: "be2812412ef941168189edebb7ddc6ec"
        case .prefetchStarted: "081f78068a7b44718192d51c340dff55"
        case .prefetchSuccess: "8b41930ba01040f999604d890867aa55"
        case .prefetchFailure: "4cb13947f3814bbf907480c9e202f362"
        case .prefetchExpired: "2189d8dbcc2249b8aa1a8dd60afe7896"
        case .prefetchMissed: "6b2e48a4d60043958090eba60171d3c3"
        case .prefetchCompleted: "6204efee39c0492988f20cfe526f3d87"
        case .contentCached: "a3da3dfe331242139858da43a67ee35c"
        case .contentCacheFailed: "e15bbe4d79344c39af7fb45c437b4b2a"
        case .contentMissing: "d577281a578743fba68dc3e3155d6134"
        case .prefetchUsedForNotification: "7a9fd97688ab462ebfdfa1e78e881e65"
        case .notificationScheduled: "ac05abcce5424910a9e70c0a0bb88f7c"
        case .notificationDelivered: "ae646481d36841cd9085cab17e40d082"
        case .notificationDenied: "935f8ecaf21446698516c890aaaadd63"
        case .notificationDrift: "85309031231d45fa83b5b253212aa90b"
        case .timezoneChanged: "6b763fcc41864b33ae3eddbe31e8d562"
        case .leadCapped: "3a5ecfa5c0054f64ad7b5d3e5dbe83ca"
        case .prefetchCycleComplete: "1297893e6f6b4af4af39608e51b8dd34"
        case .pluginStarted: "be66f42a67854eb8b5aa67915b96de9e"
        case .telemetrySnapshot: "b4a250ba1b3841bc80e2f3514e50d151"
        case .permissionGranted: "fe6ab206c46c48658861f9dd7dd01b74"
        case .prefetchCancelled: "063fd742b2624bf48c9d0dac9127436a"
        case .schedulePersisted: "ba6c8120c1b54ecbb6808303867ec4a7"
        case .pluginError: "34527a2218a348fca8513ca0f7be3611"
        case .apiCall: "0ee947dca9c045ec80de33158997bcd0"
        case .timeWarped: "049af51f82ca48d9845a968db1da022c"
        case .rollingWindow: "46973e349f8e465aa53a23cf213b65d8"
        case .scheduleSnapshot: "38ec9cc63c594221b2ba40998470bdf0"
        case .identityChanged: "c35b0f79545a48d2bb11a6cd8100283e"
        case .cacheCleared: "f6f9bda56ac14fbdb5452d6fc875b9ca"
        case .refreshStarted: "103c1719192b43b49775870e78aacdc4"
        case .refreshChecked: "4735da124982497a8096cfd6d94326aa"
        case .refreshCompleted: "6fd5b1c76d83448586a03bac1861d2eb"
        case .refreshExpired: "6673fc38d09f4ec5b94163227f4f8dc8"
        case .refreshSkipped: "e9d4e54cd3d54d12b4959edd999bdb0e"
        case .refreshScheduled: "3eaa7e1855534ddba03c68265a2a55e8"
        case .refreshScheduleFailed: "66e91ac5bd3c45fa8caa8866946feb82"
        case .refreshNotificationSent: "b976148383464b6da01e0585356dfb2e"
        case .refreshNotificationSkipped: "b8e540b786df4ffb8424cc3954c43eb2"
        case .refreshNotificationFailed: "a44cbbcd8a7c42bb95bf2231e4de1f5b"
        }
    }
}
