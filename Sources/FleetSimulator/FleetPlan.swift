// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

/// Everything that a fleet is made of: the same plan gives the same devices, byte for byte.
package struct FleetPlan: Sendable {
    package static let mostDevices = 10_000_000
    package static let mostDays = 3_650
    /// The time of the first events where none is named: two clock changes follow within 9 days.
    package static let usualStart = Timestamp(seconds: 1_761_350_400)

    /// The form of the output.
    package enum Form: Equatable, Sendable {
        /// NDJSON.
        case events
        /// The log of each device as a tool writes it.
        case lines(LogWrapper)
    }

    package var seed: UInt64
    package var devices = 1
    package var days = 7
    package var start = FleetPlan.usualStart
    /// What the devices tell, in turn.
    package var scenarios: [FleetScenario] = [.everyday]
    package var form = Form.events
    package var faults = FleetFaults()
    /// What happens in the scenario `everyday`, and how long the system takes in all of them.
    package var habits = FleetHabits()

    package init(seed: UInt64) { self.seed = seed }

    /// The scenario of a device.
    func scenario(of device: Int) -> FleetScenario { scenarios[device % scenarios.count] }

    /// What is wrong with it, in words; nil where nothing is.
    package var problem: String? {
        if !(1...Self.mostDevices).contains(devices) {
            return "expected 1 to \(Self.mostDevices) devices, found \(devices)"
        }
        if !(1...Self.mostDays).contains(days) { return "expected 1 to \(Self.mostDays) days, found \(days)" }
        if start < Timestamp.earliestAccepted { return "expected a start in 2020 or later, found \(start)" }
        if start.microseconds > 4_000_000_000_000_000 { return "expected a start before 2096, found \(start)" }
        if scenarios.isEmpty { return "expected at least one scenario" }
        if let short = scenarios.first(where: { $0.fewestDays > days }) {
            return "\(short.name) takes \(short.fewestDays) days or more, found \(days)"
        }
        if form == .lines(.events) { return "events are no lines; leave the wrapper out" }
        return nil
    }
}
