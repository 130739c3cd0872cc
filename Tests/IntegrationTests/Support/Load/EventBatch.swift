// SPDX-License-Identifier: Apache-2.0

/// Events as lines of JSON, with what they must add to the counters.
struct EventBatch: Sendable {
    var lines: [String] = []
    var identities: [EventIdentity] = []
    var totals = LifecycleTotals()

    var count: Int { lines.count }

    /// The body of an NDJSON request.
    var ndjson: [UInt8] {
        var bytes: [UInt8] = []
        for line in lines {
            bytes.append(contentsOf: line.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// The body of a JSON request.
    var array: [UInt8] { Array("[\(lines.joined(separator: ","))]".utf8) }

    mutating func append(_ kind: String, schedule: String, line: String) {
        lines.append(line)
        identities.append(EventIdentity(scheduleId: schedule, kind: kind))
        switch kind {
        case "prefetch_scheduled": totals.scheduled += 1
        case "prefetch_executed": totals.executed += 1
        case "prefetch_success": totals.success += 1
        case "prefetch_used_for_notification": totals.used += 1
        default: break
        }
    }
}
