// SPDX-License-Identifier: Apache-2.0

/// What must be counted and judged of a device: takes its steps day by day, in their order.
///
/// It shares nothing with the product's fold, and knows what the fold has to find out: which cycle a step is of, and that
/// a story ends its cycles. Stamps are those that are told, by whatever clock.
struct DeviceTruth: Sendable {
    private static let second: Int64 = 1_000_000

    private let hasTimes: Bool
    private let isAndroid: Bool
    private let appliesCounters: Bool
    private(set) var truth = FleetTruth()
    /// The cycles that may still get steps, and the one before them.
    private var cycles: [CycleTruth] = []
    /// Launches that told of no pending schedule.
    private var emptyLaunches: [Int64] = []
    /// The seconds of the submissions that may follow an execution soon enough.
    private var submissions: [Int64] = []
    /// Executions whose next submission may still come.
    private var executions: [Int64] = []
    private var latest = Int64.min
    /// The client's counters as it told them last, and what was counted since.
    private var toldCounters = PrefetchCounts()
    private var counted = PrefetchCounts()
    private var runs = RunTruth()

    init(_ plan: FleetPlan, profile: DeviceProfile) {
        switch plan.form {
        case .events: (hasTimes, isAndroid, appliesCounters) = (true, profile.platform == .android, true)
        case .lines(let wrapper):
            (hasTimes, isAndroid) = (LineForm.hasTimes(wrapper), LineForm.isOfAndroid(wrapper))
            appliesCounters = false
        }
    }

    /// Takes the steps of a day that reach the collector.
    ///
    /// - Parameter counters: what the client counted until the end of the day.
    mutating func take(_ steps: [StoryStep], counters: PrefetchCounts) {
        for step in steps {
            truth.events += 1
            latest = max(latest, step.time)
            if step.kind.isOfRefresh {
                runs.take(step, hasTimes: hasTimes, &truth)
                continue
            }
            switch step.kind {
            case .launched where !step.flag: emptyLaunches.append(step.time)
            case .cancelledAll: for index in cycles.indices { cycles[index].cancel(at: step.time) }
            case .snapshot: take(counters)
            default: break
            }
            if step.cycle >= 0 { takeOfCycle(step) }
        }
    }

    private mutating func takeOfCycle(_ step: StoryStep) {
        let index: Int
        if let known = cycles.firstIndex(where: { $0.cycle == step.cycle }) {
            index = known
        } else {
            index = cycles.count
            cycles.append(CycleTruth(step))
        }
        if step.kind == .submitted {
            submissions.append(step.time.floored(by: Self.second))
            if submissions.count > 8 { submissions.removeFirst() }
            if cycles[index].scheduled == nil {
                let isSecond = cycles.contains {
                    $0.cycle != step.cycle && $0.waits(at: step.time, hasTimes: hasTimes)
                }
                if isSecond { truth.add(.secondActiveTask) }
            }
        }
        if step.kind == .executed { executions.append(step.time) }
        let counts = cycles[index].take(step)
        truth.counts += counts
        counted += counts
    }

    /// Ends a day: the cycle of the day before it gets no more steps.
    mutating func endDay() {
        while cycles.count > 2 { close(cycles.removeFirst()) }
        judgeExecutions()
        if emptyLaunches.count > 8 { emptyLaunches.removeFirst(emptyLaunches.count - 8) }
    }

    /// Ends the story.
    mutating func finish() {
        for cycle in cycles { close(cycle) }
        cycles = []
        judgeExecutions()
        runs.finish(&truth)
    }

    private mutating func close(_ cycle: CycleTruth) {
        guard cycle.isTold else { return }
        truth.add(cycle.outcome(hasTimes: hasTimes))
        cycle.eachBroken(hasTimes: hasTimes, isAndroid: isAndroid) { truth.add($0) }
        guard hasTimes, let scheduled = cycle.scheduled else { return }
        let isLost = emptyLaunches.contains { launch in
            launch > scheduled && launch < cycle.due && cycle.delivered.map { $0 > launch } ?? true
        }
        if isLost { truth.add(.pendingScheduleLost) }
    }

    /// Holds executions against the submissions of the 24 hours behind them.
    private mutating func judgeExecutions() {
        let day = 86_400 * Self.second
        while let executed = executions.first, latest > executed + day {
            executions.removeFirst()
            let (from, through) = (executed.floored(by: Self.second), (executed + day).floored(by: Self.second))
            if hasTimes, !submissions.contains(where: { (from...through).contains($0) }) {
                truth.add(.nextNotScheduled)
            }
        }
    }

    /// Adds what the client has counted and the collector has not.
    private mutating func take(_ client: PrefetchCounts) {
        guard appliesCounters else { return }
        let isReset = PrefetchCounts.combined(client, toldCounters) { $0 < $1 ? 1 : 0 } != PrefetchCounts()
        let base = isReset ? PrefetchCounts() : toldCounters
        let told = PrefetchCounts.combined(client, base, -)
        truth.counts += PrefetchCounts.combined(told, counted) { max($0 - $1, 0) }
        toldCounters = client
        counted = PrefetchCounts()
    }
}

/// What must be counted and judged of the runs of a device.
struct RunTruth: Sendable {
    private static let second: Int64 = 1_000_000

    private var begun: Int64?
    private var checked: Int64?
    private var succeededAt: Int64?
    private var isEnded = true

    mutating func take(_ step: StoryStep, hasTimes: Bool, _ truth: inout FleetTruth) {
        switch step.kind {
        case .runStarted:
            finish(&truth)
            (begun, checked, isEnded) = (step.time, nil, false)
        case .runChecked: checked = step.time
        case .runSkipped: end(.skipped, at: step.time, told: nil, hasTimes, &truth)
        case .runExpired:
            judgeInterval(step.time, hasTimes, completes: false, &truth)
            truth.add(.expired as BrokenRunRule)
            end(.expired, at: step.time, told: nil, hasTimes, &truth)
        case .runCompleted:
            judgeInterval(step.time, hasTimes, completes: true, &truth)
            if step.flag { succeededAt = step.time }
            end(step.flag ? .completed : .failed, at: step.time, told: step.amount * 10_000, hasTimes, &truth)
        default: break
        }
    }

    /// Ends a run that tells of no end.
    mutating func finish(_ truth: inout FleetTruth) {
        guard !isEnded else { return }
        isEnded = true
        truth.add(.incomplete as TrueRunOutcome)
        truth.add(.runNotEnded)
    }

    private func judgeInterval(_ time: Int64, _ hasTimes: Bool, completes: Bool, _ truth: inout FleetTruth) {
        guard hasTimes, let succeededAt else { return }
        let earliest = succeededAt + 4 * 3_600 * Self.second
        if (checked ?? .max) < earliest || completes && time < earliest { truth.add(.refreshedTooSoon) }
    }

    private mutating func end(
        _ outcome: TrueRunOutcome,
        at time: Int64,
        told: Int64?,
        _ hasTimes: Bool,
        _ truth: inout FleetTruth
    ) {
        truth.add(outcome)
        isEnded = true
        guard let length = told ?? (hasTimes ? begun.map { time - $0 } : nil) else { return }
        if length > 20 * Self.second { truth.add(.ranTooLong as BrokenRunRule) }
        if length > 30 * Self.second, outcome != .expired { truth.add(.expired as BrokenRunRule) }
    }
}
