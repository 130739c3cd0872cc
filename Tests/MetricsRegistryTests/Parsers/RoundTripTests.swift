// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Pages read back by Python's parsers")
struct RoundTripTests {
    /// Each format that the parsers read, in every escaping.
    private static let formats = NameEscaping.allCases.flatMap { escaping in
        [ExpositionFormat.Encoding.openMetrics, .text004, .text100].map { ExpositionFormat($0, escaping: escaping) }
    }

    @Test(
        "names, labels, helps, units, values, exemplars and times come back as they were put in",
        .timeLimit(.minutes(2)),
        arguments: formats
    )
    func hostile(format: ExpositionFormat) throws {
        let fixture = RegistryFixture()
        var filler = PageFiller(fixture, seed: 11)
        for _ in 0..<150 { try filler.addFamily() }
        let names = Set(fixture.registry.descriptors.map(\.name).filter { !$0.hasPrefix("metrics_registry_") })
        #expect(names.count > 60 && names.count == filler.expected.families.count)
        let page = fixture.registry.exposition(format, names: names)
        filler.expected.expectEquals(try parser(of: format).read(page), format)
    }

    @Test("the own metrics of a registry are read too", .timeLimit(.minutes(1)), arguments: formats)
    func ownMetrics(format: ExpositionFormat) throws {
        let fixture = RegistryFixture()
        try PageOfEveryKind.fill(fixture)
        // The parser takes an escaped quote in an exemplar's label for the label's end, so the one in the way is replaced.
        fixture.registry.histogram("body_bytes", help: "", labels: ["way"], buckets: [0.5, 1_000, 2_500_000])
            .with("in").attach(try Exemplar(labels: [("id", "1")], value: 12, timestamp: 0))
        let parsed = try parser(of: format).read(fixture.registry.exposition(format))
        #expect(parsed.count == fixture.registry.descriptors.count)
    }

    @Test("the strict parser refuses a page that is wrong", .timeLimit(.minutes(1)))
    func refusal() {
        for page in ["a 1\n", "# TYPE a counter\na 1\n# EOF\n", "a 1\n\n# EOF\n"] {
            #expect(throws: ParserFailure.self) { try PythonParser.openMetrics.read(Array(page.utf8)) }
        }
    }

    private func parser(of format: ExpositionFormat) -> PythonParser {
        format.encoding == .openMetrics ? .openMetrics : .text
    }
}
