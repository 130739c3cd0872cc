// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What the facts of a cycle tell.
extension CycleTable {
    /// How often each stage of a cycle counts, now or when it closes.
    func stageCounts(at slot: Int, isClosing: Bool) -> StageCounts {
        let (cycle, dropped) = (self[slot], Int(droppedRetries(at: slot)))
        return withFacts(at: slot) { facts in
            StageCounts(
                facts,
                cycle.flags,
                isUsed: cycle.used.isKnown,
                isClosing: isClosing,
                droppedRetries: dropped
            )
        }
    }

    /// The one name that a cycle is known by: its schedule also where events without a notification time are so far from
    /// its own that they may be of another pass. O(facts) where it has both names and an event is that far.
    func half(at slot: Int) -> CycleHalf? {
        let cycle = self[slot]
        if let half = cycle.half { return half }
        guard cycle.flags.contains(.isLong) || cycle.hasUndatedFacts, mayHaveDistantFacts(at: slot) else { return nil }
        return stagesOfHalf(at: slot).isEmpty ? nil : .undated
    }

    /// Whether the first or the last fact is far from the notification time; if neither is, none is.
    private func mayHaveDistantFacts(at slot: Int) -> Bool {
        guard let due = self[slot].due else { return false }
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            guard facts.count > 0 else { return false }
            let (first, last) = (Fact(rawValue: facts[0]), Fact(rawValue: facts[facts.count - 1]))
            return Self.isDistant(first.time(base: base), from: due) || Self.isDistant(last.time(base: base), from: due)
        }
    }

    /// The stages of a half that have been counted.
    func countedStagesOfHalf(at slot: Int) -> WaitingStages {
        counted(at: slot).stages.union(self[slot].flags.countedStages).intersection(stagesOfHalf(at: slot))
    }

    /// The stages for which a cycle is known by one name alone: all of them, or with both names those told by events
    /// without a notification time that are far from its own.
    func stagesOfHalf(at slot: Int) -> WaitingStages {
        let cycle = self[slot]
        guard cycle.half == nil else { return .all }
        return withFacts(at: slot) { facts in
            var stages: WaitingStages = []
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                if cycle.isDistant(fact) { stages.formUnion(fact.stages) }
            }
            return stages
        }
    }

    func has(_ stage: Fact.Stage, at slot: Int) -> Bool {
        withFacts(at: slot) { $0.has(stage) }
    }

    /// The latest event time of a cycle.
    func lastTime(at slot: Int) -> Timestamp {
        let cycle = self[slot]
        let told = withFacts(at: slot) { facts in
            facts.isEmpty ? cycle.base : Fact(rawValue: facts[facts.count - 1]).time(base: cycle.base)
        }
        let used = cycle.used.time(base: cycle.base) ?? told
        return max(told, used, cycle.delivered.time(base: cycle.base) ?? told)
    }

    /// When a stage of a cycle was told: the first and the last time. Where only others imply it, the time of those; that of
    /// the latest event where nothing shows it.
    func times(of stage: LifecycleStage, at slot: Int) -> ClosedRange<Timestamp> {
        let cycle = self[slot]
        if stage == .used, let used = cycle.used.time(base: cycle.base) { return used...used }
        let told = withFacts(at: slot) { facts in
            var told: ClosedRange<Timestamp>?
            var implied: ClosedRange<Timestamp>?
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: cycle.base)
                if fact.tells(stage) { told = (told?.lowerBound ?? time)...time }
                if fact.implies(stage) { implied = (implied?.lowerBound ?? time)...time }
            }
            return told ?? implied
        }
        return told ?? lastTime(at: slot)...lastTime(at: slot)
    }

    /// The times of the kept summaries that assert a stage which an event of its own tells for an earlier time, and that
    /// time.
    func assertions(of stage: LifecycleStage, at slot: Int) -> (summaries: [Timestamp], told: Timestamp)? {
        let cycle = self[slot]
        var told = stage == .used ? cycle.used.time(base: cycle.base) : nil
        var summaries: [Timestamp] = []
        withFacts(at: slot) { facts in
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: cycle.base)
                if fact.tells(stage) { told = told ?? time }
                if fact.implies(stage) { summaries.append(time) }
            }
        }
        guard let told else { return nil }
        summaries.removeAll { $0 <= told }
        return summaries.isEmpty ? nil : (summaries, told)
    }

    /// The different times at which a stage of a cycle was told, or implied where nothing told it.
    func toldTimes(of stage: LifecycleStage, at slot: Int) -> [Timestamp] {
        let (base, used) = (self[slot].base, self[slot].used)
        return withFacts(at: slot) { facts in
            var told = stage == .used ? [used.time(base: base)].compactMap(\.self) : []
            var implied: [Timestamp] = []
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: base)
                if fact.tells(stage), told.last != time { told.append(time) }
                if fact.implies(stage), implied.last != time { implied.append(time) }
            }
            return told.isEmpty ? implied : told
        }
    }

    /// The results of a cycle that count only when it closes, by their place in a `StageTally`, each with the time of its
    /// attempt: a failure that no retry followed, and a retry that only a completion resolves.
    func resultsCountedAtClosing(at slot: Int) -> [(place: Int, time: Timestamp)] {
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            var results: [(place: Int, time: Timestamp)] = []
            var attempt = Attempt()
            var attempts = facts.untoldAttempts()
            var failed: Timestamp?
            var completed: Timestamp?
            func end(hasEnded: Bool) {
                if attempt.isRetriedWithSuccess, let completed { results.append((2, completed)) }
                guard attempt.failure(hasEnded: hasEnded, isClosing: false) == nil,
                    let reason = attempt.failure(hasEnded: true, isClosing: true), let failed
                else { return }
                results.append((StageTally.failures + Int(reason.rawValue), failed))
            }
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                let time = fact.time(base: base)
                switch fact.stage {
                case .executed:
                    if attempts > 0 {
                        end(hasEnded: true)
                        attempt = Attempt()
                        (failed, completed) = (nil, nil)
                    }
                    attempts += 1
                case .completed where !fact.detail.contains(.unsuccessful): completed = completed ?? time
                default: if fact.tells(.failure) { failed = failed ?? time }
                }
                if fact.stage != .executed { attempt.add(fact) }
            }
            end(hasEnded: false)
            return results
        }
    }

    /// The time of the failure of the latest attempt before a time, which may have waited for its reason; nil without one.
    func pendingFailure(at slot: Int, before end: Timestamp) -> Timestamp? {
        let base = self[slot].base
        return withFacts(at: slot) { facts in
            var failed: Timestamp?
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                guard fact.time(base: base) < end else { break }
                if fact.stage == .executed { failed = nil }
                if fact.stage == .failure, !fact.detail.contains(.willRetry) {
                    failed = failed ?? fact.time(base: base)
                }
            }
            return failed
        }
    }

    /// How many stages like that of an event a cycle knows and has not counted, because they may be those of another half.
    func waitingStages(like kind: EventKind, at slot: Int) -> Int {
        let cycle = self[slot]
        let counted = counted(at: slot)
        return withFacts(at: slot) { facts in
            let told = StageCounts(facts, cycle.flags, isUsed: cycle.used.isKnown, isClosing: false)
            return switch kind {
            case .prefetchScheduled: told.scheduled - Int(counted.scheduled)
            case .prefetchExecuted: told.executed - Int(counted.executed)
            case .prefetchSuccess: told.success - Int(counted.success)
            case .prefetchFailure, .prefetchExpired: told.failureTotal - counted.failureTotal
            case .prefetchMissed: told.missed - Int(counted.missed)
            case .prefetchUsedForNotification: told.used - Int(counted.used)
            case .contentMissing: !cycle.flags.contains(.contentMissing) && facts.has(.contentMissing) ? 1 : 0
            case .notificationDrift: !cycle.flags.contains(.drifted) && facts.has(.drifted) ? 1 : 0
            default: 0
            }
        }
    }

    /// Whether the last attempt of a cycle has failed for good and waits for a reason before it counts.
    func hasWaitingFailure(at slot: Int) -> Bool {
        withFacts(at: slot) { facts in
            var attempt = Attempt()
            var attempts = facts.untoldAttempts()
            for index in facts.indices {
                let fact = Fact(rawValue: facts[index])
                guard fact.stage == .executed else {
                    attempt.add(fact)
                    continue
                }
                if attempts > 0 { attempt = Attempt() }
                attempts += 1
            }
            return attempt.hasFinalFailure && attempt.failure(hasEnded: false, isClosing: false) == nil
        }
    }
}

