// SPDX-License-Identifier: Apache-2.0

/// One execution, and what was told of it until the next one.
struct ModelAttempt {
    /// The time of the execution; nil for results without one.
    var executed: Int?
    var events: [Arrived] = []
    /// Until what arrived in the service its lines and those of another attempt could be taken for lines of one, or they
    /// could not: an execution between them had not arrived, the names of their cycle had not been told together, or
    /// nothing had told of another pass under their id.
    var separated = -1

    func has(_ kind: String) -> Bool { events.contains { $0.event.kind == kind } }
}

/// The result of an attempt.
struct AttemptResult {
    var hasSucceeded = false
    /// Whether only a completion or a summary tells that its retry succeeded.
    var isRecovered = false
    /// How often its failure counts: in the service also where it was counted before its retry arrived.
    var failure = 0...0
    /// The reasons under which the failure may count.
    var reasons: Set<String> = []
    var failureTimes: Set<Int> = []
    var retries = 0
    var endedTwice = false
}

extension ReferenceModel {
    /// The attempts of a cycle: a result belongs to the latest execution that is not later than it.
    func attempts(of pass: Pass, _ expectation: inout Expectation) -> [ModelAttempt] {
        let executions = Set(pass.events("prefetch_executed").map(\.time)).sorted()
        var attempts = executions.map { ModelAttempt(executed: $0) }
        if attempts.isEmpty { attempts.append(ModelAttempt()) }
        for told in pass.events where Self.results[told.event.kind] != nil {
            let place = executions.lastIndex { $0 <= told.event.time }
            if place == nil, !executions.isEmpty {
                expectation.leaveOpen("a result is earlier than the first execution")
            }
            attempts[place ?? 0].events.append(told)
        }
        guard reading == .service else { return attempts }
        for place in attempts.indices.dropFirst() {
            let told = pass.events.filter {
                $0.event.kind == "prefetch_executed" && $0.event.time == attempts[place].executed
            }
            let earlier = pass.events.filter {
                $0.event.kind == "prefetch_executed" && $0.event.time < attempts[place].executed ?? 0
            }
            // What is before the first known execution is of its attempt.
            let arrived = max(told.map(\.place).min() ?? -1, earlier.map(\.place).min() ?? -1)
            guard attempts[place].events.contains(where: { $0.place < arrived }) else { continue }
            for other in [place - 1, place] { attempts[other].separated = max(attempts[other].separated, arrived) }
        }
        if pass.isWaiting || pass.isToldApartLate {
            for place in attempts.indices { attempts[place].separated = .max }
        }
        return attempts
    }

    /// The kinds that tell of a result, in the order in which they are taken of one second.
    private static let results = [
        "prefetch_success": 0, "prefetch_failure": 1, "prefetch_expired": 2, "prefetch_completed": 3,
        "prefetch_cycle_complete": 4,
    ]

    /// The lines of an attempt that tell of failures.
    private struct Failures {
        /// Those with a retry announced.
        var retried: [Arrived] = []
        /// What tells such a failure again, and does not say itself whether there is a retry.
        var restating: [Arrived] = []
        /// Failures for good, and unsuccessful completions behind none that is retried.
        var final: [Arrived] = []
        var unsuccessful: [Arrived] = []

        var all: [Arrived] { retried + restating + final + unsuccessful }
    }

