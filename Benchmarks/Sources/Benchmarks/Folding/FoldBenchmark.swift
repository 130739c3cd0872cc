// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// What the service does with a body before and after the commit, on one core: decoding, leaving out duplicates,
/// counting. The ledger itself is left out.
enum FoldBenchmark: Benchmark {
    static let name = "fold"

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let key = try InstallationKey(directory: try room.directory("key"))
        let requests = room.cycles
        let events = requests.reduce(0) { $0 + $1.events }
        var folding: [Double] = []
        var peer = try DecodeBenchmark.foundation(requests)
        let whole = try Stopwatch.times(5) {
            var pipeline = FoldPipeline(key: key)
            for request in requests { try pipeline.take(request) }
            guard pipeline.accepted == events, pipeline.scheduled * 5 == events else {
                throw BenchmarkFailure("folded \(pipeline.accepted) of \(events) events")
            }
            folding.append(pipeline.foldSeconds / Double(events) * 1e9)
        }
        // Before and after, as the machine may have changed its pace meanwhile.
        peer += try DecodeBenchmark.foundation(requests)
        return [
            Row(
                "decode + deduplicate + fold, one core",
                "events/s",
                whole.map { Double(events) / $0 },
                target: .atLeast(8),
                peer: Row.Peer("Foundation JSONDecoder alone", peer),
                targetIsRatio: true
            ),
            Row("of that, deduplicate + fold", "ns/event", Array(folding.dropFirst())),
            try duplicates(requests, key, events),
            try secondApp(.runs, "the background refresh's", key, peer: whole.map { Double(events) / $0 }),
            try secondApp(.both, "both apps', mixed", key, peer: whole.map { Double(events) / $0 }),
        ]
    }

    /// Events of the background refresh, alone or among those of the prefetch, beside these alone.
    private static func secondApp(
        _ kind: EventLines.Kind,
        _ whose: String,
        _ key: InstallationKey,
        peer: [Double]
    ) throws -> Row {
        let requests = EventLines(count: 400_000, kind: kind).requests(eventsPerRequest: 1_000)
        let events = requests.reduce(0) { $0 + $1.events }
        let times = try Stopwatch.times(5) {
            var pipeline = FoldPipeline(key: key)
            for request in requests { try pipeline.take(request) }
            guard pipeline.accepted == events, pipeline.checks > 0 else {
                throw BenchmarkFailure("folded \(pipeline.accepted) of \(events) events, \(pipeline.checks) checks")
            }
        }
        return Row(
            "decode + deduplicate + fold of \(whose) events",
            "events/s",
            times.map { Double(events) / $0 },
            target: .atLeast(0.9),
            peer: Row.Peer("the prefetch's", peer),
            targetIsRatio: true
        )
    }

    /// The same events once more, as a client sends them after a lost answer.
    private static func duplicates(_ requests: [PreparedRequest], _ key: InstallationKey, _ events: Int) throws -> Row {
        var pipeline = FoldPipeline(key: key)
        for request in requests { try pipeline.take(request) }
        let times = try Stopwatch.times(3) {
            for request in requests { try pipeline.take(request) }
        }
        guard pipeline.accepted == events else { throw BenchmarkFailure("duplicates were counted") }
        return Row("the same, all duplicates", "events/s", times.map { Double(events) / $0 })
    }
}
