// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// The conditions of a test run that decide what the system does: power, network and settings.
package struct RunConditions: Hashable, Sendable {
    /// Whether Low Power Mode was on.
    package var lowPowerMode: Bool?
    /// Whether the device was plugged in, and not on its battery.
    package var pluggedIn: Bool?
    /// Whether Background App Refresh was on.
    package var backgroundRefresh: Bool?
    /// Whether it was a simulator, and not a device.
    package var simulator: Bool?
    /// The network.
    package var network: Network?

    /// The network of a device.
    package enum Network: String, CaseIterable, Sendable {
        case wifi, cellular, none

        var words: String {
            switch self {
            case .wifi: "Wi-Fi"
            case .cellular: "cellular"
            case .none: "no network"
            }
        }
    }

    package init() {}

    /// Takes what an event tells; a later word holds.
    mutating func add(_ event: Event) {
        lowPowerMode = event.lowPowerMode ?? lowPowerMode
        pluggedIn = event.pluggedIn ?? pluggedIn
        backgroundRefresh = event.backgroundRefresh ?? backgroundRefresh
        simulator = event.isSimulator ?? simulator
        switch event.network {
        case .wifi?: network = .wifi
        case .cellular?: network = .cellular
        case .offline?: network = Network.none
        case nil: break
        }
    }

    /// The conditions with those of another description where these are unknown.
    func completed(by other: RunConditions) -> RunConditions {
        var all = self
        all.lowPowerMode = lowPowerMode ?? other.lowPowerMode
        all.pluggedIn = pluggedIn ?? other.pluggedIn
        all.backgroundRefresh = backgroundRefresh ?? other.backgroundRefresh
        all.simulator = simulator ?? other.simulator
        all.network = network ?? other.network
        return all
    }

    var isUnknown: Bool { self == RunConditions() }

    /// What is known, in words.
    var words: [String] {
        [
            simulator.map { $0 ? "simulator" : "device" },
            pluggedIn.map { $0 ? "plugged in" : "on battery" },
            network?.words,
            lowPowerMode.map { "Low Power Mode \($0 ? "on" : "off")" },
            backgroundRefresh.map { "Background App Refresh \($0 ? "on" : "off")" },
        ].compactMap(\.self)
    }

    /// The conditions under which the system may leave a task out.
    var hindrances: [String] {
        [
            backgroundRefresh == false ? "Background App Refresh was off" : nil,
            simulator == true ? "a simulator runs no task by itself" : nil,
            lowPowerMode == true ? "Low Power Mode was on" : nil,
            network == Network.none ? "there was no network" : nil,
            pluggedIn == false ? "the device was on its battery" : nil,
        ].compactMap(\.self)
    }

    /// Reads conditions out of a sentence, as in "plugged in, Wi-Fi, Low Power Mode off".
    init(sentence: String) {
        let text = sentence.lowercased()
        for part in text.split(whereSeparator: { ",;\n".contains($0) }) {
            let isOff = part.hasSuffix("off") || part.hasSuffix("disabled") || part.hasSuffix("false")
            if part.contains("low power") { lowPowerMode = !isOff }
            if part.contains("background") && part.contains("refresh") { backgroundRefresh = !isOff }
            if part.contains("unplugged") || part.contains("battery") {
                pluggedIn = false
            } else if part.contains("plugged") || part.contains("charging") {
                pluggedIn = true
            }
            if part.contains("wi-fi") || part.contains("wifi") || part.contains("wlan") { network = .wifi }
            if ["lte", "5g", "4g", "cellular", "mobile data"].contains(where: part.contains) { network = .cellular }
            if ["no network", "offline", "airplane"].contains(where: part.contains) { network = Network.none }
            if part.contains("simulator") { simulator = true }
        }
    }
}
