// SPDX-License-Identifier: Apache-2.0

/// A stage that counts once, and all times at which it was told.
struct CountedUnit {
    var stage: String
    var times: Set<Int>
    /// How often it may count.
    var range = 1...1
}

/// What a cycle counts.
struct CycleAccount {
    var units: [CountedUnit] = []
    var results: [AttemptResult] = []
    var retries = 0...0
    var impliedSuccess = 0...0
    var impliedUsed = 0...0
    /// Whether it succeeded, and whether its content was used, by an event or a summary.
    var hasSuccess = Ruling.no
    var isUsed = false

    var failures: [AttemptResult] { results.filter { $0.failure.upperBound > 0 } }
}

/// A cycle with its attempts and counts.
struct JudgedPass {
    var pass: Pass
    var attempts: [ModelAttempt]
    var account: CycleAccount
}

extension ReferenceModel {
    func count(_ pass: Pass, _ attempts: [ModelAttempt]) -> CycleAccount {
        var account = CycleAccount()
        let tellings = pass.events("prefetch_scheduled")
        for submission in pass.submissions {
            let same = tellings.filter { $0.begin == submission.begin || $0.begin == nil }
            account.units.append(CountedUnit(stage: "scheduled", times: Set(same.map(\.time))))
        }
        for attempt in attempts {
            if let executed = attempt.executed {
                account.units.append(CountedUnit(stage: "executed", times: [executed]))
            }
        }
        account.results = attempts.map(result)
        let summaries = pass.events.filter {
            $0.event.kind == "prefetch_cycle_complete" && $0.event.fetched == true
        }
        countResults(attempts, summaries, into: &account)

        let used = pass.events("prefetch_used_for_notification").map(\.time)
        let implying = pass.events.filter { $0.event.kind == "prefetch_cycle_complete" && $0.event.usedCached == true }
        account.isUsed = !used.isEmpty || !implying.isEmpty
        if account.isUsed {
            account.units.append(CountedUnit(stage: "used", times: Set(used + implying.map(\.event.time))))
        }
        account.impliedUsed = implied(by: implying, unless: "prefetch_used_for_notification", pass)
        let isKnownByOneName = Set(pass.events.map { CycleName(id: $0.event.id, due: $0.event.due) }).count == 1
        if account.impliedSuccess == 0...0 {
            account.impliedSuccess = implied(by: summaries, unless: "prefetch_success", pass)
            if attempts.count > 1 || !isKnownByOneName {
                account.impliedSuccess = 0...account.impliedSuccess.upperBound
            }
        }
        return account
    }

    /// Counts results, and the success that summaries assert where none was seen.
    private func countResults(_ attempts: [ModelAttempt], _ summaries: [Arrived], into account: inout CycleAccount) {
        let isSeen = account.results.contains { $0.success.lowerBound > 0 && !$0.isResolvedBySummary }
        for (attempt, result) in zip(attempts, account.results) {
            let told = attempt.events.map(\.event)
            var success = result.success
            // A summary asserts the success of its cycle, which an earlier attempt may have brought.
            if result.isResolvedBySummary, !result.isResolvedByCompletion, isSeen { success = 0...1 }
            if success.upperBound > 0 {
                let times = told.filter {
                    $0.kind == "prefetch_success" || $0.fetched == true || $0.kind == "prefetch_failure"
                }
                .map(\.time)
                account.units.append(CountedUnit(stage: "success", times: Set(times), range: success))
                account.hasSuccess = account.hasSuccess || Ruling(success.lowerBound > 0, true)
            }
            account.retries =
                account.retries + (success == result.success ? result.retries : 0...result.retries.upperBound)
            var failure = result.failure
            if success != result.success { failure = 0...1 }
            if failure.upperBound > 0 {
                account.units.append(CountedUnit(stage: "failure", times: result.failureTimes, range: failure))
                let isOne = result.reasons.count == 1 && failure == 1...1
                for reason in result.reasons {
                    account.units.append(
                        CountedUnit(
                            stage: "failure \(reason)",
                            times: result.failureTimes,
                            range: isOne ? 1...1 : 0...1
                        )
                    )
                }
            }
            if result.isResolvedBySummary || result.isResolvedByCompletion { account.impliedSuccess = 0...1 }
        }
        guard !summaries.isEmpty, account.hasSuccess != .yes else { return }
        if account.hasSuccess == .no {
            account.units.append(CountedUnit(stage: "success", times: Set(summaries.map(\.event.time))))
            account.impliedSuccess = 1...1
        }
        account.hasSuccess = .yes
    }

