// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Synchronization
import Testing

extension OneAtATime {
    @Suite("Scrapes during writes")
    struct ScrapeConsistencyTests {
        private let fixture = RegistryFixture()

        @Test(
            "a scrape shows all of an update or none of it, including series that updates create",
            .timeLimit(.minutes(2))
        )
        func wholeUpdates() async {
            let registry = fixture.registry
            let batches = registry.counter("batches_total", help: "Batches.")
            let events = registry.counter("events_total", help: "Events.", labels: ["source"])
            let sizes = registry.histogram("batch_events", help: "Events of a batch.", buckets: [1, 2, 3])
            let isOver = SharedCount()
            await withTaskGroup { group in
                for writer in 0..<2 {
                    group.addTask {
                        for batch in 0... {
                            if isOver.value.load(ordering: .relaxed) != 0 { break }
                            registry.update { update in
                                update.add(to: batches)
                                for part in 0..<Tally.parts { update.add(to: events.with("part-\(part)")) }
                                update.add(2, to: events.with("writer-\(writer)-\(batch / 10)"))
                                try? update.merge(counts: [0, 1, 0, 0], sum: 2, into: sizes)
                            }
                            if batch % 8 == 0 { await Task.yield() }
                        }
                    }
                }
                group.addTask {
                    var page: [UInt8] = []
                    var last: UInt64 = 0
                    for _ in 0..<200 {
                        registry.exposition(into: &page)
                        let tally = Tally(RegistryFixture.samples(page))
                        if !tally.isWhole || tally.batches < last { Issue.record("after \(last) batches: \(tally)") }
                        last = tally.batches
                        await Task.yield()
                    }
                    isOver.value.store(1, ordering: .relaxed)
                }
            }
            let tally = Tally(fixture.samples())
            #expect(tally.isWhole)
            #expect(tally.batches == batches.value)
            #expect(tally.batches > 0)
        }

        @Test("an update returns the result of its closure and throws its errors")
        func updateResult() {
            #expect(fixture.registry.update { _ in 7 } == 7)
            let histogram = fixture.registry.histogram("h", help: "H.", buckets: [1])
            let counter = fixture.registry.counter("c_total", help: "C.")
            #expect(throws: HistogramMismatch.self) {
                try fixture.registry.update { update throws(HistogramMismatch) in
                    update.add(to: counter)
                    try update.merge(counts: [1], sum: 1, into: histogram)
                }
            }
            #expect(fixture.registry.update { _ in 8 } == 8)
            #expect(counter.value == 0, "a change of an update that threw was stored, or leaked into the next one")
        }

        @Test("every change of an update equals the direct call on the instrument")
        func scrapeConsistencyChanges() throws {
            let registry = fixture.registry
            let counter = registry.counter("c_total", help: "C.")
            let seconds = registry.fractionalCounter("s_seconds_total", help: "S.", unit: "seconds")
            let (level, latest) = (registry.gauge("level", help: "L."), registry.gauge("latest", help: "L."))
            let histogram = registry.histogram("h", help: "H.", buckets: [1])
            let striped = registry.stripedCounter("striped_total", help: "S.")
            try registry.update { update throws(HistogramMismatch) in
                update.raise(counter, to: 5, created: 7)
                update.add(to: counter)
                update.raise(counter, to: 3)
                update.raise(seconds, to: 1.5, created: 8)
                update.add(0.25, to: seconds)
                update.set(level, to: 9)
                update.set(level, to: -1.5)
                update.add(-2, to: level)
                update.raise(latest, to: 4)
                update.add(to: striped)
                update.add(6, to: striped)
                update.raise(latest, to: 3)
                try update.restore(histogram, counts: [1, 2], sum: 6, created: 9)
                try update.merge(counts: [1, 0], sum: 0.5, into: histogram)
                update.observe(2.5, in: histogram)
                update.observe(.nan, in: histogram)
            }
            #expect(striped.value == 7)
            #expect(fixture.samples()["metrics_registry_ignored_values_total"] == "1")
            #expect(counter.value == 6 && counter.created == 7)
            #expect(seconds.value == 1.75 && seconds.created == 8)
            #expect(level.value == -3.5 && latest.value == 4)
            #expect(histogram.bucketCounts == [2, 3] && histogram.sum == 9 && histogram.created == 9)
        }

