// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Synchronization
import Testing

extension OneAtATime {
    @Suite("Computed families")
    struct ComputedFamilyTests {
        private let fixture = RegistryFixture()
        private let turn = Turn()

        @Test("computed label values that are canonically equivalent are separate series")
        func canonicallyEqual() {
            let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
            fixture.registry.gaugeFunction("g", help: "G.", labels: ["name"]) { [turn] in
                turn.next() == 1 ? [([composed], 1), ([decomposed], 2)] : [([decomposed], 2)]
            }
            #expect(lines(fixture.page()) == ["g{name=\"\(decomposed)\"} 2", "g{name=\"\(composed)\"} 1"].map(bytes))
            for _ in 0..<3 { #expect(lines(fixture.page()) == [bytes("g{name=\"\(decomposed)\"} 2")]) }
        }

        @Test("concurrent scrapes show one complete result of a computed family", .timeLimit(.minutes(2)))
        func twoScrapers() {
            let fixture = fixture
            fixture.registry.gaugeFunction("g", help: "G.", labels: ["peer"]) { [turn] in
                let run = turn.next()
                return (0..<100).map { (["peer-\(run + $0)"], Double(run)) }
            }
            let torn = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                for _ in 0..<500 where !isWhole(fixture.samples(), series: 100) { torn.add(1, ordering: .relaxed) }
            }
            #expect(torn.load(ordering: .relaxed) == 0)
        }

        @Test("a page that does not wait for a late run shows the complete previous result", .timeLimit(.minutes(2)))
        func lateRuns() {
            var limits = RegistryLimits()
            limits.collectionMilliseconds = 1
            limits.seriesPerFamily = 10_000
            let fixture = RegistryFixture(limits: limits)
            fixture.registry.gaugeFunction("g", help: "G.", labels: ["peer"]) { [turn] in
                let run = turn.next()
                return (0..<2_000).map { (["peer-\(run)-\($0)"], Double(run)) }
            }
            for _ in 0..<200 {
                let samples = fixture.samples()
                let isEmpty = !samples.keys.contains { $0.hasPrefix("g{") }
                let isTorn = !isEmpty && !isWhole(samples, series: 2_000)
                #expect(!isTorn)
            }
        }

        @Test("the order of computed series does not matter, and of duplicates the last counts")
        func computedFamilyOrder() {
            fixture.registry.gaugeFunction("g", help: "G.", labels: ["a", "b"]) { [turn] in
                switch turn.next() {
                case 1: [(["x", "1"], 1), (["y", "2"], 2)]
                case 2: [(["y", "2"], 3), (["x", "1"], 4)]
                default: [(["y", "2"], 5), (["x", "1"], 6), (["y", "2"], 7)]
                }
            }
            for (x, y) in [("1", "2"), ("4", "3"), ("6", "7")] {
                #expect(lines(fixture.page()) == [#"g{a="x",b="1"} \#(x)"#, #"g{a="y",b="2"} \#(y)"#].map(bytes))
            }
        }

        @Test("computed counters beyond the limit are summed in the overflow series; gauges are omitted and counted")
        func computedFamilyOverflow() {
            var limits = RegistryLimits.patient
            limits.seriesPerFamily = 2
            let fixture = RegistryFixture(limits: limits)
            let given: [(labelValues: [String], value: Double)] = [(["a"], 1), (["b"], 2), (["c"], 100), (["d"], 50)]
            fixture.registry.counterFunction("c_total", help: "C.", labels: ["k"]) { given }
            fixture.registry.gaugeFunction("g", help: "G.", labels: ["k"]) { given.reversed() }
            fixture.registry.gaugeFunction("h", help: "H.", labels: ["k"]) { [(["a", "b"], 1)] }
            for run in 1...2 {
                let samples = fixture.samples()
                #expect(samples.keys.count { $0.hasPrefix("c_total{") } == 3)
                #expect(samples[#"c_total{k="a"}"#] == "1" && samples[#"c_total{k="b"}"#] == "2")
                #expect(samples[#"c_total{k="other"}"#] == "150")
                #expect(samples.keys.filter { $0.hasPrefix("g{") }.sorted() == [#"g{k="c"}"#, #"g{k="d"}"#])
                #expect(samples[#"metrics_registry_overflowed_lookups_total{family="g"}"#] == "\(2 * run)")
                #expect(!samples.keys.contains { $0.hasPrefix("h{") })
            }
        }

        @Test("a computed counter keeps its creation time, and invalid totals are ignored and counted")
        func computedFamilyCounters() {
            fixture.registry.counterFunction("c_total", help: "C.", labels: ["k"]) { [turn] in
                switch turn.next() {
                case 1: [(["a"], 5), (["b"], .infinity)]
                case 2: [(["a"], .nan), (["b"], -1)]
                default: [(["b"], 2), (["a"], 6)]
                }
            }
            #expect(
                lines(fixture.page(.openMetrics)) == [#"c_total{k="a"} 5"#, #"c_created{k="a"} 1700000000"#].map(bytes)
            )
            fixture.setClock(RegistryFixture.start + 1_000_000)
            #expect(
                lines(fixture.page(.openMetrics)) == [#"c_total{k="a"} 5"#, #"c_created{k="a"} 1700000000"#].map(bytes)
            )
            #expect(fixture.samples()["metrics_registry_ignored_values_total"] == "3")
            let expected = [
                #"c_total{k="a"} 6"#, #"c_created{k="a"} 1700000000"#,
                #"c_total{k="b"} 2"#, #"c_created{k="b"} 1700000001"#,
            ]
            #expect(lines(fixture.page(.openMetrics)) == expected.map(bytes))
        }

        /// Whether all series come from one run, whose number is their value.
        private func isWhole(_ samples: [String: String], series: Int) -> Bool {
            let values = samples.filter { $0.key.hasPrefix("g{") }.values
            return values.count == series && Set(values).count == 1 && values.first != "0"
        }

        private func lines(_ page: String) -> [[UInt8]] {
            page.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { Array($0.utf8) }
        }

        private func bytes(_ line: String) -> [UInt8] { Array(line.utf8) }
    }
}

/// Counts runs from 1.
private final class Turn: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
