// SPDX-License-Identifier: Apache-2.0

/// What a configuration comes to, as far as it can be read.
struct SettingsReading: Sendable {
    /// What is wrong is left at its default.
    var configuration: ServeConfiguration
    /// What is wrong with single settings, each with its place.
    var problems: [ConfigurationProblem] = []
    /// The settings that could not be read.
    var unread: Set<String> = []
    /// Where the values of the settings that are told stand.
    var origins: [String: [ConfigurationProblem.Origin]] = [:]

    init(_ configuration: ServeConfiguration) {
        self.configuration = configuration
    }

    /// Where a value of a setting stands; its option where nobody tells it.
    func origin(of name: String, _ index: Int = 0) -> ConfigurationProblem.Origin {
        guard let origins = origins[name], let last = origins.last else { return .option("--\(name)") }
        return origins.indices.contains(index) ? origins[index] : last
    }

    /// What is wrong with settings that are right each by itself.
    var conflicts: [ConfigurationProblem] { listenersNamedTwice + [bodiesAboveBudget].compactMap(\.self) }

    private var listenersNamedTwice: [ConfigurationProblem] {
        let listeners = configuration.listeners
        return listeners.indices.filter { index in
            !listeners[index].takesFreePort
                && listeners[..<index].contains { $0.endpoint.isSamePlace(as: listeners[index].endpoint) }
        }
        .map { index in
            ConfigurationProblem(
                origin(of: "listen", index),
                "found \(listeners[index].name) twice; name it once, with all that it serves"
            )
        }
    }

    /// A body that is allowed must not be refused for as long as the service runs.
    private var bodiesAboveBudget: ConfigurationProblem? {
        let needed = configuration.maximumBody + configuration.maximumDecompressedBody
        let names = ["max-bytes-in-flight", "max-decompressed-body", "max-body"]
        guard configuration.maximumBytesInFlight < needed, unread.isDisjoint(with: names) else { return nil }
        let place = origin(of: names.first { origins[$0] != nil } ?? "max-bytes-in-flight")
        return ConfigurationProblem(
            place,
            "expected max-bytes-in-flight of at least \(SettingText.shown(needed)), which max-body and "
                + "max-decompressed-body come to together, found \(SettingText.shown(configuration.maximumBytesInFlight))"
        )
    }
}

extension Listener {
    /// Whether the system chooses its port, so that others may ask for the same.
    var takesFreePort: Bool {
        if case .address(_, port: 0) = endpoint { true } else { false }
    }
}

extension Listener.Endpoint {
    /// Whether both are the same socket, whatever its mode and group are.
    fileprivate func isSamePlace(as other: Listener.Endpoint) -> Bool {
        switch (self, other) {
        case (.unix(let path, _, _), .unix(let otherPath, _, _)): path == otherPath
        default: self == other
        }
    }
}