        @Test("an update in progress blocks no scrape and no other update, and is not visible")
        func heldUpdate() {
            let registry = fixture.registry
            let (first, second) = (registry.counter("a_total", help: "A."), registry.counter("b_total", help: "B."))
            registry.update { update in
                update.add(to: first)
                registry.update { $0.add(to: second) }
                #expect(fixture.samples()["a_total"] == "0")
                #expect(fixture.samples()["b_total"] == "1")
            }
            #expect(fixture.samples()["a_total"] == "1")
        }

        @Test("a scrape blocked by its reader or a collector blocks no update and no other scrape")
        func heldScrape() {
            let registry = fixture.registry
            let counter = registry.counter("a_total", help: "A.")
            registry.withExposition { page in
                registry.update { $0.add(to: counter) }
                #expect(fixture.samples()["a_total"] == "1")
                #expect(page.count > 0)
            }
            let isHeld = SharedCount()
            registry.onCollect {
                guard isHeld.value.exchange(1, ordering: .relaxed) == 0 else { return }
                registry.update { $0.add(to: counter) }
                #expect(fixture.samples()["a_total"] == "2")
            }
            #expect(fixture.samples()["a_total"] == "2")
        }

        @Test("collectors run before each scrape, and the page shows what they set and create")
        func scrapeConsistencyCollectors() {
            let registry = fixture.registry
            let scrapes = SharedCount()
            let files = registry.gauge("open_files", help: "Files.", labels: ["kind"])
            registry.onCollect {
                let scrape = scrapes.value.add(1, ordering: .relaxed).newValue
                registry.update { $0.set(files.with("scrape-\(scrape)"), to: scrape) }
            }
            #expect(fixture.samples()[#"open_files{kind="scrape-1"}"#] == "1")
            #expect(fixture.samples()[#"open_files{kind="scrape-2"}"#] == "2")
        }

        @Test("metric functions are called at each scrape, and a counter function never lowers its counter")
        func scrapeConsistencyFunctions() {
            let level = SharedCount()
            level.value.store(5, ordering: .relaxed)
            fixture.registry.gaugeFunction("level", help: "Level.") { Double(level.value.load(ordering: .relaxed)) }
            fixture.registry.counterFunction("cpu_seconds_total", help: "CPU.", unit: "seconds") {
                Double(level.value.load(ordering: .relaxed)) / 2
            }
            #expect(fixture.samples()["level"] == "5")
            #expect(fixture.samples()["cpu_seconds_total"] == "2.5")
            level.value.store(3, ordering: .relaxed)
            #expect(fixture.samples()["level"] == "3")
            #expect(fixture.samples()["cpu_seconds_total"] == "2.5")
            level.value.store(8, ordering: .relaxed)
            #expect(fixture.samples()["cpu_seconds_total"] == "4")
        }
    }
}

private final class SharedCount: Sendable {
    let value = Atomic(0)
}

/// The totals of a page that must agree.
private struct Tally {
    static let parts = 200

    let batches: UInt64
    let parts: Set<UInt64>
    let eventsOfWriters: UInt64
    let observed: UInt64
    let sum: UInt64

    init(_ samples: [String: String]) {
        func number(_ name: String) -> UInt64 { samples[name].flatMap { UInt64($0) } ?? .max }
        batches = number("batches_total")
        observed = number("batch_events_count")
        sum = number("batch_events_sum")
        parts = Set((0..<Self.parts).map { samples["events_total{source=\"part-\($0)\"}"].flatMap { UInt64($0) } ?? 0 })
        eventsOfWriters = samples.reduce(0) { total, sample in
            let isOfWriter = ["writer", "other"].contains { sample.key.hasPrefix("events_total{source=\"\($0)") }
            return total + (isOfWriter ? UInt64(sample.value) ?? 0 : 0)
        }
    }

    var isWhole: Bool {
        parts == [batches] && eventsOfWriters == batches * 2 && observed == batches && sum == batches * 2
    }
}
