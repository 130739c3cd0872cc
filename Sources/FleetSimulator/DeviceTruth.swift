// SPDX-License-Identifier: Apache-2.0

/// What must be counted and judged of a device: takes its steps day by day, in their order.
///
/// It shares nothing with the product's fold, and knows what the fold has to find out: which cycle a step is of, and that
/// a story ends its cycles. Stamps are those that are told, by whatever clock.
struct DeviceTruth: Sendable {
    private static let second: Int64 = 1_000_000
    /// How soon something must be done about a launch.
    private static let reaction: Int64 = 300 * second
    /// Today's and tomorrow's notification, which may wait at once on Android.
    private static let androidWindow = 12 * 3_600 * second...36 * 3_600 * second

    /// A collector remembers so many submissions of a device.
    private static let knownSubmissions = 8

    private struct Launch {
        let time: Int64
        /// The same by the clock that the app plans by until then.
        let planned: Int64
        let hasPending: Bool
        /// Whether a task waited.
        let hasTask: Bool
        /// The cycle that was scheduled last before.
        let bearer: Int32?
    }

    private let hasTimes: Bool
    private let isAndroid: Bool
    private let appliesCounters: Bool
    private let keepsOneName: Bool
    private(set) var truth = FleetTruth()
    /// The cycles that may still get steps, and the one before them.
    private var cycles: [CycleTruth] = []
    /// The latest launches, and those that something may still be done about.
    private var launches: [Launch] = []
    private var openLaunches: [Launch] = []
    /// The moments of the latest submissions.
    private var submissions: [Int64] = []
    /// The tasks that were scheduled first on the day.
    private var newTasks: [(cycle: Int32, due: Int64, time: Int64)] = []
    /// Executions whose next submission may still come.
    private var executions: [(time: Int64, cycle: Int32)] = []
    /// The cycle that was scheduled last.
    private var lastScheduled: Int32?
    private var latest = Int64.min
    /// By how much the clock that the app plans by is ahead.
    private var ahead: Int64 = 0
    private var isDenied = false
    private var hasPersisted = false
    /// Whether a schedule whose name all cycles have was persisted.
    private var hasPersistedOneName = false
    /// What the last snapshot of the stored schedule has: another time, and an entry that was never told.
    private var stored: (cycle: Int32, isElsewhere: Bool, isUnknown: Bool)?
    /// The client's counters as it told them last, and what was counted since they began, and until then.
    private var toldCounters = PrefetchCounts()
    private var counted = PrefetchCounts()
    private var countedWhenTold = PrefetchCounts()
    private var runs = RunTruth()

    init(_ plan: FleetPlan, profile: DeviceProfile) {
        switch plan.form {
        case .events: (hasTimes, isAndroid, appliesCounters) = (true, profile.platform == .android, true)
        case .lines(let wrapper):
            (hasTimes, isAndroid) = (LineWrapping.hasTimes(wrapper), LineWrapping.isOfAndroid(wrapper))
            appliesCounters = false
        }
        keepsOneName = profile.naming == .one
    }

    /// Takes the steps of a day that reach the collector.
    ///
    /// - Parameter counters: what the client counted until the end of the day.
    mutating func take(_ steps: [StoryStep], counters: PrefetchCounts) {
        for step in steps {
            truth.events += 1
            if step.kind.isOfRefresh {
                runs.take(step, hasTimes: hasTimes, &truth)
                continue
            }
            latest = max(latest, step.time)
            if step.kind == .warped { ahead = Int64(step.minutes) * 60 * Self.second }
            if step.cycle >= 0 { takeOfCycle(step) } else { takeOfDevice(step, counters) }
        }
    }

