// SPDX-License-Identifier: Apache-2.0

/// A history as the plugin logs it, with a stamp before each line.
///
/// Lines name their cycle by what stands before them, so a history can be told in lines when one device tells of one cycle
/// after the other and each event has both names.
struct StoryLines {
    private(set) var lines: [String] = []

    init(_ history: [ToldEvent]) {
        for event in history { tell(event) }
    }

    private mutating func tell(_ event: ToldEvent) {
        let (id, due) = (event.id ?? "", event.due.map(ToldEvent.stamp) ?? "")
        func line(_ component: String, _ message: String) {
            lines.append("\(ToldEvent.stamp(event.time)) [DNP-\(component)] \(message)")
        }
        func keys(_ pairs: (String, (any CustomStringConvertible)?)...) -> String {
            let told = pairs.compactMap { name, value in value.map { "\(name)=\($0)" } }
            return told.isEmpty ? "" : " (\(told.joined(separator: ", ")))"
        }
        switch event.kind {
        case "prefetch_scheduled":
            line("FETCH", "Scheduling prefetch for notification at \(due)")
            let begin = event.begin.map(ToldEvent.stamp)
            line(
                "FETCH",
                "BGAppRefreshTask scheduled" + keys(("earliestBeginDate", begin), ("scheduleHash", event.scheduleHash))
            )
            line("STORAGE", "Persisted schedule to DB (id=\(id), type=DAILY, time=\(due))")
        case "notification_scheduled":
            line("SCHEDULER", "Scheduling notification for \(due)")
            line("STORAGE", "Persisted schedule to DB (id=\(id), type=DAILY, time=\(due))")
        case "prefetch_executed":
            line(
                "FETCH",
                "BGTask handler invoked" + keys(("id", "com.example.fetch"), ("scheduleHash", event.scheduleHash))
            )
            line("FETCH", "Resolved next notification needing content (time=\(due), scheduleId=\(id))")
        case "prefetch_started":
            line("FETCH", "Starting fetch from https://api.example.test/n (notificationTime=\(due), jwtPresent=true)")
        case "prefetch_success":
            line("FETCH", "Fetch success" + keys(("status", 200), ("bytes", 1_234), ("ttl", event.ttl)))
        case "prefetch_failure":
            let error =
                event.error
                ?? ["NETWORK": "NetworkError", "AUTH": "AuthError", "SYSTEM": "SQLITE_FULL"][event.reason ?? ""]
            line(
                "FETCH",
                "Fetch failed"
                    + keys(("error", error ?? "Whatever"), ("httpStatus", event.status), ("willRetry", event.willRetry))
            )
        case "prefetch_expired": line("FETCH", "Task expired")
        case "prefetch_completed":
            line("FETCH", "Task completed" + keys(("success", event.fetched ?? true), ("reason", event.reason)))
        case "content_cached":
            line(
                "FETCH",
                event.contentHash.map { "Cached content MD5: \($0)" } ?? "Cached content for scheduleId=\(id)"
            )
        case "prefetch_used_for_notification":
            line("SCHEDULER", "Preparing content for notification at \(due)")
            if let age = event.age { line("FETCH", "Found cached content (age=\(age)s, source=prefetch)") }
            let hash = event.contentHash.map { "MD5: \($0)" }
            line("FETCH", "Using cached content \(hash ?? "for notification at \(due)")")
        case "content_missing":
            line("SCHEDULER", "Preparing content for notification at \(due)")
            line("FETCH", "No cached content available, falling back to on-demand fetch")
        case "notification_delivered": line("SCHEDULER", "Notification delivered (id=\(id), title=Your daily update)")
        case "prefetch_missed": line("FETCH", "BGTask missed window; rescheduling" + keys(("id", id)))
        case "prefetch_cycle_complete":
            line(
                "FETCH",
                "Prefetch cycle complete"
                    + keys(("id", id), ("fetched", event.fetched), ("usedCached", event.usedCached))
            )
        case "plugin_started": line("PLUGIN", "Startup complete (hasPendingSchedules=false)")
        case "notification_denied": line("PLUGIN", "notifications_denied for scheduleDailyNotification")
        default: break
        }
    }
}

