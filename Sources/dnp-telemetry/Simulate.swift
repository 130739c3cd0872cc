// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Collector
import CollectorClient
import FleetSimulator
import Foundation
import TextOutput

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write what a fleet of simulated devices tells, and what must be counted of it.",
        discussion: """
            Each device does what the plugin's documents say it does: schedules, tasks that the system delays, skips or \
            ends, fetches, caching, delivery, restarts, travels. A device is a function of the seed and of its number, so \
            the same seed gives the same bytes on every machine, and memory does not grow with the fleet. The seed is \
            printed to standard error.

            --truth writes what the five counters, the outcomes of the cycles and the broken rules must be. validate and \
            replay of the output come to the same, and so does a collector that has the fleet alone: --verify compares \
            its page, and says the first difference. Outcomes and broken rules are compared once no cycle is open.

            --to sends the fleet: below --speed max each device posts its day when it is due, whatever the collector \
            does; with max as fast as the collector takes it. A batch is retried as send does it. Latencies count from \
            the due time.

            EXAMPLES
              dnp-telemetry simulate --scenario reboot --days 3 --seed 7
              dnp-telemetry simulate --devices 200 --days 30 --seed 7 \\
                --faults random --out fleet.ndjson --truth truth.json
              dnp-telemetry simulate --scenario force-quit --format lines \\
                --wrapper logcat-threadtime | dnp-telemetry validate - --timezone UTC
              dnp-telemetry simulate --devices 50 --seed 7 --faults random \\
                --to http://127.0.0.1:10910 --verify http://127.0.0.1:10910
              dnp-telemetry simulate --devices 2000 --speed 1440 \\
                --to https://telemetry.example.org --token-file token
              dnp-telemetry simulate --devices 500 --like phone.log --out fleet.ndjson
              dnp-telemetry simulate --list

            EXIT STATUS
              0   written, or all accepted, and equal with --verify
              1   the collector of --to refused something, or the page of --verify differs
              2   a file cannot be written or read, or the collector not be reached
              64  wrong usage
              130  ended by Ctrl-C
              141  the reader of standard output has gone
            """
    )

    @OptionGroup(title: "Fleet")
    var fleet: FleetOptions

    @OptionGroup(title: "Likeness")
    var likeness: HabitsOptions

    @Option(
        help: ArgumentHelp(
            "How much faster than life: 1, 60, 1440 (a day a minute), or max. Below max each device tells a day at a moment of that day of its own.",
            valueName: "factor"
        )
    )
    var speed = Speed.max

    @Option(
        help: ArgumentHelp(
            "Where to write; - is standard output. Lines of several devices go to a directory, a file each.",
            valueName: "path"
        ),
        completion: .file()
    )
    var out: String?

    @Option(
        help: ArgumentHelp("Write what must be counted as JSON; without --out that alone.", valueName: "file"),
        completion: .file()
    )
    var truth: String?

    @Flag(help: "Write the truth of each device, too, with --truth.")
    var perDevice = false

    @OptionGroup(title: "Sending")
    var delivery: DeliveryOptions

    @OptionGroup(title: "Verification")
    var verification: VerifyOptions

    @OptionGroup(title: "Access of --to and --verify")
    var access: AccessOptions

    @Flag(help: "Replace existing files.")
    var force = false

    @Flag(help: "List the scenarios, the faults and the habits.")
    var list = false

    @Flag(help: "Print only results and errors.")
    var quiet = false

    /// How much faster than life a fleet is told.
    enum Speed: String, CaseIterable, ExpressibleByArgument {
        case life = "1"
        case hourAMinute = "60"
        case dayAMinute = "1440"
        case max

        /// How long a day takes; nil for no time.
        var day: Duration? {
            switch self {
            case .life: .seconds(86_400)
            case .hourAMinute: .seconds(1_440)
            case .dayAMinute: .seconds(60)
            case .max: nil
            }
        }
    }

    /// The most devices that are told side by side.
    private static let mostPaced = 10_000
    /// The most devices whose truth is listed.
    private static let mostListed = 100_000
    /// How long what was sent may take to be on the page.
    private static let arrival = Duration.seconds(10)

    private var isSent: Bool { delivery.to != nil }
    private var isVerified: Bool { verification.isAsked }

    func validate() throws {
        if list { return }
        try check(fleet.plan(seed: fleet.seed ?? 0))
        if let out, let truth, Self.place(of: out) == Self.place(of: truth) {
            throw ValidationError("expected --out and --truth in two places, found \(PlainText.line(out)) for both")
        }
        if isSent { try checkSending() }
        guard isVerified else { return }
        if verification.verify != nil { _ = try verification.pageFetch(access.access) }
        if fleet.seed == nil, out == nil, truth == nil, !isSent {
            throw ValidationError("expected --seed with --verify: the page is compared with the fleet of a seed")
        }
    }

    /// A path without links; standard output is its own.
    private static func place(of path: String) -> String {
        path == "-" ? path : URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    private func check(_ plan: FleetPlan) throws {
        if perDevice {
            guard truth != nil else { throw ValidationError("expected --truth with --per-device") }
            guard plan.devices <= Self.mostListed else {
                throw ValidationError("expected at most \(Self.mostListed) devices with --per-device")
            }
        }
        if speed != .max {
            guard plan.form == .events else {
                throw ValidationError("expected --format events with --speed \(speed.rawValue)")
            }
            guard plan.devices <= Self.mostPaced else {
                throw ValidationError("expected at most \(Self.mostPaced) devices with --speed \(speed.rawValue)")
            }
        }
        if plan.form != .events, plan.devices > 1, out == nil || out == "-", truth == nil || out != nil {
            throw ValidationError(
                "expected --out with a directory: lines name no device, so each has a file of its own"
            )
        }
        // They would be ignored; with --verify they may describe what was sent before.
        if let fault = plan.faults.faultOfRequests, fleet.faults?.contains(fault) == true, !isSent, !isVerified {
            throw ValidationError("expected --to with the fault \(fault), which is one of requests")
        }
    }

    private func checkSending() throws {
        _ = try delivery.options(access.access)
        guard fleet.format == .events else {
            throw ValidationError("expected --format events with --to; write lines with --out and ship them with send")
        }
        guard out == nil else { throw ValidationError("expected --out or --to, found both") }
        guard truth != "-" else {
            throw ValidationError("expected --truth with a file and --to: standard output has what was answered")
        }
    }

    func run() async throws {
        if list { return try Terminal.print(Self.listing(likeness.habits(quiet: quiet))) }
        if isVerified, !isSent, out == nil, let truth, truth != "-", FileManager.default.fileExists(atPath: truth) {
            return try await verify(FleetVerification(truth: truth, seed: fleet.seed, quiet: quiet))
        }
        let seed = fleet.seed ?? UInt64.random(in: 1...999_999_999)
        var plan = try fleet.plan(seed: seed)
        if !quiet {
            let rates = plan.faults.description
            Terminal.say("seed \(seed)" + (rates.isEmpty ? "" : ", faults \(rates)"))
        }
        plan.habits = try likeness.habits(quiet: quiet)
        if let truth, truth != "-", !force, FileManager.default.fileExists(atPath: truth) {
            Terminal.say("Error: seed \(seed): \(PlainText.line(truth)) exists; --force replaces it")
            throw ExitCode(2)
        }
        let told = isSent ? try await send(plan) : try await write(plan)
        if let truth {
            let json = told.sum.json(of: plan, each: told.each)
            if truth == "-" {
                try Terminal.stream(json)
            } else {
                try Terminal.write(json, to: truth, mayReplace: force)
            }
        }
        if !quiet {
            let (cycles, events) = (told.sum.cycles.counted("cycle"), told.sum.events.counted("event"))
            Terminal.say("\(plan.devices.counted("device")), \(cycles), \(events)")
        }
        if isVerified { try await verify(FleetVerification(of: told.sum, seed: seed, quiet: quiet)) }
    }

    private func write(_ plan: FleetPlan) async throws -> ToldFleet {
        let progress = ProgressLine(isShown: !quiet && Terminal.isTerminal(Terminal.error))
        defer { progress.clear() }
        let writing = FleetWriting(plan: plan, day: speed.day, listsEach: perDevice, progress: progress)
        return try await writing.run(to: out ?? (truth == nil && !isVerified ? "-" : nil), mayReplace: force)
    }

    private func send(_ plan: FleetPlan) async throws -> ToldFleet {
        let sending = FleetSending(
            plan: plan,
            day: speed.day,
            listsEach: perDevice,
            options: try delivery.options(access.access),
            requests: delivery.connections,
            quiet: quiet
        )
        return try await sending.run()
    }

    private func verify(_ truth: FleetVerification) async throws {
        if verification.verify != nil {
            let within = verification.verifyWithin?.duration
            try await truth.compare(
                verification.pageFetch(access.access),
                arrival: within ?? (isSent ? Self.arrival : .zero),
                closing: within
            )
        }
        if let directory = verification.verifyLedger { try truth.compare(ledgerIn: directory) }
    }

    private static func listing(_ habits: FleetHabits) -> String {
        var text = "Scenarios\n"
        func row(_ name: String, _ summary: String) {
            text += "  \(name)\(String(repeating: " ", count: max(1, 26 - name.utf8.count)))\(summary)\n"
        }
        for scenario in FleetScenario.allCases { row(scenario.name, scenario.summary) }
        text += "\nFaults, by the share (0 to 1)\n"
        for kind in FleetFaults.kinds { row(kind.name, kind.summary) }
        text += "\nHabits of everyday, by default or like a log\n"
        for habit in habits.listing { row(habit.name, habit.summary) }
        return text
    }
}