extension Span<UInt64> {
    /// Whether one of these facts is of a stage.
    fileprivate func has(_ stage: Fact.Stage) -> Bool {
        for index in indices where Fact(rawValue: self[index]).stage == stage { return true }
        return false
    }
}

extension Fact {
    fileprivate func tells(_ other: LifecycleStage) -> Bool {
        switch other {
        case .scheduled: stage == .scheduled
        case .executed: stage == .executed
        case .success: stage == .success
        case .failure: stage == .failure || (stage == .completed && detail.contains(.unsuccessful))
        case .used: stage == .used
        default: false
        }
    }

    /// The stages that it may count in.
    var stages: WaitingStages {
        switch stage {
        case .scheduled: .scheduled
        case .executed: .executed
        case .success: .success
        case .failure: [.failure, .retries, .expired]
        case .completed: [.success, .failure]
        case .summary: [.success, .used]
        case .missed: .missed
        case .used: .used
        case .contentMissing: .fallback
        case .drifted: .drifted
        default: []
        }
    }

    /// Whether it is a summary that asserts a stage.
    fileprivate func implies(_ other: LifecycleStage) -> Bool {
        switch (stage, other) {
        case (.summary, .success): detail.contains(.fetched)
        case (.summary, .used): detail.contains(.usedCached)
        default: false
        }
    }
}
