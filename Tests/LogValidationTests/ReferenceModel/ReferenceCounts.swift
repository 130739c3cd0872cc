// SPDX-License-Identifier: Apache-2.0

/// A stage that counts once, and all times at which it was told.
struct CountedUnit {
    var stage: String
    var times: Set<Int>
    /// How often it may count.
    var range = 1...1
}

/// A cycle with its attempts, and what they come to.
struct JudgedPass {
    var pass: Pass
    var attempts: [ModelAttempt]
    var results: [AttemptResult]
    /// The summaries that assert success, and those that assert the use.
    var fetched: [Arrived]
    var usedCached: [Arrived]

    var failures: [AttemptResult] { results.filter { $0.failure.upperBound > 0 } }
    /// Whether it succeeded, and whether its content was used, by an event or a summary.
    var hasSuccess: Bool { results.contains { $0.hasSucceeded } || !fetched.isEmpty }
    var isUsed: Bool { pass.contains("prefetch_used_for_notification") || !usedCached.isEmpty }
}

extension ReferenceModel {
    func judged(_ pass: Pass, _ expectation: inout Expectation) -> JudgedPass {
        let attempts = attempts(of: pass, &expectation)
        let summaries = pass.events.filter { $0.event.kind == "prefetch_cycle_complete" }
        let fetched = summaries.filter { $0.event.fetched == true }
        var results = attempts.map { result(of: $0, isSummedUp: false) }
        // A summary asserts the success of its cycle, which an earlier attempt may have brought.
        if !fetched.isEmpty, let last = attempts.last, !results.dropLast().contains(where: \.hasSucceeded) {
            results[results.count - 1] = result(of: last, isSummedUp: true)
        }
        // What was counted before the execution arrived that separates two attempts stands.
        if pass.hasLateExecution || pass.isToldApartLate {
            expectation.mayExchangeReasons = true
            for place in results.indices where !results[place].failureTimes.isEmpty {
                results[place].failure = 0...1
                results[place].reasons = Set(Self.reasons)
            }
        }
        return JudgedPass(
            pass: pass,
            attempts: attempts,
            results: results,
            fetched: fetched,
            usedCached: summaries.filter { $0.event.usedCached == true }
        )
    }

    /// What a cycle counts.
    func units(of judged: JudgedPass) -> [CountedUnit] {
        let pass = judged.pass
        var units: [CountedUnit] = []
        for submission in pass.submissions {
            let same = pass.events("prefetch_scheduled").filter { $0.begin == submission.begin || $0.begin == nil }
            units.append(CountedUnit(stage: "scheduled", times: Set(same.map(\.time))))
        }
        for executed in judged.attempts.compactMap(\.executed) {
            units.append(CountedUnit(stage: "executed", times: [executed]))
        }
        for (attempt, result) in zip(judged.attempts, judged.results) {
            if result.hasSucceeded {
                let told = attempt.events.map(\.event).filter(tellsSuccess)
                let times = result.failureTimes.union(told.map(\.time))
                units.append(CountedUnit(stage: "success", times: times))
            }
            guard result.failure.upperBound > 0 else { continue }
            for stage in ["failure"] + result.reasons.map({ "failure \($0)" }) {
                let isOne = stage == "failure" || result.reasons.count == 1
                let range = isOne ? result.failure : 0...1
                units.append(CountedUnit(stage: stage, times: result.failureTimes, range: range))
            }
        }
        if !judged.fetched.isEmpty, !judged.results.contains(where: \.hasSucceeded) {
            units.append(CountedUnit(stage: "success", times: Set(judged.fetched.map(\.event.time))))
        }
        if judged.isUsed {
            let used = pass.events("prefetch_used_for_notification") + judged.usedCached.map(\.event)
            units.append(CountedUnit(stage: "used", times: Set(used.map(\.time))))
        }
        guard pass.isToldApartLate else { return units }
        // Before the passes of one id are told apart, what one of them is told by its time and by the id may count twice.
        return units.map { CountedUnit(stage: $0.stage, times: $0.times, range: 0...2) }
    }

    /// Whether an event tells of a success, or may where a retry was announced.
    private func tellsSuccess(_ event: ToldEvent) -> Bool {
        if event.kind == "prefetch_completed", event.fetched == nil { return true }
        return event.kind == "prefetch_success" || event.fetched == true
    }

    /// How many stages count as implied by a summary, which a success of several attempts leaves open.
    func impliedStages(of judged: JudgedPass) -> (success: ClosedRange<Int>, used: ClosedRange<Int>) {
        let used = implied(by: judged.usedCached, unless: "prefetch_used_for_notification", judged.pass)
        let events = judged.pass.events.map(\.event)
        // Under one name it may wait to be counted until the stage itself is told.
        if events.contains(where: { $0.id == nil || $0.due == nil }) {
            return (0...(judged.fetched.isEmpty ? 0 : 1), 0...(judged.usedCached.isEmpty ? 0 : 1))
        }
        if judged.results.contains(where: \.isRecovered) { return (0...1, used) }
        let success = implied(by: judged.fetched, unless: "prefetch_success", judged.pass)
        return (judged.attempts.count > 1 ? 0...success.upperBound : success, used)
    }

    /// Whether a summary told of a stage before the stage itself was told.
    private func implied(by summaries: [Arrived], unless kind: String, _ pass: Pass) -> ClosedRange<Int> {
        guard let summary = summaries.map(\.place).min() else { return 0...0 }
        guard pass.contains(kind) else { return 1...1 }
        return pass.events.allSatisfy { $0.event.kind != kind || $0.place > summary } ? 1...1 : 0...0
    }
}
