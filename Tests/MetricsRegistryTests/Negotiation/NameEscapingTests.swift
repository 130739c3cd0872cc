// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Name escaping")
struct NameEscapingTests {
    @Test("each escaping shows a name as the Prometheus Go library does", arguments: EscapedName.all)
    func nameEscapingSchemes(name: EscapedName) {
        #expect(NameEscaping.allowUTF8.escape(name.name) == name.name)
        #expect(NameEscaping.underscores.escape(name.name) == name.underscores)
        #expect(NameEscaping.dots.escape(name.name) == name.dots)
        #expect(NameEscaping.values.escape(name.name) == name.values)
    }

    @Test("every escaped name is classic")
    func nameEscapingClassic() {
        var random = SeededRandom(seed: 9)
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 1...12, using: &random)).compactMap { _ in
                Unicode.Scalar(
                    UInt32.random(in: 1...0x2_FFFF, using: &random) >> UInt32.random(in: 0...11, using: &random)
                )
            }
            var name = ""
            name.unicodeScalars.append(contentsOf: scalars)
            if name.isEmpty { continue }
            for escaping in [NameEscaping.underscores, .dots, .values] {
                #expect(MetricName.isClassic(escaping.escape(name)), "\(name.debugDescription)")
            }
        }
    }

    @Test("a name that an escaping shows as another family is occupied")
    func occupiedNames() {
        let pairs: [(String, String)] = [
            ("a.b", "a_b"), ("a_b", "a.b"), ("a.b", "a-b"), ("a.b", "a_dot_b"), ("a.b", "U__a_2e_b"),
            ("größe", "gr__e"), ("a b", "a__b"),
        ]
        for (first, second) in pairs {
            let fixture = RegistryFixture()
            _ = fixture.registry.gauge(first, help: "F.")
            #expect(fixture.conflicts.isEmpty)
            _ = fixture.registry.gauge(second, help: "S.")
            #expect(fixture.conflicts.count == 1, "\(first) \(second)")
        }
        let fixture = RegistryFixture()
        _ = fixture.registry.counter("http.requests_total", help: "H.")
        _ = fixture.registry.gauge("http_requests_created", help: "C.")
        _ = fixture.registry.gauge("http_dot_requests_", help: "C.")
        _ = fixture.registry.histogram("http", help: "C.", labels: ["a.b", "a-b"], buckets: [1])
        _ = fixture.registry.histogram("http", help: "C.", labels: ["a b", "a__b"], buckets: [1])
        let reasons: [RegistrationConflict.Reason] = [
            .occupiedName("http_requests_created"), .occupiedName("http_dot_requests_"), .repeatedLabelName("a-b"),
            .repeatedLabelName("a__b"),
        ]
        #expect(fixture.conflicts.map(\.reason) == reasons)
    }

    @Test("a registry can be limited to classic names")
    func classicOnly() {
        var limits = RegistryLimits()
        limits.allowsUTF8Names = false
        let fixture = RegistryFixture(limits: limits)
        for name in ["1st_total", "a-b_total", "größe_total", "a.b"] { _ = fixture.registry.counter(name, help: "E.") }
        for label in ["9", "a.b", "größe"] { _ = fixture.registry.gauge("g", help: "G.", labels: [label]) }
        let reasons: [RegistrationConflict.Reason] =
            Array(repeating: .invalidName, count: 4) + ["9", "a.b", "größe"].map { .invalidLabelName($0) }
        #expect(fixture.conflicts.map(\.reason) == reasons)
    }

    @Test("the lint reports names that old readers see escaped")
    func nameEscapingLint() {
        let descriptor = MetricDescriptor(name: "a.b", help: "A.", kind: .gauge, labelNames: ["c.d"])
        let findings = MetricLint.findings(in: [descriptor]).map(\.description)
        #expect(findings.count == 2 && findings.allSatisfy { $0.contains("before 3.0") })
    }
}

/// A name and its expected escapings, with the values of the Go library's tests.
struct EscapedName: Sendable, CustomTestStringConvertible {
    let name: String
    let underscores: String
    let dots: String
    let values: String

    var testDescription: String { name }

    private init(_ name: String, _ underscores: String, _ dots: String, _ values: String) {
        self.name = name
        self.underscores = underscores
        self.dots = dots
        self.values = values
    }

    static let all = [
        EscapedName("", "", "", ""),
        EscapedName(
            "no:escaping_required",
            "no:escaping_required",
            "no:escaping_required",
            "no:escaping_required"
        ),
        EscapedName(
            "mysystem.prod.west.cpu.load_total",
            "mysystem_prod_west_cpu_load_total",
            "mysystem_dot_prod_dot_west_dot_cpu_dot_load__total",
            "U__mysystem_2e_prod_2e_west_2e_cpu_2e_load__total"
        ),
        EscapedName("http.status:sum", "http_status:sum", "http_dot_status:sum", "U__http_2e_status:sum"),
        EscapedName("label with 😱", "label_with__", "label__with____", "U__label_20_with_20__1f631_"),
        EscapedName("花火", "__", "____", "U___82b1__706b_"),
        EscapedName("label with \u{100}", "label_with__", "label__with____", "U__label_20_with_20__100_"),
        EscapedName("1st", "_st", "__st", "U___31_st"),
        EscapedName("é1", "_1", "__1", "U___e9_1"),
    ]
}