    /// Whether a summary told of a stage before the stage itself was told.
    private func implied(by summaries: [Arrived], unless kind: String, _ pass: Pass) -> ClosedRange<Int> {
        guard let summary = summaries.map(\.place).min() else { return 0...0 }
        let names = Set(pass.events.map { CycleName(id: $0.event.id, due: $0.event.due) })
        let isFirst = pass.events.allSatisfy { $0.event.kind != kind || $0.place > summary }
        let isOnly = !pass.contains(kind)
        if isOnly { return 1...1 }
        // Told under another name of the cycle it may not be known yet that the stage was seen.
        return names.count > 1 ? 0...1 : isFirst ? 1...1 : 0...0
    }

    /// Adds up the stages of an installation, with what its client counted beyond them.
    ///
    /// A snapshot includes everything until its time, whenever that arrives. What it says beyond the counted events was
    /// lost and is added once.
    func count(_ units: [CountedUnit], snapshotsOf stream: Stream, into expectation: inout Expectation) {
        let stages = ["scheduled", "executed", "success", "used", "failure"] + Self.reasons.map { "failure \($0)" }
        let snapshots =
            stream.installation == nil
            ? [] : stream.events("telemetry_snapshot").filter { $0.telemetry != nil }
        if Set(snapshots.map { $0.telemetry?.keys.sorted() }).count > 1 {
            expectation.leaveOpen("snapshots tell of different counters")
        }
        // What a snapshot finds uncounted yet may still come, from a retry or under the other name of a cycle.
        let isSettled =
            stream.isInOrder
            && stream.events.allSatisfy { told in
                let event = told.event
                let hasBothNames = event.id != nil && event.due != nil
                let isUnknown = event.kind == "prefetch_failure" && knownReason(event) == nil || event.fetched == false
                return (hasBothNames || Self.unbound.contains(event.kind)) && event.willRetry != true && !isUnknown
            }
        let claimedFailures = snapshots.map { snapshot in
            Self.reasons.compactMap { Self.counters["failure \($0)"] }.reduce(0) { $0 + (snapshot.telemetry?[$1] ?? 0) }
        }
        .max()
        let lostFailures = claimedFailures ?? 0
        for stage in stages {
            let counted = units.filter { $0.stage == stage }
            let told = snapshots.compactMap { snapshot in
                Self.counters[stage].flatMap { snapshot.telemetry?[$0] }.map { (time: snapshot.time, count: $0) }
            }
            if stage.hasPrefix("failure"), lostFailures > 0, !isSettled || stage == "failure" {
                // A late failure and a lost one cannot be told apart, so the reasons may change places.
                let all = units.filter { $0.stage == "failure" }.reduce(0) { $0 + $1.range.upperBound }
                expectation.add(stage, 0...all + lostFailures)
                continue
            }
            guard let last = told.last else {
                expectation.add(stage, counted.reduce(0...0) { $0 + $1.range })
                continue
            }
            var least = total(counted.map { ($0.times.min() ?? 0, $0.range.lowerBound) }, told)
            let most = total(counted.map { ($0.times.max() ?? 0, $0.range.upperBound) }, told)
            // Of several snapshots the latest may arrive first.
            if !stream.isInOrder {
                least.total = min(
                    least.total,
                    total(counted.map { ($0.times.min() ?? 0, $0.range.lowerBound) }, [last]).total
                )
            }
            expectation.add(stage, least.total...most.total)
            let recovered = [least.recovered, most.recovered, isSettled ? least.recovered : 0]
            let highest = (recovered + (isSettled ? [] : told.map(\.count))).max() ?? 0
            expectation.add("recovered \(stage)", (recovered.min() ?? 0)...highest)
        }
    }

    private func total(_ units: [(time: Int, count: Int)], _ snapshots: [(time: Int, count: Int)]) -> (
        total: Int, recovered: Int
    ) {
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
