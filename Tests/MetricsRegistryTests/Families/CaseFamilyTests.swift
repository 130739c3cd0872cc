// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Case families")
struct CaseFamilyTests {
    private let fixture = RegistryFixture()

    @Test("every case of a case family starts at 0, except those shown once used")
    func fromTheStart() {
        let failures = fixture.registry.counter(
            "failures_total",
            help: "Failures.",
            label: "reason",
            of: Reason.self,
            onceUsed: [.other]
        )
        #expect(
            fixture.page() == """
                # HELP failures_total Failures.
                # TYPE failures_total counter
                failures_total{reason="AUTH"} 0
                failures_total{reason="NETWORK"} 0
                failures_total{reason="SYSTEM"} 0

                """
        )
        failures[.other].add(2)
        failures[.system].add()
        let samples = fixture.samples()
        #expect(samples[#"failures_total{reason="OTHER"}"#] == "2")
        #expect(samples[#"failures_total{reason="SYSTEM"}"#] == "1")
        #expect(samples[#"failures_total{reason="NETWORK"}"#] == "0")
    }

    @Test("a case and its label value find the same counter")
    func sameSeries() {
        let typed = fixture.registry.counter("failures_total", help: "Failures.", label: "reason", of: Reason.self)
        let named = fixture.registry.counter("failures_total", help: "Failures.", labels: ["reason"])
        for reason in Reason.allCases { #expect(typed[reason] === named.with(reason.rawValue)) }
        #expect(Set(Reason.allCases.map { ObjectIdentifier(typed[$0]) }).count == 4)
        #expect(fixture.conflicts.isEmpty)
    }

    @Test("case families work for labels of more than one byte and for a single case")
    func otherShapes() {
        let routes = fixture.registry.counter(
            "hits_total",
            help: "Hits.",
            label: "route",
            of: Route.self,
            value: { $0.label }
        )
        routes[.page(2)].add(3)
        routes[.api].add(4)
        let lone = fixture.registry.counter("lone_total", help: "Lone.", label: "name", of: Lone.self)
        lone[.only].add()
        let samples = fixture.samples()
        #expect(samples[#"hits_total{route="page-1"}"#] == "0")
        #expect(samples[#"hits_total{route="page-2"}"#] == "3")
        #expect(samples[#"hits_total{route="api"}"#] == "4")
        #expect(samples[#"lone_total{name="only"}"#] == "1")
    }

    @Test("a value missing from allCases counts in the overflow series")
    func caseFamilyUnlisted() {
        let family = fixture.registry.counter("parts_total", help: "Parts.", label: "part", of: Partial.self)
        family[.hidden].add()
        family[.last].add()
        family[.second].add()
        let samples = fixture.samples()
        #expect(samples[#"parts_total{part="other"}"#] == "2")
        #expect(samples[#"parts_total{part="second"}"#] == "1")
        #expect(samples[#"metrics_registry_overflowed_lookups_total{family="parts_total"}"#] == "2")
        let routes = fixture.registry.counter("hits_total", help: "H.", label: "r", of: Route.self) { $0.label }
        routes[.page(3)].add()
        #expect(fixture.samples()[#"hits_total{r="other"}"#] == "1")
    }

    @Test("all pairs of a case pair family start at 0, whatever the order of the labels")
    func caseFamilyPairs() {
        let checks = fixture.registry.counter(
            "checks_total",
            help: "Checks.",
            labels: ("reason", "result"),
            of: (Reason.self, Verdict.self)
        )
        let swapped = fixture.registry.counter(
            "checks_total",
            help: "Checks.",
            labels: ("result", "reason"),
            of: (Verdict.self, Reason.self)
        )
        checks[.auth, .mismatch].add()
        swapped[.mismatch, .auth].add()
        let samples = fixture.samples().filter { $0.key.hasPrefix("checks_total") }
        #expect(samples.count == 8)
        #expect(samples[#"checks_total{reason="AUTH",result="mismatch"}"#] == "2")
        #expect(samples[#"checks_total{reason="AUTH",result="match"}"#] == "0")
        let pairs = Reason.allCases.flatMap { reason in Verdict.allCases.map { ObjectIdentifier(checks[reason, $0]) } }
        #expect(Set(pairs).count == 8)
    }

    @Test("a pair with a value missing from allCases counts in the overflow series")
    func unlistedPair() {
        let family = fixture.registry.counter(
            "parts_total",
            help: "Parts.",
            labels: ("part", "result"),
            of: (Partial.self, Verdict.self)
        )
        family[.hidden, .match].add()
        family[.last, .mismatch].add()
        #expect(fixture.samples()[#"parts_total{part="other",result="other"}"#] == "2")
    }

    @Test("a case lookup with a closure finds the same series as one without, including the overflow series")
    func caseFamilyClosures() {
        let reasons = fixture.registry.counter("failures_total", help: "F.", label: "reason", of: Partial.self)
        let pairs = fixture.registry.counter(
            "checks_total",
            help: "C.",
            labels: ("verdict", "part"),
            of: (Verdict.self, Partial.self)
        )
        for label in [Partial.first, .second, .second, .hidden] { reasons.with(label) { $0.add() } }
        for label in [Partial.first, .hidden, .last] { pairs.with(.mismatch, label) { $0.add(5) } }
        #expect(reasons[.first].value == 1)
        #expect(reasons[.second].value == 2)
        #expect(pairs[.mismatch, .first].value == 5)
        #expect(fixture.samples()[#"failures_total{reason="other"}"#] == "1")
        #expect(fixture.samples()[#"checks_total{verdict="other",part="other"}"#] == "10")
    }
}
