// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Adding to counters and observing in histograms, on one thread; CPU time.
enum InstrumentBenchmark: Benchmark {
    static let name = "instruments"
    private static let count = 10_000_000
    /// Shares of what client_golang takes for the same.
    private static let (adding, lookingUp, observing) = (Target.atMost(1), Target.atMost(0.2), Target.atMost(0.3))

    static func run(in room: BenchmarkRoom) throws -> [Row] {
        let registry = MetricsRegistry(now: { 0 })
        let peer = try room.clientGolang
        return [
            plain(registry, peer.peer("counter")), batch(registry, peer.peer("counter")), striped(registry),
            oneLabel(registry, peer.peer("1 label")), twoLabels(registry, peer.peer("2 labels")),
            twoLabelsWithClosure(registry, peer.peer("2 labels")),
            labelSet(registry, peer.peer("2 labels")), labelPair(registry, peer.peer("2 labels")),
            cases(registry, peer.peer("1 label")),
            observe(registry, peer.peer("histogram")),
        ]
    }

    private static func plain(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let counter = registry.counter("plain_total", help: "A counter.")
        return row("counter add, one thread", adding, peer) {
            for _ in 0..<count { counter.add() }
        }
    }

    /// The tally of 1,000 events added to five counters in one update; making the tally is left out.
    private static func batch(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let counters = (0..<5).map { registry.counter("batch_\($0)_total", help: "A counter.") }
        return row("counter add, an event's share in a batch of 1,000", adding, peer) {
            for _ in 0..<count / 1_000 {
                registry.update { update in
                    for counter in counters { update.add(200, to: counter) }
                }
            }
        }
    }

    private static func striped(_ registry: MetricsRegistry) -> Row {
        let counter = registry.stripedCounter("striped_total", help: "A counter.")
        return row("striped counter add, one thread", nil) {
            for _ in 0..<count { counter.add() }
        }
    }

    private static func oneLabel(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter("one_label_total", help: "Counters.", labels: ["path"])
        let paths = (0..<128).map { "/v1/resource-\($0)" }
        return row("labelled look-up and add, 1 label, 128 series", lookingUp, peer) {
            for index in 0..<count { family[paths[index & 127]].add() }
        }
    }

    private static func twoLabels(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter("two_labels_total", help: "Counters.", labels: ["route", "status"])
        return row("labelled look-up and add, 2 labels, 64 series", lookingUp, peer) {
            for index in 0..<count { family[routes[index & 15], statuses[index >> 4 & 3]].add() }
        }
    }

    private static func twoLabelsWithClosure(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter("closure_total", help: "Counters.", labels: ["route", "status"])
        return row("the same with a closure", lookingUp, peer) {
            for index in 0..<count { family.with(routes[index & 15], statuses[index >> 4 & 3]) { $0.add() } }
        }
    }

    private static func labelSet(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter("label_set_total", help: "Counters.", labels: Answer.self)
        return row("typed look-up and add, a structure of 2 labels", lookingUp, peer) {
            for index in 0..<count {
                family[Answer(reason: Reason.allCases[index & 3], status: 200 + index >> 2 & 15)].add()
            }
        }
    }

    private static func labelPair(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter(
            "label_pair_total",
            help: "Counters.",
            labels: ("reason", "status"),
            values: (Reason.self, Int.self)
        )
        return row("typed look-up and add, 2 values, with a closure", lookingUp, peer) {
            for index in 0..<count {
                family.with(Reason.allCases[index & 3], 200 + index >> 2 & 15) { $0.add() }
            }
        }
    }

    private static func cases(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let family = registry.counter("cases_total", help: "Counters.", label: "reason", of: Reason.self)
        let reasons = (0..<1_024).map { _ in Reason.allCases[Int.random(in: 0..<Reason.allCases.count)] }
        return row("typed look-up and add by the case of a closed set, with a closure", lookingUp, peer) {
            for index in 0..<count { family.with(reasons[index & 1_023]) { $0.add() } }
        }
    }

    private static func observe(_ registry: MetricsRegistry, _ peer: Row.Peer?) -> Row {
        let histogram = registry.histogram("observed_seconds", help: "A histogram.", unit: "seconds", buckets: bounds)
        let values = (0..<1_024).map { _ in Double.random(in: 0...12) }
        return row("histogram observe, 11 bounds", observing, peer) {
            for index in 0..<count { histogram.observe(values[index & 1_023]) }
        }
    }

    private static let routes = (0..<16).map { "/v1/route-\($0)" }
    private static let statuses = ["200", "400", "413", "503"]
    static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private static func row(_ work: String, _ target: Target?, _ peer: Row.Peer? = nil, _ body: () -> Void) -> Row {
        let times = Stopwatch.cpuTimes(5, body).map { $0 / Double(count) * 1e9 }
        return Row(work, "ns", times, target: target, peer: peer, targetIsRatio: true)
    }
}
