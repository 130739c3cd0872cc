// SPDX-License-Identifier: Apache-2.0

/// What the rules of docs/lifecycle.md make of one history, computed the slow and plain way: from all of its events at
/// once, each rule on its own. It shares no code with the fold that it is compared with.
///
/// Where the rules leave two readings open, both are in the expectation: a count is a range, a violation is arguable.
struct ReferenceModel: Sendable {
    /// Which of two reasons of one attempt counts.
    enum Reading: Sendable {
        /// The earlier one by its event time, as `validate` and `replay` have it.
        case validate
        /// The one that arrived first.
        case service
    }

    /// The figures of the rules, in seconds. A test changes one of them to see that the comparison notices.
    struct Rules: Sendable {
        var startWindow = 15 * 60
        var toleratedDrift = 180
        var minimumLead = 60
        var nextTask = 24 * 3_600
        /// Whether content is held against the latest `ttl` before its use; if not, against the largest.
        var heldAgainstTheLatestTTL = true
        /// Whether a success makes failures that will be retried no failures.
        var retriesAreForgiven = true
    }

    var reading = Reading.validate
    var rules = Rules()

    /// Kinds that belong to no cycle, and open none.
    static let unbound: Set = [
        "prefetch_registered", "prefetch_schedule_failed", "content_cache_failed", "notification_denied",
        "permission_granted", "timezone_changed", "lead_capped", "plugin_started", "telemetry_snapshot",
    ]

    /// The expectation of a history, whose order is that of arrival.
    func expectation(of history: [ToldEvent]) -> Expectation {
        var expectation = Expectation()
        var seen: Set<ToldEvent> = []
        var arrived: [Arrived] = []
        for (place, event) in history.enumerated() where seen.insert(event).inserted {
            arrived.append(Arrived(event: event, place: place))
        }
        let identities = Dictionary(grouping: arrived) { Identity($0.event) }
        if identities.contains(where: { $0.value.count > 1 }) { expectation.leaveOpen("one identity tells two things") }
        let end = arrived.map(\.event.time).max() ?? 0
        for (installation, events) in Dictionary(grouping: arrived, by: \.event.installation) {
            let stream = Stream(installation: installation, events: events, inputEnd: end)
            judge(stream, into: &expectation)
        }
        return expectation
    }

    private func judge(_ stream: Stream, into expectation: inout Expectation) {
        var units: [CountedUnit] = []
        var judged: [JudgedPass] = []
        for pass in passes(of: stream, &expectation) {
            let attempts = attempts(of: pass, &expectation)
            let account = count(pass, attempts)
            units += account.units
            expectation.add("retries", account.retries)
            expectation.add("implied success", account.impliedSuccess)
            expectation.add("implied used", account.impliedUsed)
            judged.append(JudgedPass(pass: pass, attempts: attempts, account: account))
        }
        count(units, snapshotsOf: stream, into: &expectation)
        for cycle in judged { expectation.cycles.append(verdict(on: cycle, among: judged, in: stream)) }
    }
}

/// An event and its place in the order of arrival.
struct Arrived {
    var event: ToldEvent
    var place: Int
}

/// What the collector tells two events apart by.
private struct Identity: Hashable {
    let texts: [String?]
    let time: Int

    init(_ event: ToldEvent) {
        texts = [event.installation, event.id, event.kind, event.kind == "prefetch_failure" ? event.reason : nil]
        time = event.time
    }
}

/// All events of one installation.
struct Stream {
    let installation: String?
    let events: [Arrived]
    /// The latest event time of the whole input.
    let inputEnd: Int

    var end: Int { events.map(\.event.time).max() ?? 0 }
    /// Whether the events arrived in the order of their times.
    var isInOrder: Bool { zip(events, events.dropFirst()).allSatisfy { $0.event.time <= $1.event.time } }

    func events(_ kinds: String...) -> [ToldEvent] {
        events.map(\.event).filter { kinds.contains($0.kind) }.sorted { $0.time < $1.time }
    }
}

/// The events of one cycle.
struct Pass {
    var name: CycleName
    var events: [Arrived]

    func events(_ kind: String) -> [ToldEvent] {
        events.map(\.event).filter { $0.kind == kind }.sorted { $0.time < $1.time }
    }

