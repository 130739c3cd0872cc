// SPDX-License-Identifier: Apache-2.0

/// An event and its place in the order of arrival.
struct Arrived {
    var event: ToldEvent
    var place: Int
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
    /// Whether other passes have its id, and events arrived in another order than that of their times.
    var isToldApartLate = false

    func events(_ kind: String) -> [ToldEvent] {
        events.map(\.event).filter { $0.kind == kind }.sorted { $0.time < $1.time }
    }

    func contains(_ kind: String) -> Bool { events.contains { $0.event.kind == kind } }

    /// Whether some of its events name it by its id alone, or by its time alone.
    var hasOneName: Bool { events.contains { $0.event.id == nil || $0.event.due == nil } }

    /// Whether it waits for its other name, because its installation tells of cycles by either name alone.
    var isWaiting = false

    /// Whether some tellings of its submissions name an earliest begin, and others none.
    var isToldInTwoForms: Bool { Set(events("prefetch_scheduled").map { $0.begin == nil }).count == 2 }

    /// The submissions as tasks that wait: one that is told in two forms is submitted with the first of them.
    var tasks: [ToldEvent] {
        guard let first = events("prefetch_scheduled").first, isToldInTwoForms, submissions.count == 1 else {
            return submissions
        }
        return submissions.map { $0.with { $0.time = first.time } }
    }

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
        return passes.values.filter(Self.opens).map { pass in
            var pass = pass
            pass.isToldApartLate = !stream.isInOrder && pass.name.id.map { (dues[$0]?.count ?? 0) > 1 } ?? false
            let hasHalves = bound.contains { $0.event.id == nil } && bound.contains { $0.event.due == nil }
            pass.isWaiting = hasHalves && pass.hasOneName
            return pass
        }
        .sorted { $0.name < $1.name }
    }

    /// Whether a pass is a cycle: of what opens none it needs both names.
    private static func opens(_ pass: Pass) -> Bool {
        pass.events.contains { told in
            !["notification_scheduled", "prefetch_started"].contains(told.event.kind)
                || told.event.id != nil && told.event.due != nil
        }
    }
}
