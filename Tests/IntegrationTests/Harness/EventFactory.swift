// SPDX-License-Identifier: Apache-2.0

/// Makes whole cycles: the same prefix and index always give the same bytes.
struct EventFactory: Sendable {
    let prefix: String

    private static let reasons = ["NETWORK", "AUTH", "SYSTEM"]

    /// Cycles in which every fifth fetch fails: four events each, or three for a failed one.
    func cycles(_ indices: Range<Int>) -> EventBatch {
        var batch = EventBatch()
        for index in indices { append(cycle: index, to: &batch) }
        return batch
    }

    private func append(cycle index: Int, to batch: inout EventBatch) {
        let schedule = "\(prefix)-\(index)"
        func line(_ kind: String, _ second: Int, _ more: String) {
            let text = """
                {"event":"\(kind)","scheduleId":"\(schedule)","timestamp":"\(Self.stamp(index * 10 + second))"\(more)}
                """
            batch.append(kind, schedule: schedule, line: text)
        }
        line("prefetch_scheduled", 0, ",\"scheduledFor\":\"\(Self.stamp(index * 10 + 600))\"")
        line("prefetch_executed", 5, "")
        if index % 5 == 4 {
            let reason = Self.reasons[(index / 5) % Self.reasons.count]
            line("prefetch_failure", 7, ",\"reason\":\"\(reason)\"")
            batch.totals.failure[reason, default: 0] += 1
        } else {
            line("prefetch_success", 7, ",\"duration_ms\":\(1_000 + index % 1_000),\"ttl\":86400")
            line("prefetch_used_for_notification", 9, "")
        }
    }

    /// RFC 3339, that many seconds after the beginning of November 2025 (and round again after 28 days).
    static func stamp(_ second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = second / 86_400 % 28 + 1
        return "2025-11-\(two(day))T\(two(second / 3_600 % 24)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }
}
