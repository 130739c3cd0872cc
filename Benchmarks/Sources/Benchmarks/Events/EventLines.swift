// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

#if canImport(Glibc)
    internal import Glibc
#endif

/// NDJSON as apps on 50 devices send it, each event once, with times around now.
struct EventLines {
    enum Kind {
        /// Cycles of four events (scheduled, executed, success, used), every other with a failure and a second attempt:
        /// five events in the mean.
        case wholeCycles
        /// A cycle for each event, left open.
        case onlyScheduled
        /// Runs of the background refresh, of five events each; a device has four of them, 4 hours apart.
        case runs
        /// Cycles and runs in turns.
        case both
        /// Cycles of two events, two days ago, which close 15 minutes after they arrived: used, or every tenth a failure
        /// without an execution.
        case closedCycles
    }

    private static let second: Int64 = 1_000_000
    private static let reasons = ["NETWORK", "AUTH", "SYSTEM"]

    static let eventsOfClosedCycle = 2

    let count: Int
    let kind: Kind
    /// The number of the first cycle.
    private let firstCycle: Int
    /// The cycles in a row that belong to the same installation.
    private let cyclesInARow: Int
    private let start = (Int64(time(nil)) - 3_600) * second

    init(count: Int, kind: Kind, cyclesInARow: Int = 1, firstCycle: Int = 0) {
        self.count = count
        self.kind = kind
        self.firstCycle = firstCycle
        self.cyclesInARow = cyclesInARow
    }

    /// The events in requests of equal size.
    func requests(eventsPerRequest: Int) -> [PreparedRequest] {
        var requests: [PreparedRequest] = []
        var body = EventLineWriter(cyclesInARow: cyclesInARow)
        var cycle = firstCycle
        while requests.count * eventsPerRequest + body.lines < count {
            switch kind {
            case .wholeCycles, .onlyScheduled: append(cycle: cycle, to: &body)
            case .runs: append(run: cycle, to: &body)
            case .closedCycles: append(closedCycle: cycle, to: &body)
            case .both:
                append(cycle: cycle, to: &body)
                append(run: cycle, to: &body)
            }
            cycle += 1
            if body.lines >= eventsPerRequest {
                requests.append(PreparedRequest(body: body.bytes, events: body.lines))
                body = EventLineWriter(cyclesInARow: cyclesInARow)
            }
        }
        if body.lines > 0 { requests.append(PreparedRequest(body: body.bytes, events: body.lines)) }
        return requests
    }

    private func append(run: Int, to body: inout EventLineWriter) {
        let device = run / 4
        let moment = start + Int64(run % 4) * 14_400 * Self.second + Int64(device) * 1_009
        for (offset, kind, properties) in [
            (0, "refresh_started", "{}"), (1, "refresh_checked", #"{"daysSinceTest":100,"available":true}"#),
            (1, "refresh_notification_skipped", #"{"reason":"ALREADY_NOTIFIED","daysSinceNotification":3}"#),
            (2, "refresh_completed", #"{"success":true,"durationSeconds":1.25}"#),
            (2, "refresh_scheduled", #"{"hours":4}"#),
        ] as [(Int64, String, String)] {
            body.begin(kind, ofRun: run, device: device, at: moment + offset * Self.second)
            body.properties(properties)
            body.end()
        }
    }

    private func append(closedCycle cycle: Int, to body: inout EventLineWriter) {
        let moment = start - 2 * 86_400 * Self.second + Int64(cycle) * 1_009
        body.begin("prefetch_scheduled", cycle, at: moment)
        body.time("scheduledFor", moment + 900 * Self.second)
        body.text("platform", cycle.isMultiple(of: 3) ? "android" : "ios")
        body.text("appVersion", cycle.isMultiple(of: 5) ? "1.9.0" : "2.0.1")
        body.end()
        if cycle.isMultiple(of: 10) {
            body.begin("prefetch_failure", cycle, at: moment + 603 * Self.second)
            body.text("reason", Self.reasons[cycle / 10 % 3])
        } else {
            body.begin("prefetch_used_for_notification", cycle, at: moment + 900 * Self.second)
        }
        body.end()
    }

    private func append(cycle: Int, to body: inout EventLineWriter) {
        let moment = start + Int64(cycle) * 1_009
        body.begin("prefetch_scheduled", cycle, at: moment)
        body.time("scheduledFor", moment + 7_200 * Self.second)
        body.end()
        if kind == .onlyScheduled { return }
        var next = moment + 600 * Self.second
        body.begin("prefetch_executed", cycle, at: next)
        body.end()
        if !cycle.isMultiple(of: 2) {
            body.begin("prefetch_failure", cycle, at: next + 3 * Self.second)
            body.text("reason", Self.reasons[cycle / 2 % 3])
            body.number("duration_ms", 900 + cycle % 2_000)
            body.end()
            next += 120 * Self.second
            body.begin("prefetch_executed", cycle, at: next)
            body.end()
        }
        body.begin("prefetch_success", cycle, at: next + 2 * Self.second)
        body.number("duration_ms", 400 + cycle % 3_000)
        body.number("ttl", 86_400)
        body.end()
        body.begin("prefetch_used_for_notification", cycle, at: next + 1_800 * Self.second)
        body.end()
    }
}
