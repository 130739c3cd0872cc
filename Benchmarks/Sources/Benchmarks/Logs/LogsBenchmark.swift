// SPDX-License-Identifier: Apache-2.0

/// A device's log to counters: `dnp-telemetry replay` with its full grammar against mtail with five patterns, whole
/// processes by turns on the same file, which must come to the same counters.
enum LogsBenchmark: Benchmark {
    static let name = "logs"
    private static let lines = 600_000
    private static let turns = 3
    private static let growth = 5

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        try compared(.stamped, target: .atLeast(20), room) + compared(.threadtime, target: nil, room)
            + compared(.bothApps, target: nil, room) + [growing(room)]
    }

    private static func compared(_ form: DeviceLog.Form, target: Target?, _ room: BenchmarkRoom) throws -> [Row] {
        let log = try DeviceLogFile(form, lines: lines, in: room)
        var ours: [MeteredRun] = []
        var peer: [MeteredRun] = []
        // The first turn brings the file and the programs into memory.
        for _ in 0...turns {
            peer.append(try MeteredRun(mtail(log, room), in: room))
            ours.append(try MeteredRun(replay(log, room), in: room))
        }
        let counters = PrefetchCounters(ours[0].output)
        guard counters.isWhole else { throw BenchmarkFailure("replay came to \(counters)") }
        for run in ours + peer where PrefetchCounters(run.output) != counters {
            throw BenchmarkFailure("replay came to \(counters), then one of both to \(PrefetchCounters(run.output))")
        }
        return rows(log, target: target, Array(ours.dropFirst()), Array(peer.dropFirst()))
    }

    private static func rows(
        _ log: DeviceLogFile,
        target: Target?,
        _ ours: [MeteredRun],
        _ peer: [MeteredRun]
    ) -> [Row] {
        let work = "\(log.form.rawValue) log of \(log.lines) lines (\(Int(log.megabytes.rounded())) MB) to counters"
        let lines = Double(log.lines)
        func row(_ what: String, _ unit: String, _ target: Target? = nil, _ figure: (MeteredRun) -> Double) -> Row {
            let theirs = Row.Peer("mtail", peer.map(figure))
            return Row(what, unit, ours.map(figure), target: target, peer: theirs, targetIsRatio: true)
        }
        return [
            row(work, "lines/s", target) { lines / $0.seconds },
            row("its time from start to end", "s") { $0.seconds },
            row("its CPU time a line", "ns") { $0.cpuSeconds / lines * 1e9 },
            row("its most resident memory", "MB") { $0.peakMegabytes },
        ]
    }

    /// The most resident memory of a log that is some times longer; buffers fill up first, so it is a little more.
    private static func growing(_ room: BenchmarkRoom) throws -> Row {
        let small = try DeviceLogFile(.stamped, lines: lines, in: room)
        let less = try MeteredRun(replay(small, room), in: room)
        let large = try DeviceLogFile(.stamped, lines: lines * growth, in: room)
        let more = try MeteredRun(replay(large, room), in: room)
        return Row(
            "most resident memory of a log of \(large.lines) lines",
            "MB",
            [more.peakMegabytes],
            target: .atMost(1.2),
            peer: Row.Peer("that of \(small.lines)", [less.peakMegabytes]),
            targetIsRatio: true
        )
    }

    private static func replay(_ log: DeviceLogFile, _ room: BenchmarkRoom) throws -> [String] {
        guard !room.options.service.isEmpty else { throw BenchmarkFailure("no --service was named") }
        return [room.options.service, "replay", "--timezone", "UTC", "--quiet", log.path]
    }

    private static func mtail(_ log: DeviceLogFile, _ room: BenchmarkRoom) throws -> [String] {
        guard !room.options.mtail.isEmpty, !room.options.mtailProgram.isEmpty else {
            throw BenchmarkFailure("no --mtail and --mtail-program were named")
        }
        return [
            room.options.mtail, "--one_shot", "--one_shot_format=prometheus", "--emit_prog_label=false",
            "--logtostderr",
            "--progs", room.options.mtailProgram, "--logs", log.path,
        ]
    }
}
