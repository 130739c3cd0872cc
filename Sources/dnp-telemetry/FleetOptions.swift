// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FleetSimulator
import Foundation
import TelemetryEvents
import TextOutput

/// What a simulated fleet is made of.
struct FleetOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What the devices tell, in turn: a name of --list; by default everyday. May be repeated, or be a list with commas.",
            valueName: "name"
        ),
        completion: .list(FleetScenario.allCases.map(\.name))
    )
    var scenario: [String] = []

    @Option(help: ArgumentHelp("How many devices there are.", valueName: "number"))
    var devices = 1

    @Option(help: ArgumentHelp("How many days they tell of.", valueName: "number"))
    var days = 7

    @Option(help: ArgumentHelp("What every draw comes from; by default another one each time.", valueName: "number"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("When the first day begins; by default 2025-10-25.", valueName: "time"))
    var start: String?

    @Option(
        help: ArgumentHelp(
            "What goes wrong around the devices: random, name=rate in a list with commas, or a file of them; --list has the names.",
            valueName: "faults"
        )
    )
    var faults: String?

    @Option(help: "Form of the output: events (NDJSON) or lines (device logs).")
    var format = Form.events

    @Option(
        help: ArgumentHelp(
            "What the lines are wrapped in, with --format lines; by default stamped.",
            valueName: "name"
        ),
        completion: .list(Self.wrappers.map(\.rawValue))
    )
    var wrapper: String?

    @Option(
        help: ArgumentHelp(
            "Simulate one app: dnp is the plugin with its prefetch, aiq the app with the background refresh.",
            valueName: "name"
        )
    )
    var app: AppOption?

    enum Form: String, CaseIterable, ExpressibleByArgument {
        case events, lines
    }

    private static let wrappers = LogWrapper.allCases.filter { $0 != .events }

    /// The plan that the options describe.
    func plan(seed: UInt64) throws -> FleetPlan {
        var plan = FleetPlan(seed: seed)
        (plan.devices, plan.days) = (devices, days)
        plan.scenarios = try scenarios()
        if let start { plan.start = try Self.time(start) }
        plan.form = try form()
        if let faults { plan.faults = try Self.faults(faults, seed: seed) }
        if let problem = plan.problem { throw ValidationError(problem) }
        return plan
    }

    private func scenarios() throws -> [FleetScenario] {
        let names = scenario.flatMap { $0.split(separator: ",").map(String.init) }
        guard scenario.isEmpty || !names.isEmpty else {
            throw ValidationError("expected a scenario, found none; --list has the names")
        }
        var chosen: [FleetScenario] = []
        for name in names {
            guard let known = FleetScenario(rawValue: name.lowercased()) else {
                let hint = FleetScenario.nearest(to: name).map { "; did you mean \($0)?" } ?? "; --list has the names"
                throw ValidationError("unknown scenario \(PlainText.line(name))\(hint)")
            }
            if let app, known.isOfRefresh != (app == .aiq) {
                throw ValidationError("\(known.name) is no scenario of --app \(app.rawValue)")
            }
            chosen.append(known)
        }
        if chosen.isEmpty { chosen = [app == .aiq ? .refreshEveryday : .everyday] }
        return chosen
    }

    private func form() throws -> FleetPlan.Form {
        guard format == .lines else {
            if wrapper != nil { throw ValidationError("expected --format lines with --wrapper") }
            return .events
        }
        guard let wrapper else { return .lines(.stamped) }
        guard let known = LogWrapper(rawValue: wrapper), known != .events else {
            let names = Self.wrappers.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("unknown wrapper \(PlainText.line(wrapper)); expected one of \(names)")
        }
        return .lines(known)
    }

    private static func time(_ text: String) throws -> Timestamp {
        let bytes = Array((text.utf8.count == 10 ? text + "T00:00:00Z" : text).utf8)
        guard let time = Timestamp(rfc3339: bytes.span, 0..<bytes.count) else {
            throw ValidationError(
                "expected --start as 2025-10-25 or 2025-10-25T00:00:00Z, found \(PlainText.line(text))"
            )
        }
        return time
    }

    private static func faults(_ text: String, seed: UInt64) throws -> FleetFaults {
        var text = text
        if !text.contains("="), text != "random" {
            guard let file = FileManager.default.contents(atPath: text), file.count <= 65_536 else {
                throw ValidationError(
                    "--faults: expected random, name=rate or a file of at most 64 KiB, found \(PlainText.line(text))"
                )
            }
            text = String(decoding: file, as: UTF8.self)
        }
        do {
            return try FleetFaults(text, seed: seed)
        } catch {
            throw ValidationError("--faults: \(PlainText.line(error.description))")
        }
    }
}
