// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

extension LifecycleFold {
    /// Adds new counts to an installation, and subtracts from the totals what its own counters had already recovered.
    ///
    /// - Parameters:
    ///   - time: the event time of what was counted.
    ///   - failureTime: the time of the failure, where it differs.
    ///   - isNew: false for what was counted under another reason, so that it was not recovered.
    mutating func reconcile(
        _ counted: StageTally,
        of fingerprint: UInt64,
        at time: Timestamp,
        failedAt failureTime: Timestamp? = nil,
        isNew: Bool = true,
        in group: Int
    ) {
        guard fingerprint != 0, !counted.isZero else { return }
        let known = installations.update(fingerprint) {
            $0.count(counted, at: time, failedAt: failureTime ?? time, isNew: isNew)
        }
        if let known { groups[group].add(known, times: -1) }
    }

    /// Reconciles what an event made its cycle count: what it tells itself by its time, and what had waited by the time
    /// that it was told with.
    mutating func reconcile(_ counted: StageTally, by event: borrowing Event, at slot: Int, in group: Int) {
        let fingerprint = cycles[slot].installation
        guard !counted.isZero, fingerprint != 0 else { return }
        // Most events tell the one stage that they make their cycle count.
        if let place = event.toldPlace, counted[place] == 1, counted.sum == 1 {
            let time = event.timestamp
            let isCounted = installations.update(fingerprint) { $0.countOne(place, at: time) }
            if isCounted { return }
        }
        var own = counted
        var waited = StageTally()
        for place in counted.places where counted[place] > event.tells(place) {
            own[place] = event.tells(place)
            waited[place] = counted[place] - own[place]
        }
        var failed: Timestamp?
        if own.hasFailures {
            failed = cycles.pendingFailure(at: slot, before: event.timestamp)
            // A completion may be told with an earlier time than the failure whose attempt it ends.
            if failed == nil, !event.tellsFailure { failed = cycles.times(of: .failure, at: slot).upperBound }
        }
        reconcile(own, of: fingerprint, at: event.timestamp, failedAt: failed, in: group)
        reconcile(waited, byStageAt: slot, besides: event.timestamp, in: group)
    }

    /// Reconciles what a cycle counts when it closes; an evicted installation is not added again.
    mutating func reconcile(_ counted: StageTally, atEndOf cycle: Cycle, _ slot: Int) {
        guard !counted.isZero, cycle.installation != 0, installations.slot(of: cycle.installation) != nil else {
            return
        }
        var rest = counted
        for result in cycles.resultsCountedAtClosing(at: slot) where rest[result.place] > 0 {
            var one = StageTally()
            one[result.place] = 1
            rest[result.place] -= 1
            reconcile(one, of: cycle.installation, at: result.time, in: Int(cycle.group))
        }
        reconcile(rest, byStageAt: slot, in: Int(cycle.group))
    }

    /// Reconciles what an event of another time made a cycle count, each stage by the latest time that it was told with and
    /// that is not counted yet.
    ///
    /// - Parameters:
    ///   - waited: when the half of the cycle that had to wait was told of its stages.
    ///   - other: a time that is counted already.
    ///   - givers: the cycles that facts were moved from, of which one may have been told with the cycle's own time.
    mutating func reconcile(
        _ counted: StageTally,
        byStageAt slot: Int,
        _ waited: StageTimes = StageTimes(),
        besides other: Timestamp? = nil,
        from givers: [Int] = [],
        isNew: Bool = true,
        in group: Int
    ) {
        guard !counted.isZero else { return }
        for place in counted.places {
            var one = StageTally()
            if let time = waited[place] {
                one[place] = counted[place]
                reconcile(one, of: cycles[slot].installation, at: time, isNew: isNew, in: group)
                continue
            }
            one[place] = 1
            let stage = StageTally.stage(place)
            let recent = installations.find(cycles[slot].installation)?.recent ?? RecentCounts()
            var times: [Timestamp] = []
            for slot in [slot] + givers where times.count < counted[place] {
                let told = cycles.toldTimes(of: stage, at: slot).filter { $0 != other && !recent.has(place, at: $0) }
                times = told.suffix(Int(counted[place]) - times.count) + times
            }
            let last = cycles.times(of: stage, at: slot).upperBound
            while times.count < counted[place] { times.append(last) }
            for time in times {
                reconcile(one, of: cycles[slot].installation, at: time, isNew: isNew, in: group)
            }
        }
    }