    private mutating func takeOfDevice(_ step: StoryStep, _ counters: PrefetchCounts) {
        switch step.kind {
        case .launched: takeLaunch(step)
        case .granted: isDenied = false
        case .denied: isDenied = true
        case .cancelledAll: for index in cycles.indices { cycles[index].cancel(at: step.time) }
        case .cacheCleared: for index in cycles.indices { cycles[index].clear(at: step.time) }
        case .rollingWindow where step.amount > Int64(step.ttl): blame(.pendingLimitExceeded)
        case .scheduleSnapshot: stored = (Int32(step.amount), step.flag, step.secondFlag)
        case .snapshot:
            if counters.success > counters.executed || counters.executed > counters.scheduled {
                blame(.countersOutOfPattern)
            }
            take(counters)
        default: break
        }
    }

    /// Notes a rule that no single cycle broke, which the one that was scheduled last bears.
    private mutating func blame(_ rule: BrokenRule) {
        guard hasTimes, let index = cycles.firstIndex(where: { $0.cycle == lastScheduled }) else { return }
        cycles[index].breaks(rule)
    }

    private mutating func takeLaunch(_ step: StoryStep) {
        let hasTask = cycles.contains { $0.waits(at: step.time, hasTimes: hasTimes) }
        let launch = Launch(
            time: step.time,
            planned: step.time + ahead,
            hasPending: step.flag,
            hasTask: hasTask,
            bearer: lastScheduled
        )
        // Another process of the app follows the device's clock.
        ahead = 0
        launches.append(launch)
        openLaunches.append(launch)
        if launches.count > 8 { launches.removeFirst() }
    }

    private mutating func takeOfCycle(_ step: StoryStep) {
        let index = index(of: step)
        switch step.kind {
        case .submitted: takeSubmission(step, of: index)
        case .executed: executions.append((step.time, step.cycle))
        case .persisted:
            hasPersisted = true
            hasPersistedOneName = keepsOneName
        default: break
        }
        let counts = cycles[index].take(step, ahead: ahead)
        truth.counts += counts
        counted += counts
    }

    /// The place of the cycle of a step.
    private mutating func index(of step: StoryStep) -> Int {
        let known = cycles.firstIndex { $0.cycle == step.cycle }
        var cycle = step.cycle
        // A result that names another time is of its schedule, where that was told, and else of a cycle of its own.
        if step.dueError != 0, known.map({ cycles[$0].scheduled == nil }) ?? true { cycle = -2 - cycle }
        if cycle == step.cycle, let known { return known }
        // Nothing else is of such a cycle, which is closed before those that still get steps.
        let place = cycle < 0 ? 0 : cycles.count
        cycles.insert(CycleTruth(step, cycle: cycle), at: place)
        return place
    }

    private mutating func takeSubmission(_ step: StoryStep, of index: Int) {
        submissions.append(step.time)
        if submissions.count > Self.knownSubmissions { submissions.removeFirst() }
        lastScheduled = step.cycle
        if isDenied { cycles[index].breaks(.scheduledWhileDenied) }
        if cycles[index].scheduled == nil { newTasks.append((step.cycle, step.due, step.time)) }
    }

    /// Holds the tasks of a day against those that waited when they were scheduled.
    private mutating func judgeTasks() {
        for task in newTasks {
            let isSecond = cycles.contains {
                $0.cycle != task.cycle && $0.waits(at: task.time, hasTimes: hasTimes)
                    && !(isAndroid && Self.androidWindow.contains(abs($0.due - task.due)))
            }
            guard isSecond, let index = cycles.firstIndex(where: { $0.cycle == task.cycle }) else { continue }
            cycles[index].breaks(.secondActiveTask)
        }
        newTasks.removeAll(keepingCapacity: true)
    }

    /// Ends a day: the cycle of the day before it gets no more steps.
    mutating func endDay() {
        judgeTasks()
        judgeLaunches()
        judgeExecutions()
        while cycles.count > 2 { close(cycles.removeFirst()) }
    }

    /// Ends the story.
    mutating func finish() {
        judgeLaunches()
        judgeExecutions()
        for cycle in cycles { close(cycle) }
        cycles = []
        runs.finish(hasTimes: hasTimes, &truth)
        if stored?.isElsewhere == true { truth.add(.scheduleMoved) }
        if stored?.isUnknown == true { truth.add(.scheduleMissing) }
    }

