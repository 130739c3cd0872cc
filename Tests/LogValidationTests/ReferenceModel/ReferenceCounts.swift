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
                let times = successTimes(of: attempt, result, judged)
                units.append(CountedUnit(stage: "success", times: times, range: 1...countsOfSuccess(attempt, judged)))
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
            let used = pass.events.filter { $0.event.kind == "prefetch_used_for_notification" }
            let assertions = used.isEmpty ? judged.usedCached : earlier(judged.usedCached, than: used, pass)
            units.append(CountedUnit(stage: "used", times: Set((used + assertions).map(\.event.time))))
        }
        return units
    }

    /// How often the success of an attempt may count: twice in the service where a summary and a success by the id alone were
    /// taken for those of two passes, before one between them was told of.
    private func countsOfSuccess(_ attempt: ModelAttempt, _ judged: JudgedPass) -> Int {
        guard reading == .service, judged.pass.isToldApartLate else { return 1 }
        let isToldById = attempt.events.contains { $0.event.kind == "prefetch_success" && $0.event.due == nil }
        return isToldById && judged.fetched.contains { $0.event.due == nil } ? 2 : 1
    }

    /// When the success of an attempt is told: by its events, or by what resolves its retry.
    private func successTimes(of attempt: ModelAttempt, _ result: AttemptResult, _ judged: JudgedPass) -> Set<Int> {
        let told = attempt.events.filter { $0.event.kind == "prefetch_success" }
        guard !told.isEmpty else {
            let resolving = attempt.events.map(\.event).filter(tellsSuccess)
            // In the service a summary counts before it is certain that a completion was that of the retry.
            let asserting = reading == .service ? judged.fetched.map(\.event.time) : []
            return result.failureTimes.union(resolving.map(\.time)).union(asserting)
        }
        var times = Set((told + earlier(judged.fetched, than: told, judged.pass)).map(\.event.time))
        if attempt.separated >= 0 {
            // Which of two results counted before it was clear that they are of two attempts is not known.
            times.formUnion(judged.pass.events("prefetch_success").map(\.time))
        }
        return times
    }

    /// The summaries that arrived in the service before what they assert, so that they counted: a counter cannot be taken
    /// back. Where a cycle is told by its names alone they may have been counted before the names were told together.
    private func earlier(_ summaries: [Arrived], than told: [Arrived], _ pass: Pass) -> [Arrived] {
        guard reading == .service else { return [] }
        let first = told.map(\.place).min() ?? 0
        return summaries.filter { $0.place < first || pass.hasOneName }
    }

    /// Whether an event tells of a success, or may where a retry was announced.
    private func tellsSuccess(_ event: ToldEvent) -> Bool {
        if event.kind == "prefetch_completed", event.fetched == nil { return true }
        return event.kind == "prefetch_success" || event.fetched == true
    }

    /// How many stages count as implied by a summary, which a success of several attempts leaves open.
    func impliedStages(of judged: JudgedPass) -> (success: ClosedRange<Int>, used: ClosedRange<Int>) {
        let used = implied(by: judged.usedCached, unless: "prefetch_used_for_notification", judged.pass)
        // In the service it may wait under one name until the stage itself is told, and count anew for another pass.
        if reading == .service, judged.pass.hasOneName {
            let most = judged.pass.isToldApartLate ? 2 : 1
            return (0...(judged.fetched.isEmpty ? 0 : most), 0...(judged.usedCached.isEmpty ? 0 : most))
        }
        if judged.results.contains(where: \.isRecovered) { return (0...1, used) }
        let success = implied(by: judged.fetched, unless: "prefetch_success", judged.pass)
        return (judged.attempts.count > 1 ? 0...success.upperBound : success, used)
    }

    /// Whether a summary told of a stage before the stage itself was told; in files, whether nothing else told of it.
    private func implied(by summaries: [Arrived], unless kind: String, _ pass: Pass) -> ClosedRange<Int> {
        guard let summary = summaries.map(\.place).min() else { return 0...0 }
        guard pass.contains(kind) else { return 1...1 }
        guard reading == .service else { return 0...0 }
        return pass.events.allSatisfy { $0.event.kind != kind || $0.place > summary } ? 1...1 : 0...0
    }
}
