// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import TelemetryEvents
import Testing

@Suite("A fleet is a function of its plan")
struct FleetPlanTests {
    private func plan(_ form: FleetPlan.Form = .events) -> FleetPlan {
        var plan = FleetPlan(seed: 7)
        (plan.devices, plan.days, plan.form) = (20, 10, form)
        plan.scenarios = FleetScenario.allCases
        plan.faults = .random(seed: 7)
        return plan
    }

    @Test("the same seed gives the same bytes twice")
    func sameBytes() {
        #expect(JudgedFleet(plan()).bytes == JudgedFleet(plan()).bytes)
    }

    @Test("a device replays alone")
    func oneDeviceAlone() {
        var whole: [UInt8] = []
        for number in 0..<20 { whole += JudgedFleet(plan(), devices: number..<number + 1).bytes }
        #expect(whole == JudgedFleet(plan()).bytes)
    }

    @Test("another seed gives other devices")
    func otherSeed() {
        var other = plan()
        other.seed = 8
        #expect(JudgedFleet(other).bytes != JudgedFleet(plan()).bytes)
    }

    @Test("a plan that cannot be says why")
    func problems() {
        func problem(_ change: (inout FleetPlan) -> Void) -> String? {
            var plan = plan()
            change(&plan)
            return plan.problem
        }
        #expect(plan().problem == nil)
        #expect(problem { $0.devices = 0 } == "expected 1 to 10000000 devices, found 0")
        #expect(problem { $0.days = 4_000 } == "expected 1 to 3650 days, found 4000")
        #expect(
            problem { $0.start = Timestamp(seconds: 1_577_836_799) }
                == "expected a start in 2020 or later, found 2019-12-31T23:59:59Z"
        )
        #expect(problem { $0.days = 1 } == "multi-day takes 2 days or more, found 1")
    }

    @Test("rates of faults are read, and bad ones are told")
    func faults() throws {
        let faults = try FleetFaults("duplicate=0.25,\n# comment\nzone = 1", seed: 1)
        #expect(faults.duplicate == 250_000)
        #expect(faults.zone == 1_000_000)
        #expect(try FleetFaults(faults.description, seed: 1) == faults)
        #expect(try FleetFaults("random", seed: 3) == .random(seed: 3))
        #expect(throws: FleetFaults.Problem.self) { try FleetFaults("duplicate=1.5", seed: 1) }
        #expect(throws: FleetFaults.Problem.self) { try FleetFaults("duplicate=-0.1", seed: 1) }
        #expect(throws: FleetFaults.Problem.self) { try FleetFaults("duplicate=", seed: 1) }
        #expect(throws: FleetFaults.Problem.self) { try FleetFaults("duplicate", seed: 1) }
        do {
            _ = try FleetFaults("duplicates=0.1", seed: 1)
            Issue.record("an unknown fault was taken")
        } catch {
            #expect("\(error)" == "unknown fault duplicates; did you mean duplicate?")
        }
    }

    @Test("the nearest name of an unknown scenario is found")
    func nearestScenario() {
        #expect(FleetScenario.nearest(to: "force-quitt") == "force-quit")
        #expect(FleetScenario.nearest(to: "xyz") == nil)
    }
}
