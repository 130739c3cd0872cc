// SPDX-License-Identifier: Apache-2.0

/// Why an event was refused: the closed label set of `dnp_telemetry_events_rejected_total` (SPEC 3.1).
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