extension StoryLines {
    /// The kinds of events that have lines of their own.
    private static let kinds: Set = [
        "prefetch_scheduled", "notification_scheduled", "prefetch_executed", "prefetch_started", "prefetch_success",
        "prefetch_failure", "prefetch_expired", "prefetch_completed", "content_cached",
        "prefetch_used_for_notification",
        "content_missing", "notification_delivered", "prefetch_cycle_complete", "plugin_started",
    ]

    /// The kinds whose lines name the notification time.
    private static let naming: Set = [
        "prefetch_scheduled", "notification_scheduled", "prefetch_executed", "prefetch_started",
        "prefetch_used_for_notification", "content_missing",
    ]

    /// The kinds whose lines name the id.
    private static let identifying: Set = [
        "prefetch_scheduled", "notification_scheduled", "prefetch_executed", "notification_delivered",
        "prefetch_cycle_complete",
    ]

    /// The kinds whose lines name the id alone.
    private static let byId: Set = ["notification_delivered", "prefetch_cycle_complete"]

    /// Whether each event names its cycle in both ways, the first line of each cycle its time and one of them its id,
    /// without which lines cannot tell of it.
    static func canTell(_ history: [ToldEvent]) -> Bool {
        var known: Set<CycleName> = []
        var identified: Set<CycleName> = []
        for event in history.sorted(by: { $0.time < $1.time }) where !ReferenceModel.unbound.contains(event.kind) {
            guard event.id != nil, event.due != nil else { return false }
            if event.kind == "prefetch_completed", event.fetched == nil { return false }
            let name = CycleName(id: event.id, due: event.due)
            let isNew = known.insert(name).inserted
            if isNew && !naming.contains(event.kind) { return false }
            // A line of a delivery with an id alone tells of the nearest pass, within half a day.
            let passes = known.filter { $0.id == event.id }.compactMap(\.due)
            if passes.count > 1, let due = event.due, byId.contains(event.kind) {
                let distance = abs(event.time - due)
                if distance > 12 * 3_600 || passes.contains(where: { $0 != due && abs(event.time - $0) <= distance }) {
                    return false
                }
            }
            if identifying.contains(event.kind) { identified.insert(name) }
        }
        return identified == known
    }

    /// What lines can tell of a history: the first device, one pass after the other, each event by both names of its cycle.
    static func tellable(_ history: [ToldEvent]) -> [ToldEvent] {
        let device = history.first?.installation
        var seen: Set<ToldEvent> = []
        let events = history.filter { $0.installation == device && kinds.contains($0.kind) && seen.insert($0).inserted }
            .sorted { $0.time < $1.time }
        var told = events.filter { $0.kind == "plugin_started" }
        var end = Int.min
        let arrived = events.enumerated().map { Arrived(event: $0.element, place: $0.offset) }
        let stream = Stream(installation: device, events: arrived, inputEnd: 0)
        var expectation = Expectation()
        let passes = ReferenceModel().passes(of: stream, &expectation)
        for pass in passes.sorted(by: { $0.name.due ?? 0 < $1.name.due ?? 0 }) {
            guard pass.name.id != nil, pass.name.due != nil else { continue }
            let times = pass.events.map(\.event.time)
            guard let first = times.min(), let last = times.max(), first > end, isInPhases(pass) else { continue }
            let named = pass.events.map { $0.event.with { ($0.id, $0.due) = (pass.name.id, pass.name.due) } }
            guard canTell(told + named) else { continue }
            end = last
            told += named
        }
        return told.map { event in
            event.with {
                $0.installation = nil
                // The forms of these lines do not name what the fields say.
                if $0.kind == "content_cached" { $0.ttl = nil }
                if $0.kind == "prefetch_completed", $0.fetched == nil { $0.fetched = true }
            }
        }
        .sorted { $0.time < $1.time }
    }

    /// Whether a pass is told as lines follow each other: scheduling, executions, delivery.
    private static func isInPhases(_ pass: Pass) -> Bool {
        let phases = [
            "prefetch_scheduled": 0, "notification_scheduled": 0, "prefetch_used_for_notification": 2,
            "content_missing": 2, "notification_delivered": 3, "prefetch_cycle_complete": 4,
        ]
        let told = pass.events.map(\.event).sorted { $0.time < $1.time }.map { phases[$0.kind] ?? 1 }
        return zip(told, told.dropFirst()).allSatisfy { $0 <= $1 }
    }
}
