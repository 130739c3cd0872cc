// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The steps that a device tells on a day, and the clock that it stamps them with.
struct StoryDiary: Sendable {
    /// How far a clock may be off.
    private static let worstClock: Int64 = 20 * 60_000_000

    private let isOfEvents: Bool
    private let resolution: Int64
    private let clockStep: Int64
    private let clockDrift: Int64
    private var clockOffset: Int64 = 0
    /// The time of the last step, by the true clock.
    private(set) var now: Int64
    private var steps: [StoryStep] = []

    /// - Parameter clockDrift: how far the clock is off after a day, in microseconds.
    init(_ plan: FleetPlan, clockDrift: Int64 = 0) {
        isOfEvents = plan.form == .events
        if case .lines(let wrapper) = plan.form {
            resolution = LineWrapping.resolution(of: wrapper)
        } else {
            resolution = 1
        }
        clockStep = plan.faults.clockStep
        self.clockDrift = clockDrift
        now = plan.start.microseconds
    }

    /// Gives away what was told, and goes on in the memory of an earlier day.
    mutating func exchange(_ told: inout [StoryStep]) { swap(&steps, &told) }

    /// Begins a day.
    mutating func begin() { steps.removeAll(keepingCapacity: true) }

    /// Sets the clock between two days.
    mutating func setClock(_ random: inout StoryRandom) {
        clockOffset += clockDrift
        if random.chance(clockStep) { clockOffset = random.from(-Self.worstClock...Self.worstClock) }
        clockOffset = min(max(clockOffset, -Self.worstClock), Self.worstClock)
    }

    /// Goes on to a moment of which nothing is told.
    mutating func pass(until time: Int64) { now = max(now, time) }

    /// The time by the device's clock.
    var clock: Int64 { now + clockOffset }

    /// Tells a step, no earlier than the one before it.
    mutating func tell(
        _ kind: StoryStep.Kind,
        at time: Int64,
        _ change: (inout StoryStep) -> Void = { _ in }
    ) {
        pass(until: time)
        guard isOfEvents || !kind.isOfEventsAlone else { return }
        var step = StoryStep(kind, clock - clock % resolution)
        change(&step)
        steps.append(step)
    }

    /// Tells a step of the cycle of a notification.
    mutating func tell(
        _ kind: StoryStep.Kind,
        of appointment: Appointment,
        at time: Int64,
        _ change: (inout StoryStep) -> Void = { _ in }
    ) {
        tell(kind, at: time) {
            $0.cycle = appointment.cycle
            $0.due = appointment.due
            change(&$0)
        }
    }
}
