// SPDX-License-Identifier: Apache-2.0

/// One device of a fleet: a pure function of the plan and of its number, told day by day.
package struct SimulatedDevice: Sendable {
    package let number: Int
    private let plan: FleetPlan
    private let profile: DeviceProfile
    // It has the story of one app or of both, and one form.
    private var prefetch: PrefetchStory?
    private var refresh: RefreshStory?
    /// The runs that are told ahead of the day of the other app, and the day from which they are.
    private var runs: [StoryStep] = []
    private var dayOfRuns = 0
    private var events: EventForm?
    private var lines: LineForm?
    private var truthOfDevice: DeviceTruth
    private var faults: StoryRandom
    private var steps: [StoryStep] = []
    private var day = 0

    package init(_ plan: FleetPlan, number: Int) {
        self.plan = plan
        self.number = number
        profile = DeviceProfile(plan, number: number)
        let scenario = plan.scenario(of: number)
        if scenario.hasPrefetch { prefetch = PrefetchStory(plan, number: number, profile: profile) }
        if scenario.hasRefresh { refresh = RefreshStory(plan, number: number) }
        switch plan.form {
        case .events: events = EventForm(profile)
        case .lines(let wrapper): lines = LineForm(profile, wrapper)
        }
        truthOfDevice = DeviceTruth(plan, profile: profile)
        faults = StoryRandom(seed: plan.seed ^ 0x5EED_FA17, stream: UInt64(number))
    }

    /// What must be counted and judged of it, once its story has ended.
    package var truth: FleetTruth { truthOfDevice.truth }

    /// Its installation id, as its events name it.
    package var installation: String { String(decoding: profile.installation, as: UTF8.self) }

    /// Appends what the device tells on its next day; false once its story has ended.
    package mutating func tellDay(to output: inout OutputBuffer) -> Bool {
        guard day < plan.days else { return false }
        let isLast = day == plan.days - 1
        prefetch?.tell(day: day, into: &steps)
        if prefetch == nil { refresh?.tell(day: day, into: &steps) } else if refresh != nil { mixRuns(isLast: isLast) }
        day += 1
        // The log of a device is on it, whatever its client could send.
        let isLost = plan.form == .events && !isLast && faults.chance(plan.faults.lostStorage)
        if !isLost {
            truthOfDevice.take(steps, counters: prefetch?.client ?? PrefetchCounts())
            write(to: &output)
        }
        truthOfDevice.endDay()
        if isLast {
            truthOfDevice.finish()
            lines?.finish(&output)
        }
        return true
    }

    /// Mixes the runs of the other app into a day, in the order of their stamps; runs behind it wait for the next one.
    private mutating func mixRuns(isLast: Bool) {
        let end = steps.last?.time ?? .min
        while dayOfRuns < plan.days, runs.last?.time ?? .min <= end || isLast {
            var told: [StoryStep] = []
            refresh?.tell(day: dayOfRuns, into: &told)
            runs += told
            dayOfRuns += 1
        }
        // A run is told as a whole.
        let isBehind = { (step: StoryStep) in step.kind == .runStarted && step.time > end }
        let count = isLast ? runs.count : runs.firstIndex(where: isBehind) ?? runs.count
        var mixed: [StoryStep] = []
        mixed.reserveCapacity(steps.count + count)
        var next = 0
        for step in steps {
            while next < count, runs[next].time <= step.time {
                mixed.append(runs[next])
                next += 1
            }
            mixed.append(step)
        }
        mixed += runs[next..<count]
        runs.removeFirst(count)
        steps = mixed
    }

    private mutating func write(to output: inout OutputBuffer) {
        if lines != nil {
            let zone = prefetch?.zone ?? profile.zone
            for step in steps { lines?.append(step, offset: zone.offset(at: step.time), to: &output) }
            return
        }
        // The stamps of runs are all that tells them apart, so that these are told once and in order.
        let counts = prefetch?.client ?? PrefetchCounts()
        if refresh == nil, plan.faults.reorder > 0 || plan.faults.duplicate > 0 { disturb() }
        for step in steps { events?.append(step, counts: counts, to: &output) }
    }

    /// Puts the events of a day in another order and repeats some.
    private mutating func disturb() {
        if faults.chance(plan.faults.reorder) {
            for index in steps.indices.dropFirst() {
                steps.swapAt(index, Int(faults.below(Int64(index) + 1)))
            }
        }
        guard plan.faults.duplicate > 0 else { return }
        for step in steps where faults.chance(plan.faults.duplicate) {
            steps.insert(step, at: Int(faults.below(Int64(steps.count) + 1)))
        }
    }
}
