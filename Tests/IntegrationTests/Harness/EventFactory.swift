// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// Makes whole cycles: the same prefix and index always give the same bytes.
struct EventFactory: Sendable {
    let prefix: String
    /// Whether each cycle comes with a run of the background refresh on a device of its own.
    var hasRuns = false

    private static let reasons = ["NETWORK", "AUTH", "SYSTEM"]

    /// Cycles in which every fifth fetch fails: four events each, or three for a failed one.
    func cycles(_ indices: Range<Int>) -> EventBatch {
        var batch = EventBatch()
        for index in indices { append(cycle: index, to: &batch) }
        return batch
    }

    /// Cycles of which only the scheduling is known.
    func schedules(_ indices: Range<Int>) -> EventBatch {
        var batch = EventBatch()
        for index in indices { appendScheduling(of: index, to: &batch) }
        return batch
    }

    private func appendScheduling(of index: Int, to batch: inout EventBatch) {
        let text = """
            {"event":"prefetch_scheduled","scheduleId":"\(prefix)-\(index)","timestamp":"\(Self.stamp(index * 10))",\
            "scheduledFor":"\(Self.stamp(index * 10 + 600))"}
            """
        batch.append("prefetch_scheduled", schedule: "\(prefix)-\(index)", line: text)
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
        if hasRuns { append(run: index, to: &batch) }
    }

    private func append(run index: Int, to batch: inout EventBatch) {
        let device = "\(prefix)-\(index)"
        for (second, kind, members) in [
            (0, "refresh_started", ""), (1, "refresh_checked", #""daysSinceTest":100,"available":true"#),
            (2, "refresh_completed", #""success":true"#), (3, "refresh_scheduled", #""hours":4"#),
        ] {
            let text = """
                {"event":"\(kind)","timestamp":"\(Self.stamp(index * 10 + second))","installationId":"\(device)",\
                "eventId":"\(device)","properties":{\(members)}}
                """
            batch.append(kind, schedule: device, line: text)
        }
        batch.runs += 1
    }

    /// RFC 3339, that many seconds after the beginning of November 2025 (and round again after 28 days).
    static func stamp(_ second: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = second / 86_400 % 28 + 1
        return "2025-11-\(two(day))T\(two(second / 3_600 % 24)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }
}

/// Events as lines of JSON, with what they must add to the counters.
struct EventBatch: Sendable {
    var lines: [String] = []
    var identities: [EventIdentity] = []
    var totals = LifecycleTotals()
    /// The runs of the background refresh, each of which checks, completes and schedules the next.
    var runs = 0

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

/// The identity of a generated event: each schedule, and each event id of a run, has each kind once.
struct EventIdentity: Hashable, Sendable {
    let scheduleId: String
    let kind: String
}

/// The expected values of the five counters.
struct LifecycleTotals: Equatable, Sendable {
    var scheduled = 0
    var executed = 0
    var success = 0
    var failure: [String: Int] = [:]
    var used = 0

    /// The number of events, if all of them count.
    var events: Int { scheduled + executed + success + used + failure.values.reduce(0, +) }

    static func + (left: LifecycleTotals, right: LifecycleTotals) -> LifecycleTotals {
        LifecycleTotals(
            scheduled: left.scheduled + right.scheduled,
            executed: left.executed + right.executed,
            success: left.success + right.success,
            failure: left.failure.merging(right.failure, uniquingKeysWith: +),
            used: left.used + right.used
        )
    }

    static func += (left: inout LifecycleTotals, right: LifecycleTotals) { left = left + right }

    /// Each series with its value.
    var series: [MetricsPage.Series: Double] {
        var series: [MetricsPage.Series: Double] = [:]
        for (name, value) in [
            ("dnp_prefetch_scheduled_total", scheduled), ("dnp_prefetch_executed_total", executed),
            ("dnp_prefetch_success_total", success), ("dnp_prefetch_used_for_notification_total", used),
        ] {
            series[MetricsPage.Series(name: name, labels: [:])] = Double(value)
        }
        for reason in ["NETWORK", "AUTH", "SYSTEM"] {
            let key = MetricsPage.Series(name: "dnp_prefetch_failure_total", labels: ["reason": reason])
            series[key] = Double(failure[reason] ?? 0)
        }
        return series
    }
}

extension MetricsPage {
    /// The five families of this page, with whatever labels they have.
    var lifecycle: [Series: Double] {
        let names = Set(LifecycleTotals().series.keys.map(\.name))
        return samples.filter { names.contains($0.key.name) }
    }
}

extension JournalEntry {
    /// The event of the entry.
    var identity: EventIdentity {
        EventIdentity(
            scheduleId: fields["DNP_SCHEDULE_ID"] ?? fields["DNP_EVENT_ID"] ?? "",
            kind: fields["DNP_EVENT"] ?? ""
        )
    }
}
