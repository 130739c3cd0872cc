// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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

/// What must be counted of a fleet that was told: of all, and of each device where that is listed.
struct ToldFleet {
    var sum = FleetTruth()
    var each: [FleetTruth] = []

    init(_ sum: FleetTruth, each: [FleetTruth]) { (self.sum, self.each) = (sum, each) }

    /// - Parameter listsEach: whether the truth of each device is kept.
    init(_ fleet: PacedFleet, listsEach: Bool) {
        let truths = fleet.truths
        self.init(truths.reduce(into: FleetTruth()) { $0 += $1 }, each: listsEach ? truths : [])
    }
}

/// Writes a fleet to files.
struct FleetWriting {
    /// How much is gathered before it is written.
    private static let pieceBytes = 256 << 10

    let plan: FleetPlan
    /// How long a day takes; nil for no time.
    let day: Duration?
    let listsEach: Bool
    let progress: ProgressLine

    /// Writes all of it, and says what must be counted.
    ///
    /// - Parameter out: nil where only that is asked for.
    func run(to out: String?, mayReplace: Bool) async throws -> ToldFleet {
        var files = try FleetFiles(plan, out: out, mayReplace: mayReplace)
        if let day { return try await pace(day, to: &files) }
        var (sum, each) = (FleetTruth(), [FleetTruth]())
        var buffer = OutputBuffer()
        for number in 0..<plan.devices {
            var device = SimulatedDevice(plan, number: number)
            try files.begin(number)
            while device.tellDay(to: &buffer) {
                if buffer.count > Self.pieceBytes { try files.write(&buffer) }
            }
            try files.end(&buffer)
            sum += device.truth
            if listsEach { each.append(device.truth) }
            progress.show { _ in "\(number + 1) of \(plan.devices) devices, \(sum.events) events" }
        }
        try files.write(&buffer)
        return ToldFleet(sum, each: each)
    }

    /// Tells the devices side by side; a slow reader delays what follows, but not its times.
    private func pace(_ day: Duration, to files: inout FleetFiles) async throws -> ToldFleet {
        var fleet = PacedFleet(plan, day: day)
        let start = ContinuousClock.now
        while let due = fleet.due {
            try await Task.sleep(until: start + due, clock: .continuous)
            if let batch = fleet.next() { try files.write(batch.body) }
        }
        return ToldFleet(fleet, listsEach: listsEach)
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
        try write(buffer.bytes)
    }

    func write(_ bytes: [UInt8]) throws {
        guard descriptor >= 0, !bytes.isEmpty else { return }
        if descriptor == Terminal.output { return try Terminal.stream(bytes) }
        let problem = FileOutput.write(bytes, to: descriptor)
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
    func json(of plan: FleetPlan, each: [FleetTruth]) -> [UInt8] {
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
