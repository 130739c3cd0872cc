// SPDX-License-Identifier: Apache-2.0

internal import CAllocations
internal import MetricsRegistry

/// Writing a page of 10,000 series whose values have changed since the last one, in every format: the CPU time, and how
/// often memory is allocated for it.
enum ExpositionBenchmark: Benchmark {
    static let name = "exposition"
    private static let runs = 5
    private static let pages = 100

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let registry = MetricsRegistry(now: { 1_700_000_000_000_000 })
        let counters = (0..<10).flatMap { family in
            let counters = registry.counter(
                "requests_of_service_\(family)_total",
                help: "Requests answered.",
                labels: ["route", "status"]
            )
            return (0..<1_000).map { counters["/v1/resources/\(1_000 + $0)", "200"] }
        }
        let peer = try room.clientGolang
        let formats: [(String, ExpositionFormat, Target?)] = [
            ("text 0.0.4", .text004, .atMost(0.013)), ("OpenMetrics 1.0.0", .openMetrics, nil),
            ("protobuf", .protobuf, nil),
        ]
        return try formats.flatMap { name, format, target in
            let measured = try Measured(registry, counters, format)
            let work = "exposition of \(counters.count) series, \(name), \(measured.bytes / 1_000) KB"
            return [
                Row(
                    work,
                    "ms CPU",
                    measured.milliseconds,
                    target: target,
                    peer: peer.peer(name),
                    targetIsRatio: true
                ),
                Row(
                    "its allocations",
                    "",
                    measured.allocations,
                    target: .atMost(10),
                    peer: peer.peer("\(name) allocations")
                ),
            ]
        }
    }

    /// The median of some pages for each run.
    private struct Measured {
        var milliseconds: [Double] = []
        var allocations: [Double] = []
        var bytes = 0

        init(_ registry: MetricsRegistry, _ counters: [Counter], _ format: ExpositionFormat) throws {
            var page: [UInt8] = []
            var round: UInt64 = 0
            for run in 0...runs {
                var seconds: [Double] = []
                var calls: [Double] = []
                for _ in 0..<pages {
                    round += 1
                    for (index, counter) in counters.enumerated() { counter.add(round &* UInt64(index) % 10_007) }
                    let watch = Stopwatch()
                    allocations_begin()
                    registry.exposition(into: &page, format: format)
                    calls.append(Double(allocations_end()))
                    seconds.append(watch.cpuSeconds)
                }
                guard page.count > counters.count * 20 else {
                    throw BenchmarkFailure("the page has \(page.count) bytes")
                }
                bytes = page.count
                if run > 0 {
                    milliseconds.append(seconds.median * 1e3)
                    allocations.append(calls.median)
                }
            }
        }
    }
}
