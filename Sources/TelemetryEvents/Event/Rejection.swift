// SPDX-License-Identifier: Apache-2.0

/// One rejected event of an input.
public struct Rejection: Hashable, Sendable {
    /// The event's index in the input, from 0, counting accepted and rejected events; in a log, that of its line.
    public var index: Int
    /// The reason, used as a metric label.
    public var reason: RejectionReason
    /// The invalid field, if one is to blame.
    public var field: EventField?
    /// The known kind that an unknown one resembles.
    public var nearestKind: EventKind?

    /// Creates a rejection.
    public init(index: Int, reason: RejectionReason, field: EventField? = nil, nearestKind: EventKind? = nil) {
        self.index = index
        self.reason = reason
        self.field = field
        self.nearestKind = nearestKind
    }
}

extension Rejection: CustomStringConvertible {
    /// What was expected and what was found. Never repeats the sender's data, which may be personal.
    public var description: String {
        let field = subject
        let expected = self.field.map { "\($0.expectation)" } ?? "a JSON object"
        return switch reason {
        case .malformedJSON: "\(field): expected valid JSON (RFC 8259), found a syntax error"
        case .truncated: "\(field): the input ends before the event does"
        case .notAnObject:
            self.field == .event
                ? "event: expected an event or an envelope of events, found both in one object"
                : "\(field): expected a JSON object, found another value"
        case .missingField:
            self.field == .scheduleId
                ? "scheduleId: missing; this kind needs scheduleId, scheduledFor or notificationTime"
                : "\(field): missing; expected \(expected)"
        case .unknownKind:
            nearestKind.map { "event: not one of the known kinds; did you mean \"\($0.name)\"?" }
                ?? "event: not one of the known kinds, such as \"prefetch_success\""
        case .wrongType: "\(field): expected \(expected), found a value of another type"
        case .outOfRange:
            isOfPlannedTime
                ? "\(field): expected a time before 2100-01-01, found a later one"
                : "\(field): expected \(expected), found one out of range"
        case .invalidTimestamp: "\(field): expected \(expected), found another text"
        case .timestampTooOld: "\(field): expected a time from 2020-01-01 on, found an earlier one"
        case .timestampInFuture: "\(field): expected a time at most 48 hours ahead of the receiver, found a later one"
        case .invalidUTF8: "\(field): expected valid UTF-8, found other bytes or half a surrogate pair"
        case .tooDeep: "\(field): expected at most \(JSONLimits.depth) levels of nesting, found more"
        case .tooLong:
            self.field == nil
                ? "event: expected at most \(JSONLimits.eventBytes) bytes, found more"
                : "\(field): expected \(expected), found a longer one"
        }
    }

    private var isOfPlannedTime: Bool { field == .scheduledFor || field == .earliestBeginDate }

    /// What is invalid: a field, the event, or a member of an envelope beside its events.
    private var subject: String {
        guard let field else { return "event" }
        return field == .events && reason != .wrongType ? "a field beside events" : "\(field.name)"
    }
}

/// The limits of the JSON decoder (docs/ingest-api.md).
public enum JSONLimits {
    /// The maximum nesting of objects and arrays inside an event, including its own braces.
    public static let depth = 16
    /// The maximum size of an event, or of a line of NDJSON, in bytes.
    public static let eventBytes = 64 * 1024
    /// How many rejections of one input are listed individually; all of them are counted.
    public static let namedRejections = 100_000
}

/// Why an event was rejected: the closed label set of `dnp_telemetry_events_rejected_total` (docs/events.md).
///
/// Raw values are stored in the ledger's accounts.
public enum RejectionReason: UInt8, CaseIterable, Sendable {
    case malformedJSON = 0
    case truncated = 1
    case notAnObject = 2
    case missingField = 3
    case unknownKind = 4
    case wrongType = 5
    case outOfRange = 6
    case invalidTimestamp = 7
    case timestampTooOld = 8
    case timestampInFuture = 9
    case invalidUTF8 = 10
    case tooDeep = 11
    case tooLong = 12

    /// The label value.
    public var name: StaticString {
        switch self {
        case .malformedJSON: "malformed_json"
        case .truncated: "truncated"
        case .notAnObject: "not_an_object"
        case .missingField: "missing_field"
        case .unknownKind: "unknown_kind"
        case .wrongType: "wrong_type"
        case .outOfRange: "out_of_range"
        case .invalidTimestamp: "invalid_timestamp"
        case .timestampTooOld: "timestamp_too_old"
        case .timestampInFuture: "timestamp_in_future"
        case .invalidUTF8: "invalid_utf8"
        case .tooDeep: "too_deep"
        case .tooLong: "too_long"
        }
    }
}
