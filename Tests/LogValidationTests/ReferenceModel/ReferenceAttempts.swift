// SPDX-License-Identifier: Apache-2.0

/// One execution, and what was told of it until the next one.
struct ModelAttempt {
    /// The time of the execution; nil for results without one.
    var executed: Int?
    var events: [Arrived] = []
    /// Whether it is the last one of its cycle.
    var isLast = true

    func told(_ kind: String) -> [Arrived] {
        events.filter { $0.event.kind == kind }.sorted { $0.event.time < $1.event.time }
    }
}

/// The result of an attempt.
struct AttemptResult {
    var success = 0...0
    var failure = 0...0
    /// The reasons under which the failure may count.
    var reasons: Set<String> = []
    var failureTimes: Set<Int> = []
    var retries = 0...0
    var endedTwice = Ruling.no
    /// Whether a failure that will be retried is resolved by a completion or a summary alone.
    var isResolvedByCompletion = false
    var isResolvedBySummary = false
}

extension ReferenceModel {
    /// The attempts of a cycle: a result belongs to the latest execution that is not later than it.
    func attempts(of pass: Pass, _ expectation: inout Expectation) -> [ModelAttempt] {
        let executions = Set(pass.events("prefetch_executed").map(\.time)).sorted()
        var attempts = executions.map { ModelAttempt(executed: $0, isLast: $0 == executions.last) }
        if attempts.isEmpty { attempts.append(ModelAttempt()) }
        let results: Set = [
            "prefetch_success", "prefetch_failure", "prefetch_expired", "prefetch_completed", "prefetch_cycle_complete",
        ]
        for told in pass.events where results.contains(told.event.kind) {
            guard let place = executions.lastIndex(where: { $0 <= told.event.time }) else {
                attempts[0].events.append(told)
                if !executions.isEmpty { expectation.leaveOpen("a result is earlier than the first execution") }
                continue
            }
            attempts[place].events.append(told)
        }
        return attempts
    }

    /// The result that an attempt's events tell: one success, one failure, both, or none.
    func result(of attempt: ModelAttempt) -> AttemptResult {
        var result = AttemptResult()
        let failures = attempt.told("prefetch_failure")
        let retried = rules.retriesAreForgiven ? failures.filter { $0.event.willRetry == true } : []
        // `JWT expired` behind `Fetch failed ... willRetry=true` tells the same failure again.
        let echoes = failures.filter { told in
            told.event.willRetry == nil && retried.contains { $0.event.time <= told.event.time }
        }
        let final =
            failures.filter { told in !retried.contains { $0.place == told.place } }
            .filter { told in !echoes.contains { $0.place == told.place } } + attempt.told("prefetch_expired")
        let completions = attempt.told("prefetch_completed")
        let unsuccessful = completions.filter { $0.event.fetched == false }
        let successes = attempt.told("prefetch_success")
        let summaries = attempt.told("prefetch_cycle_complete").filter { $0.event.fetched == true }
        let tellers = failures + attempt.told("prefetch_expired") + unsuccessful
        let retries = Set(retried.map(\.event.time)).count

        result.failureTimes = Set(tellers.map(\.event.time))
        result.reasons = reasons(of: tellers, final: final + echoes + unsuccessful, waits: !retried.isEmpty)
        let hasDistinctEcho = Set((retried + echoes).compactMap { knownReason($0.event) }).count > 1
        // Counted when it arrived, before what it repeats.
        let hasEarlyEcho =
            reading == .service
            && echoes.contains { echo in
                retried.allSatisfy { $0.place > echo.place || $0.event.time > echo.event.time }
            }
        let isEchoCounted = hasDistinctEcho || hasEarlyEcho

        if let success = successes.first {
            result.success = 1...1
            let last = successes[successes.count - 1].event.time
            if retries > 0 { result.retries = (retried[0].event.time <= last ? 1 : 0)...retries }
            let contradicting = final + unsuccessful.filter { knownReason($0.event) != nil }
            if contradicting.isEmpty {
                if !unsuccessful.isEmpty || isEchoCounted {
                    result.failure = 0...1
                    result.endedTwice = .arguable
                }
            } else if retries > 0, contradicting.allSatisfy({ $0.event.time <= success.event.time }) {
                // One failure in several lines, the last of which says that the task completed.
                result.failure = 0...1
                result.endedTwice = .arguable
            } else {
                result.failure = 1...1
                result.endedTwice = .yes
            }
            return result
        }
        let isCompleted = completions.contains { $0.event.fetched == true }
        if retries > 0, isCompleted || !summaries.isEmpty {
            result.isResolvedByCompletion = isCompleted
            result.isResolvedBySummary = !summaries.isEmpty
            if final.isEmpty, unsuccessful.isEmpty {
                result.success = 1...1
                result.retries = 1...retries
                if isEchoCounted {
                    result.failure = 0...1
                    result.endedTwice = .arguable
                }
            } else {
                result.success = (summaries.isEmpty ? 0 : 1)...1
                result.failure = 0...1
                result.retries = 0...retries
                result.endedTwice = .arguable
            }
        } else if !failures.isEmpty || !attempt.told("prefetch_expired").isEmpty {
            result.failure = 1...1
            result.retries = 0...retries
            if Set(tellers.compactMap { knownReason($0.event) }).count > 1 { result.endedTwice = .arguable }
        } else if !unsuccessful.isEmpty {
            // A completion with a reason is a failure (docs/lifecycle.md); without one it may be none.
            result.failure = (unsuccessful.contains { knownReason($0.event) != nil } ? 1 : 0)...1
            if Set(tellers.compactMap { knownReason($0.event) }).count > 1 { result.endedTwice = .arguable }
        }
        return result
    }

    /// The reasons that a failure told by some events may count under.
    ///
    /// - Parameter waits: whether it may be retried, so that its reason may be decided when all is known.
    private func reasons(of tellers: [Arrived], final: [Arrived], waits: Bool) -> Set<String> {
        let known = tellers.filter { knownReason($0.event) != nil }
        guard !known.isEmpty else { return ["OTHER"] }
        // A failure that will be retried names the reason of the attempt, or only its own.
        var reasons: Set<String> = []
        for candidates in [known, known.filter { told in final.contains { $0.place == told.place } }] {
            let earliest = candidates.map(\.event.time).min()
            let first = candidates.map(\.place).min()
            for told in candidates {
                let isEarliest = told.event.time == earliest && (reading == .validate || waits)
                guard isEarliest || reading == .service && told.place == first else { continue }
                if let reason = knownReason(told.event) { reasons.insert(reason) }
            }
        }
        if reading == .service, tellers.count > known.count { reasons.insert("OTHER") }
        return reasons
    }

    /// The reason that an event names, or that its status or error implies.
    func knownReason(_ event: ToldEvent) -> String? {
        if event.kind == "prefetch_expired" { return "SYSTEM" }
        if let reason = event.reason, ["NETWORK", "AUTH", "SYSTEM", "OTHER"].contains(reason) { return reason }
        switch event.status {
        case 401, 403: return "AUTH"
        case 0, 408, 429: return "NETWORK"
        case .some(let status) where status >= 500: return "NETWORK"
        default: break
        }
        switch event.error {
        case "AuthError": return "AUTH"
        case "NetworkError": return "NETWORK"
        default: return nil
        }
    }
}
