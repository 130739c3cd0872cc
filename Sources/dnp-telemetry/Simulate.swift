// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CollectorClient
import FleetSimulator
import Foundation
import LogInput
import TelemetryEvents
import TextOutput

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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

            EXAMPLES
              dnp-telemetry simulate --scenario reboot --days 3 --seed 7
              dnp-telemetry simulate --devices 200 --days 30 --seed 7 \\
                --faults random --out fleet.ndjson --truth truth.json
              dnp-telemetry simulate --scenario force-quit --format lines \\
                --wrapper logcat-threadtime | dnp-telemetry validate - --timezone UTC
              dnp-telemetry simulate --devices 50 --seed 7 \\
                | dnp-telemetry send - --to http://127.0.0.1:10910
              dnp-telemetry simulate --devices 50 --seed 7 \\
                --verify http://127.0.0.1:10910
              dnp-telemetry simulate --list

            EXIT STATUS
              0   written, and equal with --verify
              1   the page of --verify differs
              2   the output cannot be written, or the collector not be reached
              64  wrong usage
            """
    )

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
            "How much faster than life: 1, 60, 1440 (a day a minute), or max. Below max each device tells a day at a moment of that day of its own.",
            valueName: "factor"
        )
    )
    var speed = Speed.max

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

    @Option(
        help: ArgumentHelp(
            "Compare a collector's page with the truth: http://host:port or unix:/path/of/socket; /metrics where no path is named. With --truth FILE that exists, with what is in it.",
            valueName: "url"
        )
    )
    var verify: String?

    @Flag(help: "Write the truth of each device, too, with --truth.")
    var perDevice = false

    @Option(
        help: ArgumentHelp(
            "Simulate one app: dnp is the plugin with its prefetch, aiq the app with the background refresh.",
            valueName: "name"
        )
    )
    var app: AppOption?

    @OptionGroup(title: "Access of --verify")
    var access: AccessOptions

    @Flag(help: "Replace existing files.")
    var force = false

    @Flag(help: "List the scenarios and the faults.")
    var list = false

    @Flag(help: "Print only results and errors.")
    var quiet = false

    enum Form: String, CaseIterable, ExpressibleByArgument {
        case events, lines
    }

    /// How much faster than life a fleet is told.
    enum Speed: String, CaseIterable, ExpressibleByArgument {
        case life = "1"
        case hourAMinute = "60"
        case dayAMinute = "1440"
        case max

        /// How long a day takes; nil for no time.
        fileprivate var day: Duration? {
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
    private static let wrappers = LogWrapper.allCases.filter { $0 != .events }
    /// The most devices whose truth is listed.
    private static let mostListed = 100_000
    /// How much is gathered before it is written.
    private static let pieceBytes = 256 << 10

    func validate() throws {
        if !list { _ = try plan(seed: seed ?? 0) }
        if verify != nil {
            _ = try pageFetch()
            if seed == nil, out == nil, truth == nil {
                throw ValidationError("expected --seed with --verify: the page is compared with the fleet of a seed")
            }
        }
    }

    /// The plan that the options describe.
    private func plan(seed: UInt64) throws -> FleetPlan {
        var plan = FleetPlan(seed: seed)
        (plan.devices, plan.days) = (devices, days)
        plan.scenarios = try scenarios()
        if let start { plan.start = try Self.time(start) }
        plan.form = try form()
        if let faults { plan.faults = try Self.faults(faults, seed: seed) }
        if let problem = plan.problem { throw ValidationError(problem) }
        if perDevice {
            guard truth != nil else { throw ValidationError("expected --truth with --per-device") }
            guard devices <= Self.mostListed else {
                throw ValidationError("expected at most \(Self.mostListed) devices with --per-device")
            }
        }
        if speed != .max {
            guard format == .events else {
                throw ValidationError("expected --format events with --speed \(speed.rawValue)")
            }
            guard devices <= Self.mostPaced else {
                throw ValidationError("expected at most \(Self.mostPaced) devices with --speed \(speed.rawValue)")
            }
        }
        if format == .lines, devices > 1, out == nil || out == "-", truth == nil || out != nil {
            throw ValidationError(
                "expected --out with a directory: lines name no device, so each has a file of its own"
            )
        }
        return plan
    }

    private func scenarios() throws -> [FleetScenario] {
        let names = scenario.flatMap { $0.split(separator: ",").map(String.init) }
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

    private func pageFetch() throws -> PageFetch {
        do throws(InvalidOption) {
            return try PageFetch(
                CollectorURL(verify ?? "", path: PageFetch.path),
                access.access,
                timeout: .seconds(30)
            )
        } catch {
            throw ValidationError("--verify: \(error)")
        }
    }

    func run() async throws {
        if list { return try Terminal.print(Self.listing) }
        if verify != nil, out == nil, let truth, truth != "-", FileManager.default.fileExists(atPath: truth) {
            let (told, series) = try Self.read(truth)
            if let seed, seed != told {
                Terminal.say("Error: \(PlainText.line(truth)) is the truth of seed \(told), not of seed \(seed)")
                throw ExitCode(2)
            }
            return try await compare(series, seed: told)
        }
        let seed = seed ?? UInt64.random(in: 1...999_999_999)
        let plan = try plan(seed: seed)
        if !quiet {
            let rates = plan.faults.description
            Terminal.say("seed \(seed)" + (rates.isEmpty ? "" : ", faults \(rates)"))
        }
        if let truth, truth != "-", !force, FileManager.default.fileExists(atPath: truth) {
            Terminal.say("Error: seed \(seed): \(PlainText.line(truth)) exists; --force replaces it")
            throw ExitCode(2)
        }
        var sum = FleetTruth()
        var each: [FleetTruth] = []
        let isAlone = truth == nil && verify == nil
        var files = try FleetFiles(plan, out: out ?? (isAlone ? "-" : nil), mayReplace: force)
        var buffer = OutputBuffer()
        let progress = ProgressLine(isShown: !quiet && Terminal.isTerminal(Terminal.error))
        if let day = speed.day {
            each = try await pace(plan, day: day, to: &files)
            sum = each.reduce(into: FleetTruth()) { $0 += $1 }
            if !perDevice { each = [] }
        } else {
            for number in 0..<plan.devices {
                var device = SimulatedDevice(plan, number: number)
                try files.begin(number)
                while device.tellDay(to: &buffer) {
                    if buffer.count > Self.pieceBytes { try files.write(&buffer) }
                }
                try files.end(&buffer)
                sum += device.truth
                if perDevice { each.append(device.truth) }
                progress.show { _ in "\(number + 1) of \(plan.devices) devices, \(sum.events) events" }
            }
        }
        try files.write(&buffer)
        progress.clear()
        if let truth {
            let json = sum.json(of: plan, each: each)
            if truth == "-" { try Terminal.print(json) } else { try Terminal.write(json, to: truth, mayReplace: force) }
        }
        if !quiet { Terminal.say("\(plan.devices) devices, \(sum.cycles) cycles, \(sum.events) events") }
        guard verify != nil else { return }
        let series = sum.series.filter { $0.value != 0 }.map { ($0.name, $0.value) }
        try await compare(Dictionary(uniqueKeysWithValues: series), seed: seed)
    }

    /// Tells the devices side by side, each its day at a moment of that day of its own; a slow reader delays what
    /// follows, but not its times.
    private func pace(_ plan: FleetPlan, day: Duration, to files: inout FleetFiles) async throws -> [FleetTruth] {
        var fleet = (0..<plan.devices).map { SimulatedDevice(plan, number: $0) }
        var buffer = OutputBuffer()
        let start = ContinuousClock.now
        for number in 0..<plan.days {
            for index in fleet.indices {
                let moment = day * number + day * (index + 1) / plan.devices
                try await Task.sleep(until: start + moment, clock: .continuous)
                _ = fleet[index].tellDay(to: &buffer)
                try files.write(&buffer)
            }
        }
        return fleet.map(\.truth)
    }

    /// The seed and the series of a file of `--truth`.
    private static func read(_ path: String) throws -> (seed: UInt64, series: [String: Int64]) {
        struct Told: Decodable {
            var seed: UInt64
            var series: [String: Int64]
        }
        guard let bytes = FileManager.default.contents(atPath: path),
            let told = try? JSONDecoder().decode(Told.self, from: bytes)
        else {
            Terminal.say("Error: \(PlainText.line(path)): expected a file of simulate --truth")
            throw ExitCode(2)
        }
        return (told.seed, told.series)
    }

    /// Holds a collector's page against the truth.
    private func compare(_ series: [String: Int64], seed: UInt64) async throws {
        let page: String
        let fetch = try pageFetch()
        do throws(PageFetch.Problem) {
            page = try await fetch.page()
        } catch {
            Terminal.say("Error: seed \(seed): \(PlainText.line(error.description))")
            throw ExitCode(2)
        }
        let comparison = PageComparison(page, series)
        if let difference = comparison.difference {
            try Terminal.print("different, seed \(seed): \(difference)\n")
            throw ExitCode(1)
        }
        try Terminal.print("equal: \(comparison.compared) series\n")
        guard comparison.openCycles > 0, !quiet else { return }
        Terminal.say(
            "\(comparison.openCycles) cycles and runs are open; outcomes and rules are compared once they are closed"
        )
    }

    private static var listing: String {
        var text = "Scenarios\n"
        func row(_ name: String, _ summary: String) {
            text += "  \(name)\(String(repeating: " ", count: max(1, 26 - name.utf8.count)))\(summary)\n"
        }
        for scenario in FleetScenario.allCases { row(scenario.name, scenario.summary) }
        text += "\nFaults\n"
        for kind in FleetFaults.kinds { row(kind.name, kind.summary) }
        return text
    }
}

/// The files that a fleet is written to: one for all, or one a device in a directory.
private struct FleetFiles {
    private let directory: String?
    private let mayReplace: Bool
    private let seed: UInt64
    private var name = ""
    /// The open file; -1 for none.
    private var descriptor: Int32 = -1

    /// - Parameter out: nil where nothing is to be written.
    init(_ plan: FleetPlan, out: String?, mayReplace: Bool) throws {
        self.mayReplace = mayReplace
        seed = plan.seed
        var isFolder: ObjCBool = false
        let isDirectory =
            out.map { unsafe FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder) } ?? false
        if let out, plan.form != .events, out != "-",
            out.hasSuffix("/") || isDirectory && isFolder.boolValue || plan.devices > 1
        {
            directory = out.hasSuffix("/") ? String(out.dropLast()) : out
            do {
                try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            } catch {
                throw Self.failure(seed, out, "it is no directory")
            }
            return
        }
        directory = nil
        guard let out else { return }
        if out == "-" { (name, descriptor) = ("standard output", Terminal.output) } else { try open(out) }
    }

    mutating func begin(_ number: Int) throws {
        guard let directory else { return }
        let digits = String(number)
        try open("\(directory)/device-\(String(repeating: "0", count: max(0, 7 - digits.count)))\(digits).log")
    }

    mutating func end(_ buffer: inout OutputBuffer) throws {
        if directory == nil { return }
        try write(&buffer)
        close(descriptor)
        descriptor = -1
    }

    mutating func write(_ buffer: inout OutputBuffer) throws {
        defer { buffer.removeAll() }
        guard descriptor >= 0, buffer.count > 0 else { return }
        if descriptor == Terminal.output { return try Terminal.print(buffer.bytes) }
        let problem = FileOutput.write(buffer.bytes, to: descriptor)
        guard problem == 0 else { throw Self.failure(seed, name, unsafe String(cString: strerror(problem))) }
    }

    private mutating func open(_ path: String) throws {
        name = path
        // A device such as /dev/null is no file that could be lost.
        let isRegular = FileManager.default.fileExists(atPath: path) && !path.hasPrefix("/dev/")
        if isRegular, !mayReplace { throw Self.failure(seed, path, "it exists; --force replaces it") }
        descriptor = unsafe Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(seed, path, unsafe String(cString: strerror(errno))) }
    }

    private static func failure(_ seed: UInt64, _ path: String, _ problem: String) -> ExitCode {
        Terminal.say("Error: seed \(seed): \(PlainText.line(path)) cannot be written: \(problem)")
        return ExitCode(2)
    }
}

extension FleetTruth {
    /// One object: the plan, and what must be counted and judged.
    fileprivate func json(of plan: FleetPlan, each: [FleetTruth]) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.name("seed")
            json.value(plan.seed)
            for (name, value) in [("devices", plan.devices), ("days", plan.days)] {
                json.name(name)
                json.value(UInt64(value))
            }
            json.name("start")
            json.value("\(plan.start)")
            json.name("scenarios")
            json.array { json in
                for scenario in plan.scenarios { json.value(scenario.name) }
            }
            json.name("faults")
            json.value(plan.faults.description)
            json.name("wrapper")
            if case .lines(let wrapper) = plan.form { json.value(wrapper.rawValue) } else { json.value(nil as String?) }
            write(to: &json)
            guard !each.isEmpty else { return }
            json.name("perDevice")
            json.array { json in
                for (number, truth) in each.enumerated() {
                    json.line(indent: 1)
                    json.object { json in
                        json.name("device")
                        json.value(UInt64(number))
                        truth.write(to: &json)
                    }
                }
            }
        }
        return json.bytes + Array("\n".utf8)
    }

    private func write(to json: inout JSONWriter) {
        json.name("events")
        json.value(UInt64(events))
        json.name("series")
        json.object { json in
            for (name, value) in series
            where value > 0 || name.hasPrefix("dnp_prefetch_") && !name.contains("violation") {
                json.name(name)
                json.value(UInt64(max(value, 0)))
            }
        }
    }
}
