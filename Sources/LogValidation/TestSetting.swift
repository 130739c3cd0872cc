// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents
internal import TextOutput

/// What a test run was made with: device, scenarios and conditions, as the user gives them, else as the events say.
struct TestSetting: Sendable {
    let circumstances: TestRun.Circumstances
    let device: DeviceNames
    /// The conditions as data.
    let facts: RunConditions

    static let unknown = "unknown"
    static let notGiven = "none given"

    /// - Parameters:
    ///   - device: the device as the events say.
    ///   - conditions: the conditions as the events say.
    init(_ circumstances: TestRun.Circumstances, device: DeviceNames, conditions: RunConditions) {
        self.circumstances = circumstances
        self.device = device
        let sentence = circumstances.conditions.map(RunConditions.init(sentence:)) ?? RunConditions()
        facts = circumstances.facts.completed(by: sentence).completed(by: conditions)
    }

    var deviceModel: String { circumstances.device ?? device.model ?? Self.unknown }
    var systemVersion: String { circumstances.systemVersion ?? device.system ?? Self.unknown }
    var build: String { circumstances.build ?? device.app ?? Self.unknown }

    var conditions: String {
        if let conditions = circumstances.conditions { return conditions }
        return facts.isUnknown ? Self.notGiven : facts.words.joined(separator: ", ")
    }

    // MARK: JSON

    /// The members of the artifact about the device.
    func appendDevice(to text: inout JSONWriter) {
        for (name, value) in [("device", deviceModel), ("iosVersion", systemVersion), ("appBuild", build)]
            as [(StaticString, String)]
        {
            text.line(indent: 4)
            text.name(name)
            text.value(value)
        }
    }

    /// The members of the artifact about scenarios and conditions.
    func appendConditions(to text: inout JSONWriter) {
        text.line(indent: 4)
        text.name("scenarios")
        text.array { text in circumstances.scenarios.forEach { text.value($0) } }
        text.line(indent: 4)
        text.name("conditions")
        text.value(conditions)
        text.line(indent: 4)
        text.name("runConditions")
        text.object { text in
            text.name("pluggedIn")
            text.value(facts.pluggedIn)
            text.name("network")
            text.value(facts.network?.rawValue)
            text.name("lowPowerMode")
            text.value(facts.lowPowerMode)
            text.name("backgroundRefresh")
            text.value(facts.backgroundRefresh)
            text.name("simulator")
            text.value(facts.simulator)
        }
    }

    // MARK: Markdown

    /// The items about the device.
    var deviceItems: String {
        MarkdownText.item("Device model", deviceModel) + MarkdownText.item("iOS version", systemVersion)
            + MarkdownText.item("App build / commit", build)
    }

    /// The items about scenarios and conditions.
    var conditionItems: String {
        let scenarios = circumstances.scenarios
        return MarkdownText.item(
            "Scenario ID(s) tested",
            scenarios.isEmpty ? Self.notGiven : scenarios.joined(separator: ", ")
        ) + MarkdownText.item("Conditions", conditions)
    }

    /// The user's notes, an item a line.
    var noteItems: String {
        (circumstances.notes ?? "").split(whereSeparator: \.isNewline).map {
            "- \(MarkdownText.escaped(String($0)))\n"
        }.joined()
    }
}

/// Text of an input in Markdown.
enum MarkdownText {
    /// A list item of a name and a value.
    static func item(_ name: String, _ value: String) -> String { "- \(name): \(escaped(value))\n" }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in PlainText.line(text) {
            if "\\`*_[]<>|&~".contains(character) { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}
