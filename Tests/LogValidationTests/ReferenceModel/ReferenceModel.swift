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
            let cycle = self.judged(pass, &expectation)
            let retries = cycle.results.reduce(0) { $0 + $1.retries }
            let implied = impliedStages(of: cycle)
            units += self.units(of: cycle)
            expectation.add("retries", retries...retries)
            expectation.add("implied success", implied.success)
            expectation.add("implied used", implied.used)
            judged.append(cycle)
        }
        count(units, snapshotsOf: stream, into: &expectation)
        for cycle in judged { expectation.cycles.append(verdict(on: cycle, among: judged, in: stream)) }
    }
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
