// SPDX-License-Identifier: Apache-2.0

import FleetSimulator
import Hashing
import TelemetryEvents
import Testing

/// Debug and release builds, and every machine, compare with the same recorded digests.
@Suite("The bytes of a seed are the same in every build")
struct FingerprintTests {
    private static let forms: [FleetPlan.Form] =
        [.events] + LogWrapper.allCases.filter { $0 != .events }.map { .lines($0) }

    private static func bytes(of scenario: FleetScenario, _ form: FleetPlan.Form) -> [UInt8] {
        var plan = FleetPlan(seed: 7)
        (plan.devices, plan.days, plan.scenarios, plan.form) = (3, 8, [scenario], form)
        if form == .events { plan.faults = .random(seed: 7) }
        return JudgedFleet(plan).bytes
    }

    private static func name(of form: FleetPlan.Form) -> String {
        if case .lines(let wrapper) = form { wrapper.rawValue } else { "events" }
    }

    private static func digest(_ pieces: [[UInt8]]) -> String {
        SHA256Hash.digest(pieces.flatMap(\.self)).hexadecimal
    }

    @Test("a scenario tells the recorded bytes in all forms", arguments: FleetScenario.allCases)
    func ofScenario(scenario: FleetScenario) {
        let digest = Self.digest(Self.forms.map { Self.bytes(of: scenario, $0) })
        #expect(digest == RecordedFingerprints.ofScenarios[scenario.name], "\"\(scenario.name)\": \"\(digest)\",")
    }

    @Test("a form has the recorded bytes of all scenarios", arguments: forms)
    func ofForm(form: FleetPlan.Form) {
        let digest = Self.digest(FleetScenario.allCases.map { Self.bytes(of: $0, form) })
        let name = Self.name(of: form)
        #expect(digest == RecordedFingerprints.ofForms[name], "\"\(name)\": \"\(digest)\",")
    }
}
