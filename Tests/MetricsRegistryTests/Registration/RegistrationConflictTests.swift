// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Registration")
struct RegistrationConflictTests {
    private let fixture = RegistryFixture()
    private var registry: MetricsRegistry { fixture.registry }

    @Test("registering a metric again returns the same instrument, also without help or unit")
    func registrationConflictAgain() {
        #expect(registry.counter("a_total", help: "A.") === registry.counter("a_total", help: "A."))
        #expect(registry.counter("a_total", help: "A.") === registry.counter("a_total", help: "", unit: "bytes"))
        #expect(registry.gauge("b", help: "B.") === registry.gauge("b", help: "B."))
        let first = registry.histogram("c_seconds", help: "C.", unit: "seconds", buckets: [1, 2])
        #expect(first === registry.histogram("c_seconds", help: "C.", buckets: [1, 2, .infinity]))
        #expect(registry.fractionalCounter("d_total", help: "D.") === registry.fractionalCounter("d_total", help: "D."))
        #expect(fixture.conflicts.isEmpty)
        #expect(fixture.samples()["metrics_registry_conflicts_total"] == "0")
    }

    @Test("each kind of conflict is reported once with its reason, counted, and does not change the page")
    func everyConflict() {
        _ = registry.counter("a_total", help: "A.", unit: "bytes", labels: ["x"])
        _ = registry.histogram("h_seconds", help: "H.", buckets: [1, 2])
        registry.gaugeFunction("f", help: "F.") { 1 }
        let before = fixture.page()
        let cases: [(RegistrationConflict.Reason, (MetricsRegistry) -> Void)] = [
            (.otherKind, { _ = $0.gauge("a_total", help: "A.", labels: ["x"]) }),
            (.otherKind, { $0.fractionalCounter("metrics_registry_conflicts_total", help: "").add(1) }),
            (.otherLabels, { _ = $0.counter("a_total", help: "A.", labels: ["y"]) }),
            (.otherLabels, { _ = $0.counter("a_total", help: "A.") }),
            (.otherMeaning, { _ = $0.counter("a_total", help: "Another.", labels: ["x"]) }),
            (.otherMeaning, { _ = $0.counter("a_total", help: "A.", unit: "seconds", labels: ["x"]) }),
            (.otherBuckets, { _ = $0.histogram("h_seconds", help: "H.", buckets: [1, 3]) }),
            (.invalidName, { _ = $0.counter("", help: "E.") }),
            (.invalidName, { _ = $0.counter("a_total\n", help: "E.") }),
            (.invalidName, { _ = $0.counter("a\u{0}.b", help: "E.") }),
            (.invalidName, { _ = $0.counter(String(repeating: "n", count: 257), help: "E.") }),
            (.invalidLabelName("a:b"), { _ = $0.gauge("g", help: "G.", labels: ["a:b"]) }),
            (.invalidLabelName(""), { _ = $0.gauge("g", help: "G.", labels: [""]) }),
            (.invalidLabelName("a.b:c"), { _ = $0.gauge("g", help: "G.", labels: ["a.b:c"]) }),
            (.invalidLabelName("a\u{85}"), { _ = $0.gauge("g", help: "G.", labels: ["a\u{85}"]) }),
            (.reservedLabelName("花火"), { _ = $0.gauge("g", help: "G.", labels: ["花火"]) }),
            (.reservedLabelName("花a"), { _ = $0.gauge("g", help: "G.", labels: ["花a"]) }),
            (.reservedLabelName("_a.b"), { _ = $0.gauge("g", help: "G.", labels: ["_a.b"]) }),
            (.reservedLabelName("__name__"), { _ = $0.gauge("g", help: "G.", labels: ["__name__"]) }),
            (.reservedLabelName("le"), { _ = $0.histogram("g", help: "G.", labels: ["le"], buckets: [1]) }),
            (.repeatedLabelName("a"), { _ = $0.gauge("g", help: "G.", labels: ["a", "b", "a"]) }),
            (.unorderedBuckets, { _ = $0.histogram("g", help: "G.", buckets: [2, 1]) }),
            (.unorderedBuckets, { _ = $0.histogram("g", help: "G.", buckets: [1, 1]) }),
            (.unorderedBuckets, { _ = $0.histogram("g", help: "G.", buckets: [.nan]) }),
            (.unorderedBuckets, { _ = $0.histogram("g", help: "G.", buckets: [-.infinity, 1]) }),
            (.occupiedName("h_seconds_count"), { _ = $0.gauge("h_seconds_count", help: "G.") }),
            (.occupiedName("a"), { _ = $0.gauge("a", help: "G.") }),
            (.occupiedName("a_created"), { _ = $0.gauge("a_created", help: "G.") }),
            (.repeatedFunction, { $0.gaugeFunction("f", help: "F.") { 2 } }),
            (.repeatedFunction, { _ = $0.gauge("f", help: "F.") }),
            (.limit, { _ = $0.gauge("g", help: "G.", labels: (0..<17).map { "l\($0)" }) }),
            (.limit, { _ = $0.histogram("g", help: "G.", buckets: (0..<257).map(Double.init)) }),
            (.limit, { _ = $0.gauge("g", help: String(repeating: "h", count: 4_097)) }),
        ]
        for (number, (reason, register)) in cases.enumerated() {
            register(registry)
            #expect(fixture.conflicts.count == number + 1, "\(reason)")
            #expect(fixture.conflicts.last?.reason == reason)
        }
        #expect(fixture.page() == before)
        #expect(registry.conflictCount == UInt64(cases.count))
        #expect(fixture.samples()["metrics_registry_conflicts_total"] == "\(cases.count)")
    }

    @Test("a conflict says what was expected, what was found and how to fix it")
    func registrationConflictDescription() throws {
        _ = registry.counter("a_total", help: "A.")
        _ = registry.gauge("a_total", help: "A.")
        let conflict = try #require(fixture.conflicts.first)
        #expect(
            conflict.description == """
                metric "a_total" is not exposed: expected a counter, as registered first, found a gauge; \
                give one of the two another name
                """
        )
    }

    @Test("a detached instrument works and is on no page")
    func registrationConflictDetached() throws {
        _ = registry.gauge("a_total", help: "A.")
        let counter = registry.counter("a_total", help: "A.")
        counter.add(3)
        #expect(counter.value == 3)
        let family = registry.counter("b\ttotal", help: "B.", labels: ["l"])
        family.with("x").add()
        #expect(family.with("x").value == 1)
        let histogram = registry.histogram("c", help: "C.", buckets: [2, 1])
        histogram.observe(5)
        #expect(histogram.bucketCounts == [1])
        let cases = registry.counter("a_total", help: "A.", label: "reason", of: Reason.self)
        cases[.auth].add()
        #expect(cases[.auth].value == 1)
        #expect(fixture.page() == "# HELP a_total A.\n# TYPE a_total gauge\na_total 0\n")
    }

    @Test("registrations beyond the family limit are detached")
    func familyLimit() {
        var limits = RegistryLimits()
        limits.families = 5
        let fixture = RegistryFixture(limits: limits)
        for index in 0..<4 { _ = fixture.registry.gauge("gauge_\(index)", help: "G.") }
        #expect(fixture.conflicts.map(\.reason) == [.limit, .limit])
        #expect(fixture.registry.descriptors.count == 5)
    }

    @Test("threads that register the same name get the same instrument")
    func concurrentRegistration() async {
        let registry = registry
        let counters = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { ObjectIdentifier(registry.counter("a_total", help: "A.")) }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(counters.count == 1)
    }
}
