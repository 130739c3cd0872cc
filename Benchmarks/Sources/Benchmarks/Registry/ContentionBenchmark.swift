// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import MetricsRegistry

/// Two threads that add to the same counters and observe in the same histogram. A figure is the CPU time
/// of one step while both take it.
enum ContentionBenchmark: Benchmark {
    static let name = "contention"
    private static let threads = 2
    private static let count = 5_000_000

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let registry = MetricsRegistry(now: { 0 })
        let peer = try room.clientGolang
        let plain = registry.counter("plain_total", help: "A counter.")
        let striped = registry.stripedCounter("striped_total", help: "A counter.")
        let oneLabel = registry.counter("one_label_total", help: "Counters.", labels: ["path"])
        let paths = (0..<128).map { "/v1/resource-\($0)" }
        let typed = registry.stripedCounter("typed_total", help: "Counters.", labels: Answer.self)
        let gauge = registry.gauge("open", help: "A gauge.")
        let histogram = registry.histogram(
            "observed_seconds",
            help: "A histogram.",
            buckets: InstrumentBenchmark.bounds
        )
        let values = (0..<1_024).map { _ in Double.random(in: 0...12) }
        return [
            row("counter add", peer.peer("counter, 2 threads")) {
                for _ in 0..<count { plain.add() }
            },
            row("striped counter add", peer.peer("counter, 2 threads")) {
                for _ in 0..<count { striped.add() }
            },
            row("gauge add") {
                for _ in 0..<count { gauge.add(1) }
            },
            row("labelled look-up and add, 1 label", peer.peer("1 label, 2 threads")) {
                for index in 0..<count { oneLabel[paths[index & 127]].add() }
            },
            row("the same with a closure", peer.peer("1 label, 2 threads")) {
                for index in 0..<count { oneLabel.with(paths[index & 127]) { $0.add() } }
            },
            row("typed look-up and add of a striped counter, with a closure") {
                for index in 0..<count {
                    typed.with(Answer(reason: Reason.allCases[index & 3], status: 200 + index >> 2 & 15)) { $0.add() }
                }
            },
            row("histogram observe, 11 bounds", peer.peer("histogram, 2 threads")) {
                for index in 0..<count { histogram.observe(values[index & 1_023]) }
            },
        ]
    }

    private static func row(_ work: String, _ peer: Row.Peer? = nil, _ body: @Sendable () -> Void) -> Row {
        let times = Stopwatch.cpuTimes(5) {
            DispatchQueue.concurrentPerform(iterations: threads) { _ in body() }
        }
        return Row("\(work), two threads", "ns", times.map { $0 / Double(count * threads) * 1e9 }, peer: peer)
    }
}
