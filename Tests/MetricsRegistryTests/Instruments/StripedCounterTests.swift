// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Testing

@Suite("Striped counters")
struct StripedCounterTests {
    private let fixture = RegistryFixture()

    @Test("a striped counter loses no additions of concurrent threads")
    func stripedCounterContended() {
        let counter = fixture.registry.stripedCounter("jobs_total", help: "Jobs.")
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            for _ in 0..<1_000 { counter.add() }
            counter.add(500)
        }
        #expect(counter.value == 24_000)
        #expect(fixture.page().contains("# TYPE jobs_total counter\njobs_total 24000\n"))
    }

    @Test("a striped counter saturates at the largest value")
    func stripedCounterSaturation() {
        let counter = fixture.registry.stripedCounter("jobs_total", help: "Jobs.")
        counter.add(.max)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in counter.add(5) }
        #expect(counter.value == .max)
    }

    @Test("restoring a striped counter raises it, never lowers it, and adopts its creation time")
    func stripedCounterRestoring() {
        let counter = fixture.registry.stripedCounter("jobs_total", help: "Jobs.")
        #expect(counter.created == RegistryFixture.start)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in counter.add(5) }
        counter.restore(to: 100, created: 7)
        #expect(counter.value == 100)
        #expect(counter.created == 7)
        counter.restore(to: 99)
        counter.add()
        #expect(counter.value == 101)
        counter.restore(to: .max)
        #expect(counter.value == .max)
    }

    @Test("restoring a striped counter loses no concurrent additions")
    func restoringMeanwhile() {
        let counter = fixture.registry.stripedCounter("jobs_total", help: "Jobs.")
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<1_000 { counter.add() }
            if thread == 0 { counter.restore(to: 1_000_000) }
        }
        #expect(counter.value >= 1_000_000)
        #expect(counter.value <= 1_008_000)
    }

    @Test("striped counters have labels and an overflow series")
    func stripedCounterLabels() {
        let family = fixture.registry.stripedCounter("hits_total", help: "H.", labels: ["code"], maximumSeries: 1)
        family["200"].add(2)
        family["404"].add(3)
        #expect(family["200"] === family.with(["200"]))
        #expect(fixture.samples()[#"hits_total{code="200"}"#] == "2")
        #expect(fixture.samples()[#"hits_total{code="other"}"#] == "3")
    }

    @Test("a counter is either plain or striped, and the conflict says which was first")
    func stripedCounterConflict() {
        _ = fixture.registry.counter("jobs_total", help: "Jobs.")
        fixture.registry.stripedCounter("jobs_total", help: "Jobs.").add(5)
        _ = fixture.registry.stripedCounter("hits_total", help: "Hits.")
        _ = fixture.registry.counter("hits_total", help: "Hits.")
        #expect(fixture.conflicts.map(\.reason) == [.otherKind, .otherKind])
        #expect(fixture.conflicts.first?.expected == "a plain counter of whole numbers, as registered first")
        #expect(fixture.conflicts.last?.expected == "a striped counter, as registered first")
        #expect(fixture.samples()["jobs_total"] == "0")
    }
}
