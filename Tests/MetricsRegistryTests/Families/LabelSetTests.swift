// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Testing

@Suite("Typed labels")
struct LabelSetTests {
    private let fixture = RegistryFixture()

    private enum Method: String, LabelValue {
        case get = "GET"
        case post = "POST"
    }

    private struct Request: LabelSet {
        static let labelNames = ["method", "status"]
        var method: Method
        var status: Int
        var labelValues: [String] { [method.rawValue, String(status)] }
    }

    private struct Quick: LabelSet {
        static let labelNames = ["status", "path"]
        var path: String
        var status: UInt16
        var labelValues: [String] { [String(status), path] }
        var labelWord: UInt64 { Self.word(status, path) }
    }

    /// All words are equal, so that only equality distinguishes values.
    private struct Colliding: LabelSet {
        static let labelNames = ["number"]
        var number: Int
        var labelValues: [String] { [String(number)] }
        var labelWord: UInt64 { 7 }
    }

    /// Many combinations with the same label values.
    private struct Rounded: LabelSet {
        static let labelNames = ["decade"]
        var year: Int
        var labelValues: [String] { [String(year / 10 * 10)] }
    }

    @Test("chosen integers cannot make label words collide")
    func chosenIntegers() {
        // With a known seed these would all have the word 0.
        let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
        for seed in [golden, 0] {
            let words = (0..<1_000).map { (first: UInt64) in
                let product = (first ^ seed).multipliedFullWidth(by: golden)
                return Quick.word(first, product.high ^ product.low)
            }
            #expect(Set(words).count == words.count)
        }
    }

    @Test("a label set finds the same series as its values as text")
    func labelSetStructure() {
        let requests = fixture.registry.counter("requests_total", help: "R.", labels: Request.self)
        requests[Request(method: .get, status: 200)].add()
        requests[Request(method: .get, status: 200)].add(2)
        requests.with(Request(method: .post, status: 503)) { $0.add(4) }
        let texts = fixture.registry.counter("requests_total", help: "R.", labels: ["status", "method"])
        #expect(texts["200", "GET"] === requests[Request(method: .get, status: 200)])
        #expect(fixture.samples()[#"requests_total{method="GET",status="200"}"#] == "3")
        #expect(fixture.samples()[#"requests_total{method="POST",status="503"}"#] == "4")
    }

    @Test("a label set may have another label order than the first registration")
    func labelSetOrder() {
        let first = fixture.registry.counter("requests_total", help: "R.", labels: ["path", "status"])
        let second = fixture.registry.counter("requests_total", help: "R.", labels: Quick.self)
        #expect(second[Quick(path: "/a", status: 200)] === first["/a", "200"])
    }

