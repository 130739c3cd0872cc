// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Exemplars")
struct ExemplarTests {
    private let fixture = RegistryFixture()

    @Test("an exemplar keeps its labels in order, its value and its time")
    func exemplarMade() throws {
        let exemplar = try Exemplar(labels: [("b", "ü\n"), ("a", "")], value: -2.5, timestamp: 12)
        #expect(exemplar.labels.map(\.name) == ["b", "a"])
        #expect(exemplar.labels.map(\.value) == ["ü\n", ""])
        #expect(exemplar.value == -2.5)
        #expect(exemplar.timestamp == 12)
        #expect(throws: Never.self) { try Exemplar(labels: [], value: 0, timestamp: 0) }
    }

    @Test("exemplar labels may have 128 code points, however many bytes they take")
    func exemplarLength() throws {
        let value = String(repeating: "é", count: 60)
        _ = try Exemplar(labels: [("abcd", value), ("wxyz", value)], value: 1, timestamp: 1)
        #expect(throws: ExemplarError.tooLong) {
            try Exemplar(labels: [("abcd", value), ("wxyz", value + "e")], value: 1, timestamp: 1)
        }
        #expect(throws: ExemplarError.tooLong) {
            try Exemplar(labels: [("a", String(repeating: "e\u{301}", count: 64))], value: 1, timestamp: 1)
        }
    }

    @Test(
        "exemplar label names that a format cannot show are refused",
        arguments: ["", "1a", "a-b", "ä", "__a", "a:b", "a b"]
    )
    func illegalNames(name: String) {
        #expect(throws: ExemplarError.invalidLabelName) {
            try Exemplar(labels: [(name, "x")], value: 1, timestamp: 1)
        }
    }

    @Test("exemplars with repeated names, non-finite values or impossible times are refused")
    func exemplarRefused() {
        #expect(throws: ExemplarError.repeatedLabelName) {
            try Exemplar(labels: [("a", "1"), ("a", "2")], value: 1, timestamp: 1)
        }
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(throws: ExemplarError.valueIsNotFinite) { try Exemplar(labels: [], value: value, timestamp: 1) }
        }
        for time in [-1, 253_402_300_800_000_000, Int64.max] {
            #expect(throws: ExemplarError.timestampOutOfRange) { try Exemplar(labels: [], value: 1, timestamp: time) }
        }
    }

    @Test("a counter keeps its latest exemplar, added or attached")
    func exemplarCounters() throws {
        let whole = fixture.registry.counter("hits_total", help: "Hits.")
        let busy = fixture.registry.fractionalCounter("busy_seconds_total", help: "Busy.")
        whole.add(2, exemplar: try exemplar(2))
        whole.add(exemplar: try exemplar(1))
        busy.add(0.5, exemplar: try exemplar(0.5))
        busy.add(-1, exemplar: try exemplar(-1))
        #expect(whole.value == 3)
        #expect(busy.value == 0.5)
        #expect(copied([whole]) == [Copied(series: 0, place: 0, value: 1)])
        #expect(copied([busy]) == [Copied(series: 0, place: 0, value: 0.5)])
        let striped = fixture.registry.stripedCounter("calls_total", help: "Calls.")
        striped.add(exemplar: try exemplar(4))
        #expect(striped.value == 1)
        #expect(copied([striped]) == [Copied(series: 0, place: 0, value: 4)])
        whole.attach(try exemplar(9))
        #expect(whole.value == 3)
        #expect(copied([whole]) == [Copied(series: 0, place: 0, value: 9)])
    }

    @Test("a histogram keeps the latest exemplar of each bucket, by the value of the exemplar")
    func histograms() throws {
        let histogram = fixture.registry.histogram("delay_seconds", help: "Delay.", buckets: [1, 2])
        for value in [0.5, 1, 7, 8] { histogram.observe(value, exemplar: try exemplar(value)) }
        histogram.observe(.nan, exemplar: try exemplar(1.5))
        #expect(histogram.bucketCounts == [2, 0, 2])
        #expect(copied([histogram]).map(\.place) == [0, 2])
        #expect(copied([histogram]).map(\.value) == [1, 8])
        histogram.attach(try exemplar(2))
        #expect(copied([histogram]).map(\.value) == [1, 2, 8])
        #expect(histogram.count == 4)
    }

    @Test("a native histogram keeps its latest ten exemplars beside those of its bounds")
    func exemplarRecent() throws {
        let histogram = fixture.registry.histogram(
            "delay_seconds",
            help: "Delay.",
            buckets: [4],
            native: NativeBuckets()
        )
        for value in 1...13 { histogram.attach(try exemplar(Double(value))) }
        let kept = copied([histogram])
        #expect(kept.filter { $0.place != ScrapedExemplar.recent }.map(\.value) == [4, 13])
        #expect(Set(kept.filter { $0.place == ScrapedExemplar.recent }.map(\.value)) == Set((4...13).map(Double.init)))
        #expect(kept.count == 12)
    }

    @Test("exemplars are found by series among series without any")
    func exemplarFamilies() throws {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["way"])
        let members = (0..<6).map { family.with("\($0)") }
        for index in [0, 3, 4] { members[index].attach(try exemplar(Double(index))) }
        var scraped = ScrapedExemplars()
        let all = ContiguousArray(members)
        Counter.copyExemplars(all.span, into: &scraped)
        Counter.copyExemplars(all.span, into: &scraped)
        #expect((0..<6).map { scraped.range(ofSeries: $0, in: 0..<3).count } == [1, 0, 0, 1, 1, 0])
        #expect(scraped.range(ofSeries: 3, in: 3..<6) == 4..<5)
    }

    private struct Copied: Equatable {
        var series: Int
        var place: Int
        var value: Double
    }

    private func copied<Member: Instrument>(_ members: [Member]) -> [Copied] {
        var scraped = ScrapedExemplars()
        let members = ContiguousArray(members)
        Member.copyExemplars(members.span, into: &scraped)
        return (0..<scraped.count).map {
            Copied(series: scraped[$0].series, place: scraped[$0].place, value: scraped[$0].exemplar.value)
        }
    }

    private func exemplar(_ value: Double) throws -> Exemplar {
        try Exemplar(labels: [("schedule_id", "s-1")], value: value, timestamp: RegistryFixture.start)
    }
}
