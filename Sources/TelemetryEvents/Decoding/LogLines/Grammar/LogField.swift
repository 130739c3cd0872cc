// SPDX-License-Identifier: Apache-2.0

/// A key of the `key=value` pairs in log lines.
enum LogField: UInt8, CaseIterable, Sendable {
    case scheduleId
    case notificationTime
    case earliestBeginDate
    case status
    case bytes
    case items
    case ttl
    case age
    case source
    case error
    case reason
    case willRetry
    case success
    case fetched
    case usedCached
    case durationMs
    case duration
    case contentHash
    case scheduleHash
    /// Free text that ends the list, since it may hold anything.
    case freeText

    var names: [StaticString] {
        switch self {
        case .scheduleId: ["id", "scheduleId", "schedule_id", "notificationId"]
        case .notificationTime: ["notificationTime", "time", "scheduledFor", "scheduled_for", "notification_time"]
        case .earliestBeginDate: ["earliestBeginDate"]
        case .status: ["status", "httpStatus", "statusCode"]
        case .bytes: ["bytes"]
        case .items: ["items"]
        case .ttl: ["ttl"]
        case .age: ["age", "ageSeconds"]
        case .source: ["source"]
        case .error: ["error"]
        case .reason: ["reason"]
        case .willRetry: ["willRetry"]
        case .success: ["success"]
        case .fetched: ["fetched"]
        case .usedCached: ["usedCached"]
        case .durationMs: ["duration_ms", "fetchDurationMs", "durationMs"]
        case .duration: ["duration"]
        case .contentHash: ["md5", "contentHash", "hash"]
        case .scheduleHash: ["scheduleHash"]
        case .freeText: ["title", "body"]
        }
    }

    static let table = NameTable(LogField.allCases.flatMap { field in field.names.map { ($0, field) } })
}
