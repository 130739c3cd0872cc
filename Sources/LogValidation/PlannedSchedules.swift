// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import LogInput
internal import PrefetchLifecycle
internal import TelemetryEvents

/// The plugin's persisted schedule, which judged cycles are held against (`--schedule`).
package struct PlannedSchedules: Sendable {
    /// One schedule of the snapshot.
    struct Entry: Hashable, Sendable {
        var scheduleId: String?
        var notificationTime: Timestamp?

        var title: String { scheduleId ?? notificationTime.map { "the notification at \($0)" } ?? "unnamed" }
    }

    /// The most schedules of a snapshot.
    package static let limit = 128
    /// A schedule whose time differs by more was moved, in microseconds.
    private static let tolerance: Int64 = 1_000_000

    var entries: [Entry]

    /// Reads a `schedule_snapshot` event, an object with `schedules`, or an array of schedules.
    package init(contentsOf path: String) throws(InputError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            let isThere = FileManager.default.fileExists(atPath: path)
            throw InputError(input: path, problem: isThere ? "it cannot be read" : "there is no such file")
        }
        guard let value = try? JSONSerialization.jsonObject(with: data) else {
            throw InputError(input: path, problem: "expected the plugin's schedule as one JSON document")
        }
        let list = (value as? [String: Any])?["schedules"] ?? value
        guard let list = list as? [Any] else {
            throw InputError(input: path, problem: #"expected {"schedules":[...]}, as of the event schedule_snapshot"#)
        }
        guard list.count <= Self.limit else {
            throw InputError(
                input: path,
                problem: "it has \(list.count) schedules, and a snapshot has at most \(Self.limit); iOS keeps 64 "
                    + "notifications, so keep those that lie ahead"
            )
        }
        entries = []
        for (index, item) in list.enumerated() { entries.append(try Self.entry(item, index, path)) }
    }

    init(_ entries: [Entry]) { self.entries = entries }

    /// The schedules of a `schedule_snapshot` event.
    init(_ event: Event, _ bytes: Span<UInt8>) {
        var entries: [Entry] = []
        event.forEachPlannedSchedule(in: bytes) { schedule in
            entries.append(
                Entry(scheduleId: bytes.text(schedule.scheduleId), notificationTime: schedule.scheduledFor)
            )
        }
        self.entries = entries
    }

    private static func entry(_ item: Any, _ index: Int, _ path: String) throws(InputError) -> Entry {
        guard let object = item as? [String: Any] else {
            throw InputError(input: path, problem: "schedule \(index): expected an object")
        }
        let id = object["scheduleId"] ?? object["id"]
        let names = ["notificationTime", "scheduledFor", "scheduled_for"]
        let time = names.lazy.compactMap { object[$0] }.first { !($0 is NSNull) }
        var entry = Entry(scheduleId: id as? String)
        if let time {
            let bytes = Array((time as? String ?? "").utf8)
            guard let parsed = Timestamp(rfc3339: bytes.span, 0..<bytes.count) else {
                throw InputError(
                    input: path,
                    problem: "schedule \(index): expected notificationTime as a time such as 2025-11-15T05:53:00Z"
                )
            }
            entry.notificationTime = parsed
        }
        guard !(entry.scheduleId ?? "").isEmpty || entry.notificationTime != nil else {
            throw InputError(input: path, problem: "schedule \(index): expected scheduleId or notificationTime")
        }
        return entry
    }

    /// What a schedule of the snapshot has to do with the cycles.
    enum Finding: Equatable {
        case found
        case missing
        /// The index of the nearest cycle of the same id.
        case moved(Int)
    }

    /// - Parameter installation: whose cycles to look at; nil for all.
    func findings(_ cycles: [JudgedCycle], of installation: UInt64?) -> [Finding] {
        let own = cycles.indices.filter { installation == nil || cycles[$0].closed.installation == installation }
        var byId: [String: [Int]] = [:]
        for index in own {
            if let id = cycles[index].scheduleId { byId[id, default: []].append(index) }
        }
        return entries.map { Self.finding($0, byId, own, cycles) }
    }

    private static func finding(
        _ entry: Entry,
        _ byId: [String: [Int]],
        _ own: [Int],
        _ cycles: [JudgedCycle]
    ) -> Finding {
        func distance(_ index: Int) -> Int64 {
            guard let planned = entry.notificationTime, let time = cycles[index].closed.notificationTime else {
                return 0
            }
            return abs(planned.microseconds - time.microseconds)
        }
        let known = entry.scheduleId.map { byId[$0] ?? [] } ?? own
        guard let nearest = known.min(by: { distance($0) < distance($1) }) else { return .missing }
        if distance(nearest) <= tolerance { return .found }
        return entry.scheduleId == nil ? .missing : .moved(nearest)
    }
}

extension Judgement {
    /// Adds the violations that a snapshot of the plugin's schedule shows; a schedule that the log does not have becomes a
    /// cycle of which nothing was seen.
    ///
    /// - Parameter installation: whose schedule it is; nil for one that `--schedule` gives.
    mutating func hold(against planned: PlannedSchedules, of installation: UInt64? = nil) {
        var result = CheckResult(suite: "schedule", name: "--schedule")
        var unseen: [JudgedCycle] = []
        var told: Set<PlannedSchedules.Entry> = []
        for (entry, finding) in zip(planned.entries, planned.findings(cycles, of: installation)) {
            guard told.insert(entry).inserted else { continue }
            let time = entry.notificationTime.map(\.description) ?? "no time"
            switch finding {
            case .found: break
            // It may be among the cycles that are not listed.
            case .missing where omittedCycles > 0: break
            case .missing:
                let detail = "the plugin has \(entry.title) for \(time), and the log does not"
                var closed = ClosedCycle.unseen(of: installation ?? 0, at: entry.notificationTime)
                closed.violations = [CycleViolation(kind: .scheduleMissing, detail: detail)]
                unseen.append(JudgedCycle(closed: closed, scheduleId: entry.scheduleId))
                violationChanges[.scheduleMissing, default: 0] += 1
                result.failures.append("schedule_missing: \(detail)")
            case .moved(let index):
                let other = cycles[index].closed.notificationTime.map(\.description) ?? "no time"
                let detail = "the plugin has it for \(time), the log for \(other)"
                if !cycles[index].closed.violations.contains(where: { $0.kind == .scheduleMoved }) {
                    cycles[index].closed.violations.append(CycleViolation(kind: .scheduleMoved, detail: detail))
                    violationChanges[.scheduleMoved, default: 0] += 1
                }
                result.failures.append("schedule_moved: \(entry.title): \(detail)")
            }
        }
        cycles += unseen
        if installation == nil { scheduleCheck = result }
    }
}
