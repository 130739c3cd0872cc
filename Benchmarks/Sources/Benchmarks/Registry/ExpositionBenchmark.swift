// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Writing a page of 10,000 series whose values have changed since the last one.
enum ExpositionBenchmark: Benchmark {
    static let name = "exposition"
    private static let pages = 100

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let registry = MetricsRegistry(now: { 0 })
        let counters = (0..<10).flatMap { family in
            let counters = registry.counter(
                "requests_of_service_\(family)_total",
                help: "Requests answered.",
                labels: ["route", "status"]
            )
            return (0..<1_000).map { counters["/v1/resources/\(1_000 + $0)", "200"] }
        }
        var page: [UInt8] = []
        var round: UInt64 = 0
        let times = try (0..<5).map { _ in
            var seconds: [Double] = []
            for _ in 0..<pages {
                round += 1
                for (index, counter) in counters.enumerated() { counter.add(round &* UInt64(index) % 10_007) }
                let watch = Stopwatch()
                registry.exposition(into: &page)
                seconds.append(watch.seconds)
            }
            let lines = page.count { $0 == UInt8(ascii: "\n") }
            guard lines >= counters.count else { throw BenchmarkFailure("the page has \(lines) lines") }
            return seconds.median * 1e3
        }
        let work = "exposition of \(counters.count) series, \(page.count / 1_000) KB"
        return [Row(work, "ms", times, target: .atMost(0.25))]
    }
}