    func contains(_ kind: String) -> Bool { events.contains { $0.event.kind == kind } }

    /// The submissions of its task by their time: each other earliest begin is another one, and a form that names no
    /// earliest begin is none where another form does.
    var submissions: [ToldEvent] {
        let told = events("prefetch_scheduled")
        let dated = told.filter { $0.begin != nil }
        var begins: Set<Int?> = []
        return (dated.isEmpty ? Array(told.prefix(1)) : dated).filter { begins.insert($0.begin).inserted }
    }
}

struct CycleName: Hashable, Comparable, CustomStringConvertible {
    var installation: String?
    var id: String?
    var due: Int?

    var description: String {
        [installation, id, due.map(ToldEvent.stamp)].map { $0 ?? "-" }.joined(separator: " ")
    }

    static func < (left: CycleName, right: CycleName) -> Bool { "\(left)" < "\(right)" }
}

extension ReferenceModel {
    /// With several passes under one id, an event without a notification time belongs to one of them only when it is
    /// this near to its time.
    private static let nearestPass = 6 * 3_600

    /// Shares out the events of an installation among its cycles, by the names that any of them tells together.
    func passes(of stream: Stream, _ expectation: inout Expectation) -> [Pass] {
        let bound = stream.events.filter { !Self.unbound.contains($0.event.kind) }
        var dues: [String: Set<Int>] = [:]
        var ids: [Int: Set<String>] = [:]
        for event in bound.map(\.event) {
            guard let id = event.id, let due = event.due else { continue }
            dues[id, default: []].insert(due)
            ids[due, default: []].insert(id)
        }
        var passes: [CycleName: Pass] = [:]
        for told in bound {
            let event = told.event
            if event.id == nil, event.due == nil { expectation.leaveOpen("an event names no cycle") }
            var name = CycleName(installation: stream.installation, id: event.id, due: event.due)
            if let due = event.due, event.id == nil {
                let known = ids[due] ?? []
                if known.count > 1 { expectation.leaveOpen("two schedules have one time") }
                name.id = known.first
            } else if let id = event.id, event.due == nil {
                let known = (dues[id] ?? []).sorted { abs($0 - event.time) < abs($1 - event.time) }
                if known.count > 1, abs(known[0] - event.time) > Self.nearestPass {
                    expectation.leaveOpen("an event without a time is near to no pass of its id")
                }
                name.due = known.first
            }
            passes[name, default: Pass(name: name, events: [])].events.append(told)
        }
        return passes.values.sorted { $0.name < $1.name }
    }
}

/// What a history may come to.
struct Expectation {
    /// Each count by its name, from the least to the most that the rules allow.
    var counts: [String: ClosedRange<Int>] = [:]
    var cycles: [ExpectedCycle] = []
    /// Why the rules do not decide the history; nothing is compared then.
    private(set) var openQuestion: String?

    mutating func leaveOpen(_ question: String) { openQuestion = question }

    mutating func add(_ name: String, _ range: ClosedRange<Int>) {
        let sum = counts[name] ?? 0...0
        counts[name] = sum + range
    }
}

/// What one cycle may come to.
struct ExpectedCycle {
    var name: CycleName
    var outcomes: Set<String>
    /// The rules that it breaks for certain.
    var broken: Set<String>
    /// The rules that it may be said to break or not.
    var arguable: Set<String>
    /// The attempts that failed.
    var failures: [AttemptResult]
    /// The first time of each stage.
    var stages: [String: Int]
}

/// How far a rule of several readings holds.
enum Ruling {
    case no, arguable, yes

    /// Yes where each reading says so, no where none does.
    init(_ readings: Bool...) { self.init(readings) }

    init(_ readings: [Bool]) {
        self = !readings.contains(true) ? .no : readings.contains(false) ? .arguable : .yes
    }

    /// The stronger of two rulings on parts of one cycle.
    static func || (left: Ruling, right: Ruling) -> Ruling {
        if left == .yes || right == .yes { return .yes }
        return left == .arguable || right == .arguable ? .arguable : .no
    }
}

extension ClosedRange<Int> {
    static func + (left: ClosedRange<Int>, right: ClosedRange<Int>) -> ClosedRange<Int> {
        left.lowerBound + right.lowerBound...left.upperBound + right.upperBound
    }
}
