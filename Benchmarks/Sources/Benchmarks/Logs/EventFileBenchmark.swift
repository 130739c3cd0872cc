// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A file of events, judged and replayed as a whole process, against `jq -c .event`, by turns on the same file.
enum EventFileBenchmark: Benchmark {
    static let name = "files"
    private static let turns = 3

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        guard !room.options.service.isEmpty, !room.options.jq.isEmpty else {
            throw BenchmarkFailure("no --service and --jq were named")
        }
        let directory = try room.directory("events")
        defer { TemporaryDirectory.remove(directory) }
        let path = "\(directory)/events.ndjson"
        let requests = room.cycles
        let bytes = requests.reduce(into: Data()) { $0.append(contentsOf: $1.bytes[$1.body]) }
        try bytes.write(to: URL(fileURLWithPath: path))
        let events = requests.reduce(0) { $0 + $1.events }

        var peer: [MeteredRun] = []
        var runs: [String: [MeteredRun]] = [:]
        // The first turn brings the file and the programs into memory.
        for _ in 0...turns {
            peer.append(try MeteredRun([room.options.jq, "-c", ".event", path], in: room))
            for command in ["replay", "validate"] {
                let line = [room.options.service, command, "--quiet", "--format", "json", path]
                // 1 is the verdict that the cycles are incoherent: none is delivered.
                let run = try MeteredRun(line, in: room, upTo: 1)
                guard run.output.contains("\(events / 5)") else {
                    throw BenchmarkFailure("\(command) counts no \(events / 5) cycles: \(run.output.suffix(500))")
                }
                runs[command, default: []].append(run)
            }
        }
        return ["replay", "validate"].flatMap { command in
            let ours = Array(runs[command]?.dropFirst() ?? [])
            let theirs = Array(peer.dropFirst())
            return [
                Row(
                    "\(command) of a file of \(events) events (\(bytes.count / 1_000_000) MB)",
                    "events/s",
                    ours.map { Double(events) / $0.seconds },
                    target: .atLeast(8),
                    peer: Row.Peer("jq -c .event", theirs.map { Double(events) / $0.seconds }),
                    targetIsRatio: true
                ),
                Row("its CPU time an event", "ns", ours.map { $0.cpuSeconds / Double(events) * 1e9 }),
                Row("its most resident memory", "MB", ours.map(\.peakMegabytes)),
            ]
        }
    }
}