    /// Takes back what was counted of a cycle beyond its facts, and counts failures under the reasons that they have.
    ///
    /// What a snapshot had recovered was never added to the totals, so it is not taken from them; and what was counted twice
    /// while a snapshot told of as many is what the snapshot would have recovered.
    mutating func apply(_ correction: StageCorrection, of cycle: Cycle, at slot: Int) {
        let group = Int(cycle.group)
        var lowered = correction.lowered
        if cycle.installation != 0, !lowered.isZero, installations.slot(of: cycle.installation) != nil {
            var (times, counted) = (StageTimes(), StageTimes())
            // A failure that has another reason now is not one less.
            let last = correction.raised.hasFailures ? StageTally.failures : StageTally.count
            for place in 0..<StageTally.count where lowered[place] > 0 {
                let stage = StageTally.stage(place)
                let recent = installations.find(cycle.installation)?.recent ?? RecentCounts()
                counted[place] = cycles.toldTimes(of: stage, at: slot).first { recent.has(place, at: $0) }
                guard place < last else { continue }
                times[place] = counted[place] ?? cycles.times(of: stage, at: slot).lowerBound
            }
            lowered = installations.update(cycle.installation) { installation in
                defer {
                    for place in 0..<StageTally.count {
                        if let time = counted[place] { installation.recent.forget(place, at: time) }
                    }
                }
                return installation.takeBack(lowered, toldAt: times)
            }
        }
        for place in 0..<StageTally.count where lowered[place] > 0 {
            groups.lower(StageTally.counter(place), by: lowered[place], first: group)
        }
        groups.lower(\.retries, by: correction.retries, first: group)
        groups.lower(\.expired, by: correction.expired, first: group)
        groups.lower(\.missedWindow, by: correction.missed, first: group)
        groups[group].add(correction.raised, times: 1)
        // A failure that has another reason now is the same one: what a snapshot recovered is not that.
        var exchanged = StageTally()
        var taken = (StageTally.failures..<StageTally.count).reduce(0) { $0 + lowered[$1] }
        for place in StageTally.failures..<StageTally.count {
            exchanged[place] = min(correction.raised[place], taken)
            taken -= exchanged[place]
        }
        reconcile(exchanged, byStageAt: slot, isNew: false, in: group)
        reconcile(correction.raised - exchanged, byStageAt: slot, in: group)
    }

    /// Counts by its own time what was counted by that of a summary which arrived before it, in a run over files: a snapshot
    /// between the two includes it.
    mutating func countByOwnTime(of cycle: Cycle, at slot: Int) {
        guard cycle.installation != 0, installations.tellsCounters(cycle.installation),
            let installation = installations.find(cycle.installation), let baseline = installation.client.first
        else { return }
        for place in [2, 3] {
            guard let asserted = cycles.assertions(of: StageTally.stage(place), at: slot),
                asserted.told.microseconds <= baseline.told[place],
                let summary = asserted.summaries.first(where: { installation.recent.has(place, at: $0) }),
                installation.counted[place] > baseline.recovered[place]
            else { continue }
            // An earlier snapshot may have been between the two: then more is counted than the client tells of.
            guard summary.microseconds > baseline.told[place] || installation.hasExcess(of: place, baseline) else {
                continue
            }
            var one = StageTally()
            one[place] = 1
            var times = StageTimes()
            times[place] = summary
            installations.update(cycle.installation) { installation in
                _ = installation.takeBack(one, toldAt: times)
                installation.recent.forget(place, at: summary)
            }
            reconcile(one, of: cycle.installation, at: asserted.told, in: Int(cycle.group))
        }
    }

