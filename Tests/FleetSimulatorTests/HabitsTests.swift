// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("Habits are learned from a log")
struct HabitsTests {
    /// A fleet whose habits are not the usual ones.
    private static func plan(_ seed: UInt64, _ habits: FleetHabits? = nil) -> FleetPlan {
        var plan = FleetPlan(seed: seed)
        (plan.devices, plan.days) = (600, 8)
        plan.habits.late = 110_000
        plan.habits.skipped = 90_000
        plan.habits.expired = 70_000
        plan.habits.networkFailure = 120_000
        plan.habits.authFailure = 40_000
        plan.habits.retried = 10_000
        plan.habits.lowPower = 200_000
        plan.habits.cellular = 600_000
        plan.habits.delays =
            FleetHabits.Quantiles(ofMicroseconds: [30, 31, 40, 150, 280].map { $0 * 1_000_000 })
            ?? plan.habits.delays
        if let habits { plan.habits = habits }
        return plan
    }

    private static func learned(_ plan: FleetPlan) throws -> (habits: FleetHabits, observed: ObservedHabits) {
        let observed = try JudgedFleet(plan).judgement().habits
        var habits = plan.habits
        for kind in FleetHabits.kinds where kind.isLearned {
            guard let course = ObservedHabits.Course(rawValue: kind.name) else { continue }
            habits[keyPath: kind.path] = Int64(observed.count(course)) * 1_000_000 / Int64(observed.passes)
        }
        habits.delays = try #require(FleetHabits.Quantiles(ofMicroseconds: observed.delays))
        habits.lateDelays = try #require(FleetHabits.Quantiles(ofMicroseconds: observed.lateDelays))
        habits.durations = try #require(FleetHabits.Quantiles(ofMicroseconds: observed.durations))
        return (habits, observed)
    }

    /// Whether a rate is that of another within 2 % of all passes: three standard deviations of the largest of them.
    private static func areNear(_ left: FleetHabits, _ right: FleetHabits, _ kind: FleetHabits.Kind) -> Bool {
        abs(left[keyPath: kind.path] - right[keyPath: kind.path]) <= 20_000
    }

    @Test("rates and delays of a simulated fleet are those of its plan, and learned once more the same")
    func learnsAgain() throws {
        let plan = Self.plan(5)
        let (habits, observed) = try Self.learned(plan)
        #expect(observed.passes > 4_500)
        let again = try Self.learned(Self.plan(6, habits)).habits
        for kind in FleetHabits.kinds where kind.isLearned {
            #expect(Self.areNear(plan.habits, habits, kind), "\(kind.name): \(habits[keyPath: kind.path])")
            #expect(Self.areNear(habits, again, kind), "\(kind.name): \(again[keyPath: kind.path])")
        }
        for percent in [10, 25, 50, 75, 90] {
            let (planned, found) = (plan.habits.delays.percentile(percent), habits.delays.percentile(percent))
            #expect(abs(planned - found) <= max(planned / 10, 6_000), "\(percent) %: \(planned), \(found)")
            let second = again.delays.percentile(percent)
            #expect(abs(found - second) <= max(found / 10, 6_000), "\(percent) %: \(found), \(second)")
        }
        let duration = habits.durations.percentile(50)
        #expect(abs(duration - again.durations.percentile(50)) <= 150, "\(duration)")
        #expect(habits.lateDelays.points.first ?? 0 > 900_000)
    }

    @Test("the shares of power and network are learned from those runs that tell of them")
    func conditions() throws {
        let observed = try JudgedFleet(Self.plan(7)).judgement().habits
        #expect(observed.lowPower.told > 1_500)
        #expect(observed.lowPower.told < observed.passes)
        let lowPower = observed.lowPower.count * 100 / observed.lowPower.told
        #expect((19...27).contains(lowPower), "\(lowPower) %")
        let cellular = observed.cellular.count * 100 / observed.cellular.told
        #expect((58...68).contains(cellular), "\(cellular) %")
    }

    @Test("lines show the same habits as events, and lines without stamps only rates", arguments: [true, false])
    func lines(haveStamps: Bool) throws {
        var plan = Self.plan(8)
        (plan.devices, plan.days) = (1, 300)
        plan.form = .lines(haveStamps ? .appleCompact : .bare)
        let observed = try JudgedFleet(plan).judgement().habits
        #expect(observed.passes > 250)
        #expect(observed.delays.isEmpty != haveStamps)
        #expect(abs(observed.count(.networkFailure) * 100 / observed.passes - 12) < 6)
    }

    @Test("a log in which no task was due shows no pass")
    func emptyLog() throws {
        var plan = Self.plan(9)
        (plan.devices, plan.scenarios) = (3, [.refreshEveryday])
        #expect(try JudgedFleet(plan).judgement().habits.passes == 0)
    }
}
