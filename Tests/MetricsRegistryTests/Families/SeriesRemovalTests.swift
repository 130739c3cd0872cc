// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Synchronization
import Testing

@Suite("Removing series")
struct SeriesRemovalTests {
    private let fixture = RegistryFixture()

    @Test("a removed series is on no page, its instrument keeps working, and a lookup creates a new one")
    func seriesRemovalRemoved() {
        let hits = fixture.registry.counter("hits_total", help: "Hits.", labels: ["path", "status"])
        let old = hits.with("/a", "200")
        old.add(3)
        hits.with("/b", "200").add(4)
        #expect(hits.remove("/a", "200"))
        #expect(!hits.remove("/a", "200"))
        #expect(!hits.remove("/a"))
        old.add(5)
        #expect(fixture.samples()[#"hits_total{path="/a",status="200"}"#] == nil)
        #expect(fixture.samples()[#"hits_total{path="/b",status="200"}"#] == "4")
        hits.with("/a", "200").add(1)
        #expect(fixture.samples()[#"hits_total{path="/a",status="200"}"#] == "1")
        #expect(hits.with("/b", "200").value == 4)
    }

    @Test("series are removed by values in the caller's label order")
    func seriesRemovalOrder() {
        let registry = fixture.registry
        registry.gauge("level", help: "L.", labels: ["a", "b"]).with("1", "2").set(1)
        #expect(registry.gauge("level", help: "L.", labels: ["b", "a"]).remove("2", "1"))
        #expect(fixture.samples()[#"level{a="1",b="2"}"#] == nil)
    }

    @Test("a full family accepts new series after removals")
    func seriesRemovalRoom() {
        let rooms = fixture.registry.gauge("temperature_celsius", help: "T.", labels: ["room"], maximumSeries: 2)
        rooms.with("a").set(1)
        rooms.with("b").set(2)
        rooms.with("c").set(3)
        #expect(fixture.samples()[#"temperature_celsius{room="other"}"#] == "3")
        #expect(rooms.remove("a"))
        rooms.with("d").set(4)
        rooms.with("e").set(5)
        #expect(fixture.samples()[#"temperature_celsius{room="d"}"#] == "4")
        #expect(fixture.samples()[#"temperature_celsius{room="other"}"#] == "5")
        #expect(rooms.remove("other"))
        rooms.removeAll()
        #expect(!fixture.page().contains("room="))
    }

    @Test("a family with random additions and removals equals a dictionary", arguments: 0..<8)
    func seriesRemovalHistory(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let sizes = fixture.registry.histogram("size", help: "S.", labels: ["key"], buckets: [1])
        var expected: [[UInt8]: UInt64] = [:]
        for step in 0..<3_000 {
            let number = random.next() % 97
            let key = number % 3 == 0 ? Self.forms[Int(number) % Self.forms.count] + "\(number / 24)" : "key-\(number)"
            switch random.next() % 16 {
            case 0..<5:
                #expect(sizes.remove(key) == (expected.removeValue(forKey: Array(key.utf8)) != nil))
            case 5 where step % 500 == 0:
                sizes.removeAll()
                expected.removeAll()
            default:
                sizes.with(key).observe(0.5)
                expected[Array(key.utf8), default: 0] += 1
            }
            if step % 250 == 0 { check(expected) }
        }
        check(expected)
    }

    /// Pairs of canonically equivalent texts with different bytes.
    private static let forms = ["\u{E9}", "e\u{301}", "\u{212B}", "A\u{30A}", "a\u{323}\u{307}", "a\u{307}\u{323}"]

    private func check(_ expected: [[UInt8]: UInt64]) {
        let prefix = Array("size_count{key=\"".utf8)
        var found: [[UInt8]: UInt64] = [:]
        for line in fixture.registry.exposition().split(separator: UInt8(ascii: "\n")) where line.starts(with: prefix) {
            guard let quote = line.lastIndex(of: UInt8(ascii: "\"")) else { continue }
            found[Array(line[..<quote].dropFirst(prefix.count))] = UInt64(text(Array(line[quote...].dropFirst(3))))
        }
        #expect(found == expected)
    }

    @Test("label values beyond the byte limit go to the overflow series until some are removed")
    func seriesRemovalBytes() {
        var limits = RegistryLimits()
        limits.labelBytesPerFamily = 20
        let fixture = RegistryFixture(limits: limits)
        let hits = fixture.registry.counter("hits_total", help: "Hits.", labels: ["a", "b"])
        hits.with("12345", "12345").add()
        hits.with("6789012345", "").add(2)
        hits.with("x", "").add(3)
        #expect(fixture.samples()[#"hits_total{a="other",b="other"}"#] == "3")
        #expect(hits.remove("12345", "12345"))
        hits.with("x", "").add(4)
        #expect(fixture.samples()[#"hits_total{a="x",b=""}"#] == "4")
    }

    @Test("concurrent lookups, removals and scrapes stay consistent", .timeLimit(.minutes(1)))
    func seriesRemovalConcurrent() async {
        let registry = fixture.registry
        let hits = registry.counter("hits_total", help: "Hits.", labels: ["key"])
        let kept = (0..<40).map { hits.with("kept-\($0)") }
        await withTaskGroup { group in
            for task in 0..<3 {
                group.addTask {
                    for turn in 0..<20_000 {
                        hits.with("kept-\(turn % 40)").add()
                        hits.with("task-\(task)-\(turn % 7)").add()
                        if turn % 5 == 0 { hits.remove("task-\((task + 1) % 3)-\(turn % 7)") }
                        if turn % 100 == 0 { await Task.yield() }
                    }
                }
            }
            group.addTask {
                var page: [UInt8] = []
                for _ in 0..<300 {
                    registry.exposition(into: &page)
                    let samples = RegistryFixture.samples(page)
                    #expect(samples.keys.count { $0.contains("kept-") } == 40)
                    await Task.yield()
                }
            }
        }
        #expect(kept.map(\.value).reduce(0, +) == 60_000)
    }
}
