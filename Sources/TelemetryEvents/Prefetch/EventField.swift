// SPDX-License-Identifier: Apache-2.0

/// A field of an event as clients send it (docs/events.md).
public enum EventField: UInt8, CaseIterable, Sendable {
    case event
    case scheduleId
    case timestamp
    case scheduledFor
    case earliestBeginDate
    case durationMs
    case ttl
    case status
    case bytes
    case items
    case reason
    case error
    case willRetry
    case fetched
    case usedCached
    case age
    case contentHash
    case scheduleHash
    case telemetry
    case installationId
    case eventId
    case platform
    case appVersion
    case osVersion
    case deviceModel
    case events
    case sentAt
    case lowPowerMode
    case pluggedIn
    case backgroundRefresh
    case simulator
    case network
    case hasPendingSchedules
    case inProgress
    case conditional
    case authenticated
    case minutes
    case pending
    case limit
    case today
    case tomorrow
    case schedules
    case message
    case properties

    /// The accepted names of the field; the first is the canonical one.
    public var names: [StaticString] {
        switch self {
        case .event: ["event"]
        case .scheduleId: ["scheduleId", "id"]
        case .timestamp: ["timestamp"]
        case .scheduledFor: ["scheduledFor", "notificationTime", "scheduled_for"]
        case .earliestBeginDate: ["earliestBeginDate"]
        case .durationMs: ["duration_ms", "fetchDurationMs"]
        case .ttl: ["ttl"]
        case .status: ["status", "httpStatus"]
        case .bytes: ["bytes"]
        case .items: ["items"]
        case .reason: ["reason"]
        case .error: ["error"]
        case .willRetry: ["willRetry"]
        case .fetched: ["fetched"]
        case .usedCached: ["usedCached"]
        case .age: ["age", "ageSeconds"]
        case .contentHash: ["contentHash", "md5"]
        case .scheduleHash: ["scheduleHash"]
        case .telemetry: ["telemetry"]
        case .installationId: ["installationId", "deviceId"]
        case .eventId: ["eventId"]
        case .platform: ["platform"]
        case .appVersion: ["appVersion"]
        case .osVersion: ["osVersion"]
        case .deviceModel: ["deviceModel"]
        case .events: ["events"]
        case .sentAt: ["sentAt"]
        case .lowPowerMode: ["lowPowerMode"]
        case .pluggedIn: ["pluggedIn"]
        case .backgroundRefresh: ["backgroundRefresh"]
        case .simulator: ["simulator"]
        case .network: ["network"]
        case .hasPendingSchedules: ["hasPendingSchedules"]
        case .inProgress: ["inProgress"]
        case .conditional: ["conditional"]
        case .authenticated: ["authenticated"]
        case .minutes: ["minutes", "leadMinutes"]
        case .pending: ["pending"]
        case .limit: ["limit"]
        case .today: ["today"]
        case .tomorrow: ["tomorrow"]
        case .schedules: ["schedules"]
        case .message: ["message"]
        case .properties: ["properties"]
        }
    }

    /// The canonical name.
    public var name: StaticString { names[0] }

    /// What a value of the field must be, for error messages to the sender.
    public var expectation: StaticString {
        switch self {
        case .event: "the kind of event as a string, such as \"prefetch_success\""
        case .scheduleId: "a string of 1 to 128 bytes"
        case .timestamp, .scheduledFor, .earliestBeginDate, .sentAt:
            "an RFC 3339 time such as \"2025-11-15T05:48:32Z\""
        case .durationMs: "a number of milliseconds from 0 to 86400000"
        case .ttl: "a whole number of seconds from 0 to 315360000"
        case .status: "a whole number from 0 to 999"
        case .bytes, .items: "a whole number from 0 to 1099511627776"
        case .reason: "a string such as \"NETWORK\""
        case .error: "a string; the domain, type or code of an error in it is kept"
        case .willRetry, .fetched, .usedCached, .lowPowerMode, .pluggedIn, .backgroundRefresh, .simulator,
            .hasPendingSchedules, .inProgress, .conditional, .authenticated:
            "true or false"
        case .network: "\"wifi\", \"cellular\" or \"none\""
        case .minutes: "a whole number of minutes from -5270400 to 5270400"
        case .pending, .limit, .today, .tomorrow: "a whole number from 0 to 1000000"
        case .schedules: "an array of at most 128 objects, each with scheduleId or notificationTime"
        case .message: "anything; it is not kept"
        case .properties: "an object with at most 86400 seconds, 100000 days and 8784 hours, none below 0"
        case .age: "a number of seconds from 0 to 315360000"
        case .contentHash, .scheduleHash: "hexadecimal digits, as many as MD5, SHA-1 or SHA-2 has"
        case .telemetry: "an object of counter names and whole numbers"
        case .installationId: "a string of 1 to 256 bytes"
        case .eventId: "a string of 1 to 128 bytes"
        case .platform, .appVersion, .osVersion, .deviceModel: "a string; kept where it has the shape of its field"
        case .events: "an array of events"
        }
    }
}

extension EventField {
    /// Whether the JSON of other programs has such a name too, so that it does not tell of an event.
    var isCommonName: Bool {
        switch self {
        case .lowPowerMode, .pluggedIn, .backgroundRefresh, .simulator, .network, .hasPendingSchedules, .inProgress,
            .conditional, .authenticated, .minutes, .pending, .limit, .today, .tomorrow, .schedules, .message,
            .properties:
            true
        default: false
        }
    }
}

/// The lookup tables of the decoders.
final class EventVocabulary: Sendable {
    static let shared = EventVocabulary()

    let fields = NameTable(EventField.allCases.flatMap { field in field.names.map { ($0, field) } })
    let kinds = NameTable(
        EventKind.allCases.map { ($0.name, $0) } + RefreshAnalytics.all.map { ($0.name, $0.kind) }
    )
    let clientCounters = NameTable(ClientCounter.allCases.map { ($0.name, $0) })
    let refreshProperties = NameTable(RefreshProperty.allCases.map { ($0.name, $0) })
}