    /// The result that an attempt's events tell in the order of their times.
    ///
    /// - Parameter isSummedUp: whether a summary says that its retry succeeded.
    func result(of attempt: ModelAttempt, isSummedUp: Bool) -> AttemptResult {
        var told = Failures()
        var result = AttemptResult()
        var endsPlainly = false
        for line in attempt.events.sorted(by: Self.isEarlier) {
            let event = line.event
            switch event.kind {
            case "prefetch_success": result.hasSucceeded = true
            case "prefetch_failure" where event.willRetry == true && rules.retriesAreForgiven:
                told.retried.append(line)
            case "prefetch_failure" where event.willRetry == nil && !told.retried.isEmpty && told.final.isEmpty:
                told.restating.append(line)
            case "prefetch_failure", "prefetch_expired": told.final.append(line)
            case "prefetch_completed":
                endsPlainly = event.fetched ?? (knownReason(event) == nil)
                guard !endsPlainly else { continue }
                let restates = !told.retried.isEmpty && told.final.isEmpty && !result.hasSucceeded
                if restates { told.restating.append(line) } else { told.unsuccessful.append(line) }
            default: continue
            }
        }
        let isFailure = !told.final.isEmpty || !told.unsuccessful.isEmpty
        let named = Set(told.final.filter { $0.event.kind == "prefetch_failure" }.compactMap { knownReason($0.event) })
        let hasExpired = told.final.contains { $0.event.kind == "prefetch_expired" }
        result.endedTwice = result.hasSucceeded && isFailure || !hasExpired && named.subtracting(["OTHER"]).count > 1
        result.retries = Set(told.retried.map(\.event.time)).count
        result.isRecovered =
            !told.retried.isEmpty && !isFailure && !result.hasSucceeded && (endsPlainly || isSummedUp)
        result.hasSucceeded = result.hasSucceeded || result.isRecovered
        let isCertain = !told.final.isEmpty || told.unsuccessful.contains { knownReason($0.event) != nil }
        if isCertain || !result.hasSucceeded && !told.all.isEmpty {
            result.failure = 1...1
        } else if reading == .service,
            told.restating.contains(where: { isBeforeItsRetry($0, told.retried) || $0.place < attempt.separated })
        {
            result.failure = 0...1
        }
        result.failureTimes = Set(told.all.map(\.event.time))
        result.reasons = reasons(of: told, separated: attempt.separated)
        return result
    }

    private static func isEarlier(_ left: Arrived, _ right: Arrived) -> Bool {
        func order(_ event: ToldEvent) -> (Int, Int, Int) {
            (event.time, results[event.kind] ?? 9, event.willRetry == true ? 0 : 1)
        }
        return order(left.event) < order(right.event)
    }

    /// Whether a line arrived before each retry was announced that it tells again, so that it has been counted; also where
    /// that was told under another name of the cycle.
    private func isBeforeItsRetry(_ line: Arrived, _ retried: [Arrived]) -> Bool {
        retried.allSatisfy { told in
            told.place > line.place || told.event.time > line.event.time || told.event.id != line.event.id
                || told.event.due != line.event.due
        }
    }

    /// The reasons that a failure may count under: the first one that is told, of all lines or of those that announce no
    /// retry.
    ///
    /// In the service the first is the one that arrived first. Where it was not clear yet that they count, behind an
    /// announced retry, it is the earlier one of those that had arrived then; where it was not clear yet that they are of
    /// one attempt, any of those that had arrived.
    private func reasons(of told: Failures, separated: Int) -> Set<String> {
        var reasons: Set<String> = []
        let unknown = told.all.filter { knownReason($0.event) == nil }.map(\.place).min()
        var isUnknownFirst = unknown.map { $0 < separated } ?? false
        for lines in [told.all, told.restating + told.final + told.unsuccessful] {
            let known = lines.filter { knownReason($0.event) != nil }.sorted { $0.place < $1.place }
            let earliest = known.map(\.event.time).min()
            for line in known {
                let before = known.filter { $0.place < line.place }
                let isFirst =
                    before.isEmpty || line.place < separated
                    || !told.retried.isEmpty && before.allSatisfy { $0.event.time >= line.event.time }
                guard reading == .service ? isFirst : line.event.time == earliest else { continue }
                if let reason = knownReason(line.event) { reasons.insert(reason) }
            }
            if let first = known.first, let unknown, unknown < first.place { isUnknownFirst = true }
        }
        if reasons.isEmpty || reading == .service && isUnknownFirst { reasons.insert("OTHER") }
        return reasons
    }

    /// The reason that an event names, or that its status or error implies.
    func knownReason(_ event: ToldEvent) -> String? {
        if event.kind == "prefetch_expired" { return "SYSTEM" }
        if let reason = event.reason, Self.reasons.contains(reason) { return reason }
        switch event.status {
        case 401, 403: return "AUTH"
        case 0, 408, 429: return "NETWORK"
        case .some(let status) where status >= 500: return "NETWORK"
        default: return ["AuthError": "AUTH", "NetworkError": "NETWORK"][event.error ?? ""]
        }
    }
}
