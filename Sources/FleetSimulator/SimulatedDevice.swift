// SPDX-License-Identifier: Apache-2.0

/// One device of a fleet: a pure function of the plan and of its number, told day by day.
package struct SimulatedDevice: Sendable {
    package let number: Int
    private let plan: FleetPlan
    private let profile: DeviceProfile
    // It has one story and one form.
    private var prefetch: PrefetchStory?
    private var refresh: RefreshStory?
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
        if plan.scenario(of: number).isOfRefresh {
            refresh = RefreshStory(plan, number: number)
        } else {
            prefetch = PrefetchStory(plan, number: number, profile: profile)
        }
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
        prefetch?.tell(day: day, into: &steps)
        refresh?.tell(day: day, into: &steps)
        let isLast = day == plan.days - 1
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

    private mutating func write(to output: inout OutputBuffer) {
        let counts = prefetch?.client ?? PrefetchCounts()
        if lines != nil {
            let zone = prefetch?.zone ?? profile.zone
            for step in steps { lines?.append(step, counts: counts, offset: zone.offset(at: step.time), to: &output) }
            return
        }
        // The stamps of runs are all that tells them apart, so that these are told once and in order.
        if prefetch != nil, plan.faults.reorder > 0 || plan.faults.duplicate > 0 { disturb() }
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