    private mutating func close(_ cycle: CycleTruth) {
        guard cycle.isTold else { return }
        truth.add(cycle.outcome(hasTimes: hasTimes))
        if let isIntact = cycle.isContentIntact { truth.addCheck(ofContent: true, isIntact: isIntact) }
        if let isIntact = cycle.isScheduleIntact { truth.addCheck(ofContent: false, isIntact: isIntact) }
        cycle.eachBroken(hasTimes: hasTimes, isAndroid: isAndroid) { truth.add($0) }
        if cycle.scheduled != nil, !cycle.isPersisted, hasPersisted, !hasPersistedOneName {
            truth.add(.scheduledNotPersisted)
        }
        guard hasTimes, let scheduled = cycle.scheduled?.told ?? cycle.persisted else { return }
        let isLost = launches.contains { launch in
            !launch.hasPending && launch.time > scheduled && launch.planned < cycle.due
                && cycle.delivered.map { $0.told > launch.time } ?? true && !cycle.isCancelled(before: launch.time)
        }
        if isLost { truth.add(.pendingScheduleLost) }
    }

    /// Holds launches against what was done about them, where the device was heard of for long enough.
    private mutating func judgeLaunches() {
        while let launch = openLaunches.first, latest >= launch.time + Self.reaction {
            openLaunches.removeFirst()
            guard hasTimes else { continue }
            let end = launch.time + Self.reaction
            for index in cycles.indices {
                guard cycles[index].isNeverRun, let window = cycles[index].endOfWindow, launch.planned > window,
                    isFirst(launch, after: window), !cycles[index].isMissTold(until: end),
                    !cycles[index].isCancelled(before: launch.time)
                else { continue }
                let from = max(window, cycles[index].lastScheduled ?? .min) + Self.second
                if !submissions.contains(where: { $0 >= from && $0 <= end }) {
                    cycles[index].breaks(.missedNotRescheduled)
                }
            }
            guard launch.hasPending, !launch.hasTask,
                !submissions.contains(where: { abs($0 - launch.time) <= Self.reaction }),
                let index = cycles.firstIndex(where: { $0.cycle == launch.bearer }),
                // One that began up to 30 s before may still run.
                !cycles[index].isExecuted(after: launch.time - 30 * Self.second, through: end)
            else { continue }
            cycles[index].breaks(.notRescheduledAfterLaunch)
        }
    }

    private func isFirst(_ launch: Launch, after window: Int64) -> Bool {
        !launches.contains { $0.planned > window && $0.time < launch.time }
    }

    /// Holds the last execution of each cycle against the submissions of the 24 hours behind it.
    private mutating func judgeExecutions() {
        let day = 86_400 * Self.second
        while let executed = executions.first, latest > executed.time + day {
            executions.removeFirst()
            guard hasTimes, !executions.contains(where: { $0.cycle == executed.cycle }) else { continue }
            let from = executed.time.floored(by: Self.second)
            let through = (executed.time + day).floored(by: Self.second)
            let seconds = submissions.map { $0.floored(by: Self.second) }
            // Of what came before the known ones nothing is said.
            let isKnown = seconds.count < Self.knownSubmissions || seconds.contains { $0 < from }
            guard isKnown, !seconds.contains(where: { (from...through).contains($0) }) else { continue }
            if let index = cycles.firstIndex(where: { $0.cycle == executed.cycle }) {
                cycles[index].breaks(.nextNotScheduled)
            } else {
                truth.add(.nextNotScheduled as BrokenRule)
            }
        }
    }

    /// Adds what the client has counted and the collector has not.
    private mutating func take(_ client: PrefetchCounts) {
        guard appliesCounters else { return }
        let isReset = PrefetchCounts.combined(client, toldCounters) { $0 < $1 ? 1 : 0 } != PrefetchCounts()
        if isReset { counted = PrefetchCounts.combined(counted, countedWhenTold, -) }
        let lost = PrefetchCounts.combined(client, counted) { max($0 - $1, 0) }
        truth.counts += lost
        counted += lost
        toldCounters = client
        countedWhenTold = counted
    }
}