    /// Compares the cumulative counters of an event with what is counted of its installation, and adds what was lost
    /// (docs/lifecycle.md, What a client counts itself).
    mutating func apply(
        snapshot event: borrowing Event,
        of fingerprint: UInt64,
        in group: Int,
        _ bytes: Span<UInt8>
    ) {
        guard let snapshot = try? ClientSnapshot(event, in: bytes), !snapshot.isEmpty else { return }
        var outcome = (missing: StageTally(), SnapshotResult.unidentified)
        if fingerprint != 0, event.installation?.isOfSource != true {
            let mayHaveBeenEvicted = installations.evicted > 0
            outcome = installations.updateLists(fingerprint) {
                $0.apply(snapshot, mayHaveBeenEvicted: mayHaveBeenEvicted)
            }
        }
        groups[group].snapshots[Int(outcome.1.rawValue)] += 1
        guard !outcome.missing.isZero else { return }
        groups[group].add(outcome.missing, times: 1)
        for place in 0..<StageTally.count {
            groups[group].recovered[Int(StageTally.stage(place).rawValue)] += outcome.missing[place]
            effects.recovered &+= outcome.missing[place]
        }
    }
}

extension Event {
    /// Whether it tells of a failure itself.
    fileprivate var tellsFailure: Bool {
        switch kind {
        case .prefetchFailure, .prefetchExpired: true
        case .prefetchCompleted: fetched == false || reason != nil
        default: false
        }
    }

    /// The index of `StageTally` of the stage that it tells, but for a failure.
    fileprivate var toldPlace: Int? {
        switch kind {
        case .prefetchScheduled: 0
        case .prefetchExecuted: 1
        case .prefetchSuccess: 2
        case .prefetchUsedForNotification: 3
        default: nil
        }
    }

    /// How often it tells the stage at an index of `StageTally` itself; an execution ends the attempt before it.
    fileprivate func tells(_ place: Int) -> UInt64 {
        switch kind {
        case .prefetchExecuted, .prefetchFailure, .prefetchExpired, .prefetchCompleted:
            place >= StageTally.failures ? .max : place == toldPlace ? 1 : 0
        default: place == toldPlace ? 1 : 0
        }
    }
}

extension Installation {
    /// Whether more is counted of a stage than the client told of in its last snapshot, part of it as lost.
    fileprivate func hasExcess(of place: Int, _ baseline: ClientBaseline) -> Bool {
        guard baseline.recovered[place] > 0 else { return false }
        let later = recent.counted(after: Timestamp(microseconds: baseline.told[place]))[place]
        return baseline.excess(of: place, counted: Int64(counted[place]) - Int64(clamping: later)) > 0
    }

    /// Adds new counts.
    ///
    /// - Returns: the part that its own counters had already recovered and that must not count again; nil for none.
    fileprivate mutating func count(
        _ new: StageTally,
        at time: Timestamp,
        failedAt failureTime: Timestamp,
        isNew: Bool
    ) -> StageTally? {
        var new = new
        var known: StageTally?
        if isNew, !client.isEmpty {
            let recovered = client[0].consumeRecovered(new, at: time, failedAt: failureTime)
            if !recovered.isZero {
                new = new - recovered
                known = recovered
            }
        }
        for place in new.places { counted[place] = UInt32(clamping: UInt64(counted[place]) + new[place]) }
        recent.note(new, at: time, failedAt: failureTime)
        return known
    }

    /// Adds one count, unless its own counters may have recovered it; returns whether it did.
    fileprivate mutating func countOne(_ place: Int, at time: Timestamp) -> Bool {
        guard client.isEmpty else { return false }
        if counted[place] < .max { counted[place] += 1 }
        recent.note(place, at: time)
        return true
    }