    @Test("thousands of label combinations are distinguished, including those with equal words")
    func labelSetMany() {
        let numbers = fixture.registry.counter(
            "n_total",
            help: "N.",
            label: "n",
            values: Int.self,
            maximumSeries: 5_000
        )
        let colliding = fixture.registry.counter("c_total", help: "C.", labels: Colliding.self, maximumSeries: 200)
        for round in 1...2 {
            for number in 0..<5_000 { numbers[number * 1_024].add(UInt64(number)) }
            for number in 0..<200 { colliding[Colliding(number: number)].add(UInt64(number)) }
            for number in 0..<5_000 { #expect(numbers[number * 1_024].value == UInt64(number * round)) }
            for number in 0..<200 { #expect(colliding[Colliding(number: number)].value == UInt64(number * round)) }
        }
        #expect(fixture.samples()[#"n_total{n="5118976"}"#] == "9998")
    }

    @Test("every type of label value has the expected text")
    func labelSetValues() {
        let registry = fixture.registry
        registry.gauge("a", help: "A.", labels: ("on", "by"), values: (Bool.self, Method.self))[true, .post].set(1)
        registry.gauge("b", help: "B.", labels: ("id", "text"), values: (Int8.self, String.self))[-5, "x\"y"].set(2)
        registry.gauge("c", help: "C.", label: "method", values: Method.self).with(.get) { $0.set(3) }
        registry.gauge("d", help: "D.", labels: ("x", "y"), values: (UInt64.self, Int.self)).with(.max, -1) {
            $0.set(4)
        }
        let samples = fixture.samples()
        #expect(samples[#"a{on="true",by="POST"}"#] == "1")
        #expect(samples[#"b{id="-5",text="x\"y"}"#] == "2")
        #expect(samples[#"c{method="GET"}"#] == "3")
        #expect(samples[#"d{x="18446744073709551615",y="-1"}"#] == "4")
    }

    @Test("histograms and striped counters support typed labels")
    func otherInstruments() throws {
        let seconds = fixture.registry.histogram("wait_seconds", help: "W.", labels: Request.self, buckets: [1])
        seconds[Request(method: .get, status: 200)].observe(0.5)
        let hits = fixture.registry.stripedCounter("hits_total", help: "H.", labels: Request.self)
        hits.with(Request(method: .get, status: 200)) { $0.add(3) }
        #expect(fixture.samples()[#"wait_seconds_bucket{method="GET",status="200",le="1"}"#] == "1")
        #expect(fixture.samples()[#"hits_total{method="GET",status="200"}"#] == "3")
    }

    @Test("beyond the limit typed lookups go to the overflow series and are counted, and known ones stay reachable")
    func labelSetOverflow() {
        let family = fixture.registry.counter("n_total", help: "N.", label: "n", values: Int.self, maximumSeries: 2)
        for number in 0..<100 { family[number].add() }
        for number in 0..<2 { family[number].add() }
        let samples = fixture.samples()
        #expect(samples[#"n_total{n="0"}"#] == "2")
        #expect(samples[#"n_total{n="1"}"#] == "2")
        #expect(samples[#"n_total{n="other"}"#] == "98")
        #expect(samples[#"metrics_registry_overflowed_lookups_total{family="n_total"}"#] == "98")
    }

    @Test("label combinations with the same values share a series")
    func labelSetShared() {
        let family = fixture.registry.counter("years_total", help: "Y.", labels: Rounded.self, maximumSeries: 3)
        for year in 1_990..<2_020 { family[Rounded(year: year)].add() }
        #expect(fixture.samples()[#"years_total{decade="1990"}"#] == "10")
        #expect(fixture.samples()[#"years_total{decade="2010"}"#] == "10")
    }

    @Test("a label set with the wrong number of values goes to the overflow series")
    func wrongNumber() {
        struct Wrong: LabelSet {
            static let labelNames = ["a", "b"]
            var labelValues: [String] { ["1"] }
        }
        let family = fixture.registry.counter("wrong_total", help: "W.", labels: Wrong.self)
        family[Wrong()].add()
        #expect(fixture.samples()[#"wrong_total{a="other",b="other"}"#] == "1")
    }

    @Test("concurrent typed lookups of new and known labels lose no additions")
    func labelSetThreads() {
        let family = fixture.registry.counter(
            "n_total",
            help: "N.",
            labels: ("a", "b"),
            values: (Int.self, String.self),
            maximumSeries: 1_000
        )
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for number in 0..<10_000 { family.with(number % 1_000, "x") { $0.add() } }
        }
        #expect((0..<1_000).allSatisfy { family[$0, "x"].value == 80 })
    }

    @Test("a removed typed series disappears at once, and each lookup starts a new one")
    func labelSetRemoval() {
        let family = fixture.registry.counter("n_total", help: "N.", label: "n", values: Int.self, maximumSeries: 64)
        let texts = fixture.registry.counter("n_total", help: "N.", labels: ["n"])
        for number in 0..<40 { family[number].add() }
        let removed = family[7]
        for round in 1...5 {
            #expect(round.isMultiple(of: 2) ? family.remove(7) : texts.remove("7"))
            #expect(fixture.samples()[#"n_total{n="7"}"#] == nil)
            #expect(family[7] !== removed)
            #expect(family[7] === family[7])
            #expect(family[7] === texts["7"])
            family[7].add(UInt64(round))
            #expect(family[7].value == UInt64(round))
            #expect(family[8].value == 1)
        }
        family.removeAll()
        #expect(fixture.page().contains("n_total{") == false)
        for number in 0..<64 { family[number].add(2) }
        family[100].add()
        #expect((0..<64).allSatisfy { family[$0].value == 2 })
        #expect(fixture.samples()[#"n_total{n="other"}"#] == "1")
    }

    @Test("typed lookups during removals return either the removed or the new series")
    func removalMeanwhile() {
        let family = fixture.registry.counter("n_total", help: "N.", label: "n", values: Int.self)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<5_000 {
                family[number % 50].add()
                if thread == 0, number.isMultiple(of: 10) { family.remove(number % 50) }
            }
        }
        family.removeAll()
        for number in 0..<50 { family.with(number) { $0.add() } }
        #expect((0..<50).allSatisfy { family[$0].value == 1 })
    }
}
