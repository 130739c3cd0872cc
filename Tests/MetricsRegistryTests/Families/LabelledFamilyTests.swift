// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Labelled families")
struct LabelledFamilyTests {
    private let fixture = RegistryFixture()

    @Test("equal label values find the same series, different ones another")
    func labelledFamilyIdentity() {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["method", "path"])
        #expect(family.with("GET", "/") === family["GET", "/"])
        #expect(family.with("GET", "/") === family.with(["GET", "/"]))
        #expect(family.with("GET", "/") !== family.with("/", "GET"))
        #expect(family.with("ab", "c") !== family.with("a", "bc"))
        #expect(family.with("GET", "/").labelValues == ["GET", "/"])
    }

    @Test("label values of every length are distinguished by every kind of lookup")
    func labelledFamilyLengths() {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["path"], maximumSeries: 2_000)
        var counters: [Counter] = []
        for length in 0..<300 {
            counters.append(family.with(String(repeating: "x", count: length)))
            counters.append(family.with(String(repeating: "x", count: length) + "y"))
        }
        #expect(Set(counters.map(ObjectIdentifier.init)).count == 600)
        for (index, counter) in counters.enumerated() {
            let value = String(repeating: "x", count: index / 2) + (index % 2 == 1 ? "y" : "")
            #expect(family.with(value) === counter)
            #expect(family.with([value]) === counter)
        }
    }

    @Test("equal label values find the same series whatever the storage of the string")
    func labelledFamilyForms() {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["path"])
        let texts = [
            "", "a", "1234567", "12345678", "123456789", "123456789012345", "1234567890123456", "\u{E9}t\u{E9}", "\0",
            "\0\0",
        ]
        for text in texts {
            var spacious = text
            spacious.reserveCapacity(200)
            let part = ("<" + text + ">").dropFirst().dropLast()
            let counter = family.with(String(decoding: Array(text.utf8), as: UTF8.self))
            #expect(family.with(spacious) === counter)
            #expect(family.with(String(part)) === counter)
            #expect(family.with([spacious]) === counter)
        }
        #expect(Set(texts.map { ObjectIdentifier(family.with($0)) }).count == texts.count)
    }

    @Test("a label lookup with a closure finds the same series as one without, before and after a removal")
    func labelledFamilyClosures() {
        let paths = fixture.registry.counter("hits_total", help: "Hits.", labels: ["path"])
        let rooms = fixture.registry.gauge("level", help: "L.", labels: ["a", "b"])
        let swapped = fixture.registry.gauge("level", help: "L.", labels: ["b", "a"])
        let sizes = fixture.registry.histogram("size_bytes", help: "Size.", labels: ["a", "b"], buckets: [1])
        for round in 1...3 {
            for path in ["/", "/a/path/that/is/long"] { paths.with(path) { $0.add() } }
            rooms.with("1", "2") { $0.add(1) }
            swapped.with("2", "1") { $0.add(1) }
            sizes.with("x", "y") { $0.observe(1) }
            #expect(paths.with("/").value == UInt64(round))
            #expect(paths.with("/a/path/that/is/long").value == UInt64(round))
            #expect(rooms.with("1", "2").value == Double(round * 2))
            #expect(sizes.with("x", "y").count == UInt64(round))
            if round == 2 {
                paths.with("gone") { $0.add() }
                #expect(paths.remove("gone"))
            }
        }
    }

    @Test("three and more labels are looked up by position")
    func manyLabels() {
        let three = fixture.registry.gauge("depth", help: "Depth.", labels: ["a", "b", "c"])
        three.with("1", "2", "3").set(6)
        #expect(three["1", "2", "3"] === three.with(["1", "2", "3"]))
        let four = fixture.registry.histogram("size_bytes", help: "Size.", labels: ["a", "b", "c", "d"], buckets: [1])
        four.with(["1", "2", "3", "4"]).observe(1)
        let samples = fixture.samples()
        #expect(samples[#"depth{a="1",b="2",c="3"}"#] == "6")
        #expect(samples[#"size_bytes_bucket{a="1",b="2",c="3",d="4",le="1"}"#] == "1")
    }

    @Test("registrations with differently ordered labels share a family, each with its own order")
    func labelOrder() {
        let first = fixture.registry.counter("hits_total", help: "Hits.", labels: ["method", "path", "code"])
        let second = fixture.registry.counter("hits_total", help: "Hits.", labels: ["code", "path", "method"])
        #expect(first.with("GET", "/", "200") === second.with("200", "/", "GET"))
        #expect(first.with(["GET", "/", "200"]) === second.with(["200", "/", "GET"]))
        second.with("404", "/x", "PUT").add()
        #expect(fixture.samples()[#"hits_total{method="PUT",path="/x",code="404"}"#] == "1")
        #expect(fixture.conflicts.isEmpty)
    }

    @Test("beyond the series limit lookups go to the overflow series and are counted, and known series stay reachable")
    func labelledFamilyOverflow() {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["a", "b"], maximumSeries: 2)
        family.with("1", "1").add()
        family.with("2", "2").add()
        family.with("3", "3").add()
        family.with("4", "4").add(10)
        family.with("1", "1").add()
        let samples = fixture.samples()
        #expect(samples[#"hits_total{a="1",b="1"}"#] == "2")
        #expect(samples[#"hits_total{a="2",b="2"}"#] == "1")
        #expect(samples[#"hits_total{a="other",b="other"}"#] == "11")
        #expect(samples.keys.filter { $0.hasPrefix("hits_total") }.count == 3)
        #expect(samples[#"metrics_registry_overflowed_lookups_total{family="hits_total"}"#] == "2")
    }

    @Test("label values that are too long or of the wrong number go to the overflow series")
    func unfitValues() {
        var limits = RegistryLimits()
        limits.labelValueBytes = 4
        let fixture = RegistryFixture(limits: limits)
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["a"])
        let other = family.with("other")
        #expect(family.with("1234") !== other)
        #expect(family.with("12345") !== family.with("1234"))
        #expect(family.with("12345") === family.with("1", "2"))
        #expect(family.with("1", "2") === family.with([]))
        let name = #"metrics_registry_overflowed_lookups_total{family="hits_total"}"#
        #expect(fixture.samples()[name] == "6")
    }

    @Test("the counter of overflowed lookups of a family starts at 0")
    func overflowCounterFromTheStart() {
        _ = fixture.registry.gauge("depth", help: "Depth.", labels: ["a"])
        #expect(fixture.samples()[#"metrics_registry_overflowed_lookups_total{family="depth"}"#] == "0")
    }

    @Test("threads that look up the same new label values get the same series")
    func concurrentCreation() async {
        let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["path"])
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for index in 0..<900 { family.with("/path/\(index)").add() }
                }
            }
        }
        let samples = fixture.samples().filter { $0.key.hasPrefix("hits_total") }
        #expect(samples.count == 900)
        #expect(samples.values.allSatisfy { $0 == "4" })
    }
}