    /// Takes back counts that nobody has seen yet; those that a snapshot had recovered are recovered again.
    ///
    /// - Parameter times: when the stages were told that are taken back.
    /// - Returns: what the totals have of them, without what the last snapshot shows to be lost now.
    fileprivate mutating func takeBack(_ tally: StageTally, toldAt times: StageTimes) -> StageTally {
        var taken = StageTally()
        for place in 0..<StageTally.count where tally[place] > 0 {
            // What the client told beyond its events is counted, too, and stays.
            let recovered = client.isEmpty ? 0 : UInt64(client[0].recovered[place])
            let own = UInt64(counted[place]) - min(UInt64(counted[place]), recovered)
            taken[place] = min(tally[place], own)
            if let time = times[place], let baseline = client.first {
                func rest(_ places: Range<Int>, until told: Int64) -> Int64 {
                    let later = recent.counted(after: Timestamp(microseconds: told))
                    let rest = places.reduce(0) { $0 + Int64(counted[$1]) - Int64(clamping: later[$1]) }
                    return max(rest - Int64(clamping: taken[place]), 0)
                }
                let own = rest(place..<place + 1, until: baseline.told[place])
                var missing = baseline.shortfall(of: place, ifCounted: own, toldAt: time)
                if place >= StageTally.failures {
                    // It may have been recovered under another reason.
                    let all = rest(StageTally.failures..<StageTally.count, until: baseline.toldTime(of: place))
                    missing = max(missing, baseline.shortfallOfFailures(ifCounted: all, toldAt: time))
                }
                taken[place] -= min(taken[place], missing)
            }
            counted[place] -= UInt32(clamping: taken[place])
            if !client.isEmpty { client[0].recovered[place] &+= UInt32(clamping: tally[place] - taken[place]) }
        }
        return taken
    }

    /// Compares a snapshot with what is counted.
    ///
    /// - Parameter mayHaveBeenEvicted: whether counts from before its first snapshot may have been evicted.
    fileprivate mutating func apply(
        _ snapshot: ClientSnapshot,
        mayHaveBeenEvicted: Bool
    ) -> (missing: StageTally, SnapshotResult) {
        // A snapshot includes what happened until its time, whenever it arrives.
        let later = recent.counted(after: snapshot.time)
        var tally = StageTally()
        for place in 0..<StageTally.count {
            tally[place] = UInt64(counted[place]) - min(later[place], UInt64(counted[place]))
        }
        if let baseline = client.first {
            if snapshot.time < baseline.time { return (StageTally(), .stale) }
            if snapshot.time == baseline.time, baseline.isLower(snapshot) { return (StageTally(), .stale) }
        } else {
            client = [ClientBaseline(time: snapshot.time)]
            if mayHaveBeenEvicted, snapshot.isPlausible {
                client[0].rebase(snapshot, tally)
                return (StageTally(), .reset)
            }
        }
        let outcome = client[0].apply(snapshot, counted: tally)
        for place in 0..<StageTally.count {
            counted[place] = UInt32(clamping: UInt64(counted[place]) + outcome.missing[place])
        }
        return outcome
    }
}

/// The cumulative counters that a client sent with an event, indexed like `StageTally`.
struct ClientSnapshot {
    let time: Timestamp
    private var values: InlineArray<8, UInt64?> = .init(repeating: nil)
    /// All failures, where the client counts them without reasons.
    private(set) var failures: UInt64?

    /// The largest plausible value.
    private static let largestValue = UInt64(UInt32.max)

    init(_ event: borrowing Event, in bytes: Span<UInt8>) throws(EventRecordError) {
        time = event.timestamp
        var values = values
        var failures: UInt64?
        try event.forEachClientCounter(in: bytes) { counter, value in
            switch counter {
            case .scheduled: values[0] = value
            case .executed: values[1] = value
            case .success: values[2] = value
            case .used: values[3] = value
            case .failureNetwork: values[4] = value
            case .failureAuth: values[5] = value
            case .failureSystem: values[6] = value
            case .failureOther: values[7] = value
            case .failure: failures = value
            }
        }
        self.values = values
        self.failures = failures
    }

    subscript(place: Int) -> UInt64? { values[place] }

    /// Whether it has no counter, as where the client tells of its schedules alone.
    var isEmpty: Bool { failures == nil && (0..<StageTally.count).allSatisfy { values[$0] == nil } }

    /// Whether every value is within the range of a stage counter.
    var isPlausible: Bool {
        (failures ?? 0) <= Self.largestValue
            && (0..<StageTally.count).allSatisfy { (values[$0] ?? 0) <= Self.largestValue }
    }
}
