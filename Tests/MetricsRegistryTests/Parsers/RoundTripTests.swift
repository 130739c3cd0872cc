// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Testing

@testable import MetricsRegistry

extension OneAtATime {
    @Suite("Round trips through prometheus_client")
    struct RoundTripTests {
        /// Each format that the parsers support, in every escaping.
        private static let formats = NameEscaping.allCases.flatMap { escaping in
            [ExpositionFormat.Encoding.openMetrics, .text004, .text100].map { ExpositionFormat($0, escaping: escaping) }
        }

        @Test(
            "prometheus_client reads names, labels, helps, units, values, exemplars and times as registered",
            .timeLimit(.minutes(2)),
            arguments: formats
        )
        func roundTripHostile(format: ExpositionFormat) throws {
            let fixture = RegistryFixture()
            var filler = PageFiller(fixture, seed: 11)
            for _ in 0..<150 { try filler.addFamily() }
            let names = Set(fixture.registry.descriptors.map(\.name).filter { !$0.hasPrefix("metrics_registry_") })
            #expect(names.count > 60 && names.count == filler.expected.families.count)
            let page = fixture.registry.exposition(format, names: names)
            filler.expected.expectEquals(try parser(of: format).read(page), format)
        }

        @Test("prometheus_client reads the registry's own metrics", .timeLimit(.minutes(1)), arguments: formats)
        func ownMetrics(format: ExpositionFormat) throws {
            let fixture = RegistryFixture()
            try PageOfEveryKind.fill(fixture)
            // The parser mistakes an escaped quote in an exemplar label for its end, so the offending exemplar is
            // replaced.
            fixture.registry.histogram("body_bytes", help: "", labels: ["way"], buckets: [0.5, 1_000, 2_500_000])
                .with("in").attach(try Exemplar(labels: [("id", "1")], value: 12, timestamp: 0))
            let parsed = try parser(of: format).read(fixture.registry.exposition(format))
            #expect(parsed.count == fixture.registry.descriptors.count)
        }

        @Test(
            "prometheus_client reads swift-metrics instruments with hostile names",
            .timeLimit(.minutes(2)),
            arguments: formats
        )
        func roundTripReported(format: ExpositionFormat) throws {
            let fixture = RegistryFixture()
            var options = RegistryMetricsOptions()
            options.keepsUTF8Names = true
            let factory = RegistryMetricsFactory(fixture.registry, options: options)
            var hostile = HostileWriter(seed: 13)
            for index in 0..<40 {
                let label = hostile.name("n\(index)")
                for _ in 0..<4 {
                    let dimensions = (0..<hostile.number(upTo: 4)).map { _ in (hostile.name(""), hostile.text()) }
                    switch index % 4 {
                    case 0: factory.makeCounter(label: label, dimensions: dimensions).increment(by: 1)
                    case 1: factory.makeTimer(label: label, dimensions: dimensions).recordNanoseconds(1)
                    case 2: factory.makeRecorder(label: label, dimensions: dimensions, aggregate: true).record(1.5)
                    default: factory.makeMeter(label: label, dimensions: dimensions).set(-1.5)
                    }
                }
            }
            let parsed = try parser(of: format).read(fixture.registry.exposition(format))
            #expect(parsed.count == fixture.registry.descriptors.count)
            let alike = parsed.flatMap(\.samples).reduce(into: [:]) { $0["\($1.name) \($1.labels)", default: 0] += 1 }
            #expect(alike.values.allSatisfy { $0 == 1 })
        }

        @Test("the strict prometheus_client parser refuses a wrong page", .timeLimit(.minutes(1)))
        func roundTripRefusal() {
            for page in ["a 1\n", "# TYPE a counter\na 1\n# EOF\n", "a 1\n\n# EOF\n"] {
                #expect(throws: ParserFailure.self) { try PythonParser.openMetrics.read(Array(page.utf8)) }
            }
        }

        private func parser(of format: ExpositionFormat) -> PythonParser {
            format.encoding == .openMetrics ? .openMetrics : .text
        }
    }
}
