// SPDX-License-Identifier: Apache-2.0

extension ReferenceModel {
    /// Adds up the stages of an installation, with what its client counted beyond them.
    ///
    /// A snapshot includes everything until its time, whenever that arrives. What it says beyond the counted events was
    /// lost and is added once.
    func count(_ units: [CountedUnit], snapshotsOf stream: Stream, into expectation: inout Expectation) {
        let snapshots =
            stream.installation == nil
            ? [] : stream.events("telemetry_snapshot").filter { $0.telemetry != nil }
        if Set(snapshots.map { $0.telemetry?.keys.sorted() }).count > 1 {
            expectation.leaveOpen("snapshots tell of different counters")
        }
        let isSettled = stream.isInOrder && stream.events.allSatisfy { self.isSettled($0.event) }
        let reasons = Self.reasons.compactMap { Self.counters["failure \($0)"] }
        let lostFailures = snapshots.map { told in reasons.reduce(0) { $0 + (told.telemetry?[$1] ?? 0) } }.max() ?? 0
        for stage in ["scheduled", "executed", "success", "used", "failure"] + Self.reasons.map({ "failure \($0)" }) {
            let counted = units.filter { $0.stage == stage }
            let told = snapshots.compactMap { snapshot in
                Self.counters[stage].flatMap { snapshot.telemetry?[$0] }.map { (time: snapshot.time, count: $0) }
            }
            if stage.hasPrefix("failure"), lostFailures > 0, !isSettled || stage == "failure" {
                // A late failure and a lost one cannot be told apart, so the reasons may change places.
                let all = units.filter { $0.stage == "failure" }.reduce(0...0) { $0 + $1.range }
                let least = stage == "failure" ? max(all.lowerBound, lostFailures) : 0
                expectation.add(stage, least...all.upperBound + lostFailures)
                expectation.mayExchangeReasons = true
                continue
            }
            guard let last = told.last else {
                expectation.add(stage, counted.reduce(0...0) { $0 + $1.range })
                continue
            }
            var least = total(counted.map { ($0.times.min() ?? 0, $0.range.lowerBound) }, told)
            var most = total(counted.map { ($0.times.max() ?? 0, $0.range.upperBound) }, told)
            if !stream.isInOrder {
                // Of several snapshots the latest may arrive first.
                let alone = total(counted.map { ($0.times.min() ?? 0, $0.range.lowerBound) }, [last])
                least.total = min(least.total, alone.total)
            }
            if snapshots.contains(where: { !hasFewBehind($0, stream) }) {
                // Of what is behind a snapshot the latest eight stages are known to be (docs/lifecycle.md, What a client
                // counts itself); what is before those may be taken for a part of it, and what is told again for more.
                let before = total(counted.map { (.min + 1, $0.range.lowerBound) }, told)
                let behind = total(counted.map { (.max, $0.range.upperBound) }, told)
                least = (min(least.total, before.total), min(least.recovered, before.recovered))
                most = (max(most.total, behind.total), max(most.recovered, behind.recovered))
            }
            expectation.add(stage, least.total...most.total)
            let recovered = [least.recovered, most.recovered, isSettled ? least.recovered : 0]
            let highest = (recovered + (isSettled ? [] : told.map(\.count))).max() ?? 0
            expectation.add("recovered \(stage)", (recovered.min() ?? 0)...highest)
        }
    }

    /// Whether at most eight stages are known of the time behind a snapshot when it arrives; with cycles that are told of by
    /// one name also at the end, because what waits for the other name counts later, and in files is taken back then.
    private func hasFewBehind(_ snapshot: ToldEvent, _ stream: Stream) -> Bool {
        let bound = stream.events.filter { !Self.unbound.contains($0.event.kind) }
        let isCountedLate = bound.contains { $0.event.id == nil || $0.event.due == nil }
        let known = isCountedLate ? stream.events[...] : stream.events.prefix { $0.event != snapshot }
        return known.count { $0.event.time > snapshot.time && !Self.unbound.contains($0.event.kind) } <= 8
    }

    /// Whether an event counts when it arrives: what a snapshot finds uncounted yet may still come, from a retry or under
    /// the other name of a cycle.
    private func isSettled(_ event: ToldEvent) -> Bool {
        let hasBothNames = event.id != nil && event.due != nil
        let isUnknown = event.kind == "prefetch_failure" && knownReason(event) == nil || event.fetched == false
        return (hasBothNames || Self.unbound.contains(event.kind)) && event.willRetry != true && !isUnknown
    }

    private func total(
        _ units: [(time: Int, count: Int)],
        _ snapshots: [(time: Int, count: Int)]
    ) -> (total: Int, recovered: Int) {
        var total = 0
        var recovered = 0
        var since = Int.min
        for snapshot in snapshots {
            for unit in units where unit.time > since && unit.time <= snapshot.time { total += unit.count }
            since = snapshot.time
            recovered += max(0, snapshot.count - total)
            total = max(total, snapshot.count)
        }
        for unit in units where unit.time > since { total += unit.count }
        return (total, recovered)
    }

    static let reasons = ["NETWORK", "AUTH", "SYSTEM", "OTHER"]
    private static let counters = [
        "scheduled": "dnp_prefetch_scheduled_total", "executed": "dnp_prefetch_executed_total",
        "success": "dnp_prefetch_success_total", "used": "dnp_prefetch_used_for_notification_total",
        "failure NETWORK": #"dnp_prefetch_failure_total{reason="NETWORK"}"#,
        "failure AUTH": #"dnp_prefetch_failure_total{reason="AUTH"}"#,
        "failure SYSTEM": #"dnp_prefetch_failure_total{reason="SYSTEM"}"#,
    ]

    static func counter(of stage: String) -> String? { counters[stage] }
}
