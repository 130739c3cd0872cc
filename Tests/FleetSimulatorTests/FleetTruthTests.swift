// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import PrefetchLifecycle
import RefreshLifecycle
import TelemetryEvents
import Testing

@testable import LogValidation

@Suite("What a simulated fleet tells is judged as its truth says")
struct FleetTruthTests {
    static let ofPrefetch = FleetScenario.allCases.filter { !$0.isOfRefresh }
    static let wrappers = LogWrapper.allCases.filter { $0 != .events }

    /// A plan whose size and faults follow from its seed.
    static func plan(_ seed: UInt64, _ scenarios: [FleetScenario], _ form: FleetPlan.Form = .events) -> FleetPlan {
        var plan = FleetPlan(seed: seed)
        plan.scenarios = scenarios
        plan.form = form
        plan.days = Int(seed % 12) + 2
        return plan
    }

    static func check(_ plan: FleetPlan) throws {
        let wrapper: LogWrapper? = if case .lines(let wrapper) = plan.form { wrapper } else { nil }
        for number in 0..<plan.devices {
            let fleet = JudgedFleet(plan, devices: number..<number + 1)
            let judgement = try fleet.judgement(wrapper == .logcatRaw ? .logcatRaw : nil)
            let differences = fleet.differences(judgement)
            guard differences.isEmpty, judgement.unrecognisedLines == 0, judgement.rejectedEvents == 0 else {
                let text = String(decoding: fleet.bytes.prefix(200_000), as: UTF8.self)
                Issue.record(
                    """
                    seed \(plan.seed), device \(number) of \(plan.scenarios.map(\.name)), \(plan.days) days: \
                    \(differences), \(judgement.unrecognisedLines) unrecognised, \(judgement.rejected.prefix(3))
                    \(text)
                    """
                )
                return
            }
        }
    }

    @Test("events of every scenario", arguments: FleetScenario.allCases)
    func everyScenarioAsEvents(scenario: FleetScenario) throws {
        for seed in 0..<50 as Range<UInt64> { try Self.check(Self.plan(seed, [scenario])) }
    }

    @Test("lines of every scenario in every wrapper", arguments: wrappers)
    func everyScenarioAsLines(wrapper: LogWrapper) throws {
        for scenario in FleetScenario.allCases {
            for seed in 0..<4 as Range<UInt64> {
                try Self.check(Self.plan(seed, [scenario], .lines(wrapper)))
            }
        }
    }

    @Test("events under faults that are drawn from the seed", arguments: [FleetScenario.everyday, .healthy, .reboot])
    func faultsOfEvents(scenario: FleetScenario) throws {
        for seed in 0..<1_000 as Range<UInt64> {
            var plan = Self.plan(seed, [scenario])
            plan.faults = .random(seed: seed)
            try Self.check(plan)
        }
    }

    @Test("lines under faults that are drawn from the seed", arguments: wrappers)
    func faultsOfLines(wrapper: LogWrapper) throws {
        for seed in 0..<100 as Range<UInt64> {
            var plan = Self.plan(seed, [.everyday], .lines(wrapper))
            plan.faults = .random(seed: seed)
            try Self.check(plan)
        }
    }

    @Test("a month of everyday life of thousands of devices")
    func aMonthOfManyDevices() throws {
        for seed in 0..<20 as Range<UInt64> {
            var plan = FleetPlan(seed: seed)
            (plan.devices, plan.days) = (100, 30)
            plan.scenarios = [.everyday, .everyday, .refreshEveryday]
            let fleet = JudgedFleet(plan)
            #expect(fleet.differences(try fleet.judgement()) == [], "seed \(seed)")
        }
    }

    @Test(
        "each scenario of the guides shows what its guide expects",
        arguments: FleetScenario.allCases.filter(\.isOfGuide)
    )
    func guideScenarios(scenario: FleetScenario) throws {
        let expected = try #require(GuideScenario.named(scenario.name))
        for seed in 0..<40 as Range<UInt64> {
            for form in [FleetPlan.Form.events, .lines(.stamped), .lines(.logcatThreadtime)] {
                var plan = Self.plan(seed, [scenario], form)
                plan.days = max(plan.days, 5)
                let judgement = try JudgedFleet(plan).judgement()
                let failures = judgement.check([expected]).flatMap(\.failures)
                #expect(failures.isEmpty, "seed \(seed), \(form)")
            }
        }
    }

    @Test("every rule is broken by some scenario, so that the fold's verdict on it is held against the truth")
    func everyRule() {
        var sum = FleetTruth()
        for scenario in FleetScenario.allCases {
            for seed in 0..<(scenario == .everyday ? 300 : 60) as Range<UInt64> {
                var plan = Self.plan(seed, [scenario])
                if scenario == .everyday { plan.faults = .random(seed: seed) }
                sum += JudgedFleet(plan).truth
            }
        }
        for (name, count) in sum.series { #expect(count > 0, "\(name)") }
    }

    @Test("every rule of the fold is one of the truth")
    func namesOfRules() {
        let ofPrefetch = ViolationKind.allCases.map {
            "dnp_prefetch_sequence_violations_total{violation=\"\($0.name)\"}"
        }
        let ofRefresh = RefreshViolationKind.allCases.map {
            "aiq_background_refresh_violations_total{violation=\"\($0.name)\"}"
        }
        #expect(Set(ofPrefetch + ofRefresh).isSubset(of: Set(FleetTruth().series.map(\.name))))
    }

    @Test(
        "cycles under a warped clock are marked so, and no others",
        arguments: [FleetPlan.Form.events, .lines(.xcode)]
    )
    func warpedCycles(form: FleetPlan.Form) throws {
        var plan = Self.plan(3, [.timeWarp], form)
        plan.days = 9
        let cycles = try JudgedFleet(plan).judgement().cycles
        #expect(cycles.map(\.isTimeWarped) == [Bool](repeating: false, count: 5) + [true, true, true, true])
    }

    @Test("the guides' scenarios are those that validate knows")
    func namesOfScenarios() {
        #expect(Set(FleetScenario.allCases.filter(\.isOfGuide).map(\.name)) == Set(GuideScenario.all.map(\.name)))
    }
}
