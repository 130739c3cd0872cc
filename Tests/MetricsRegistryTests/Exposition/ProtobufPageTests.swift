// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MetricsRegistry

extension OneAtATime {
    @Suite("Protobuf pages")
    struct ProtobufPageTests {
        private let fixture = RegistryFixture()

        @Test("a small protobuf page is as expected, byte for byte")
        func protobufPageGolden() throws {
            let hits = fixture.registry.counter("hits_total", help: "Hits.", labels: ["way"])
            let exemplar = try Exemplar(labels: [("id", "7")], value: 1, timestamp: 1_000_000)
            hits.with("in").add(3, exemplar: exemplar)
            fixture.registry.gauge("room_celsius", help: "", unit: "celsius").set(-2)
            let delay = fixture.registry.histogram("z", help: "Z", buckets: [1])
            try delay.restore(counts: [2, 1], sum: 4.5, created: 2_000_001)
            let expected = """
                4d
                  0a 0a 68697473 5f 746f74616c  12 05 48697473 2e  18 00
                  22 36
                    0a 09  0a 03 776179  12 02 696e
                    1a 29
                      09 0000000000000840
                      12 16
                        0a 07  0a 02 6964  12 01 37
                        11 000000000000f03f
                        1a 02  08 01
                      1a 06  08 80e2cfaa06
                26
                  0a 0c 726f6f6d5f63656c73697573  18 01
                  22 0b  12 09  09 00000000000000c0
                  2a 07 63656c73697573
                38
                  0a 01 7a  12 01 5a  18 04
                  22 2e
                    3a 2c
                      08 03  11 0000000000001240
                      1a 0b  08 02  11 000000000000f03f
                      1a 0b  08 03  11 000000000000f07f
                      7a 05  08 02  10 e807
                """
            #expect(hexadecimal(page()) == expected.filter { !$0.isWhitespace })
        }

        @Test(
            "protoc decodes random families to what was registered",
            arguments: 1...6 as ClosedRange<UInt64>
        )
        func protobufPageRoundTrip(seed: UInt64) throws {
            let generated = try GeneratedPage(seed: seed, families: 12)
            let shown = try Protoc.families(of: page(of: generated.fixture)).map { try #require(ShownFamily($0)) }
            #expect(shown.map(\.name) == generated.expected.map(\.name))
            for (shown, expected) in zip(shown, generated.expected) {
                #expect(shown == expected)
            }
        }

        @Test("hostile label values and helps survive protobuf", arguments: HostileText.all)
        func protobufPageHostile(hostile: HostileText) throws {
            let help = String(hostile.text.prefix(4_000))
            fixture.registry.counter("hits_total", help: help, labels: ["value"]).with(hostile.text).add(3)
            let family = try #require(try Protoc.families(of: page()).first.flatMap { ShownFamily($0) })
            #expect(family.help == help)
            #expect(family.series.map(\.labels) == [[["value", hostile.text]]])
            #expect(family.series.first?.value == "3.0")
        }

        @Test("a native histogram without observations differs from a classic one")
        func emptyNative() throws {
            for (name, threshold) in [("a", 0.0), ("b", 0x1p-128)] {
                _ = fixture.registry.histogram(
                    name,
                    help: "",
                    native: NativeBuckets(schema: 3, zeroThreshold: threshold)
                )
            }
            let histograms = try Protoc.families(of: page()).compactMap { $0.message("metric")?.message("histogram") }
            #expect(histograms.map { $0.scalars("schema") } == [["3"], ["3"]])
            #expect(histograms.map { $0.messages("bucket").count } == [0, 0])
            #expect(histograms[0].messages("positive_span").map { $0.scalars("length") } == [["0"]])
            #expect(histograms[1].messages("positive_span").isEmpty)
            #expect(histograms[1].double("zero_threshold") == 0x1p-128)
        }

        @Test("gaps of up to two native buckets are bridged, longer ones start a new span")
        func protobufPageSpans() throws {
            let histogram = fixture.registry.histogram("a", help: "", native: NativeBuckets(schema: 0))
            for exponent in [0, 1, 4, 8] {
                for _ in 0...exponent { histogram.observe(Double(sign: .plus, exponent: exponent, significand: 1)) }
            }
            let shown = try #require(
                try Protoc.families(of: page()).first?.message("metric")?.message("histogram")
            )
            let spans = shown.messages("positive_span")
            #expect(spans.map { $0.scalars("offset") } == [["0"], ["3"]])
            #expect(spans.map { $0.scalars("length") } == [["5"], ["1"]])
            #expect(shown.scalars("positive_delta") == ["1", "1", "-2", "0", "5", "4"])
        }

        @Test("histogram buckets add up to the count on a protobuf page written during observations")
        func protobufPageTorn() async throws {
            let both = fixture.registry.histogram("both", help: "", buckets: [1, 2], native: NativeBuckets(schema: 3))
            let observers = fixture.registry.counter("observers_total", help: "")
            var pages: [[UInt8]] = []
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        for index in 0..<100_000 { both.observe(Double(index % 40) / 10) }
                        observers.add()
                    }
                }
                while observers.value < 2 {
                    let page = page()
                    if pages.count < 20 { pages.append(page) }
                    await Task.yield()
                }
            }
            pages.append(page())
            for page in pages {
                let family = try #require(try Protoc.families(of: page).first.flatMap { ShownFamily($0) })
                let histogram = try #require(family.series.first?.histogram)
                #expect(histogram.native?.count == histogram.count)
                #expect(histogram.buckets.map(\.count) == histogram.buckets.map(\.count).sorted())
                #expect(histogram.buckets.last?.count == histogram.count)
            }
            #expect(both.nativeCounts?.count == 200_000)
        }

        @Test("protobuf pages omit series hidden until used, and families without any other")
        func protobufPageHidden() throws {
            let counters = fixture.registry.counter(
                "failures_total",
                help: "F.",
                label: "reason",
                of: Reason.self,
                onceUsed: Set(Reason.allCases)
            )
            #expect(page() == [])
            counters[.auth].add()
            let family = try #require(try Protoc.families(of: page()).first.flatMap { ShownFamily($0) })
            #expect(family.series.map(\.labels) == [[["reason", "AUTH"]]])
        }

        @Test("protobuf pages escape names as negotiated")
        func protobufPageEscapings() throws {
            fixture.registry.counter("http.hits_total", help: "H.", labels: ["a.b"]).with("x").add()
            var names: [NameEscaping: [String]] = [:]
            for escaping in NameEscaping.allCases {
                let format = ExpositionFormat(.protobuf, escaping: escaping)
                let families = try Protoc.families(of: fixture.registry.exposition(format, names: ["http.hits_total"]))
                let family = try #require(families.first.flatMap { ShownFamily($0) })
                names[escaping] = [family.name] + family.series.flatMap { $0.labels.map { $0[0] } }
            }
            #expect(names[.allowUTF8] == ["http.hits_total", "a.b"])
            #expect(names[.underscores] == ["http_hits_total", "a_b"])
            #expect(names[.dots] == ["http_dot_hits__total", "a_dot_b"])
            #expect(names[.values] == ["U__http_2e_hits__total", "U__a_2e_b"])
        }

        @Test("a protobuf page without creation times has none")
        func protobufPageWithoutCreated() throws {
            fixture.registry.counter("hits_total", help: "H.").add()
            fixture.registry.histogram("delay_seconds", help: "D.", buckets: [1]).observe(1)
            var format = ExpositionFormat.protobuf
            format.createdSamples = false
            let page = fixture.registry.exposition(format, names: ["hits_total", "delay_seconds"])
            let shown = try Protoc.families(of: page).compactMap { ShownFamily($0) }
            #expect(shown.count == 2)
            #expect(shown.flatMap { $0.series.map(\.created) } == [nil, nil])
        }

        @Test("a protobuf page overwrites an earlier one of any length as families outgrow their length prefix")
        func growing() throws {
            let family = fixture.registry.counter("hits_total", help: "Hits.", labels: ["n"], maximumSeries: 3_000)
            var page: [UInt8] = []
            for count in [1, 3, 4, 5, 300, 330, 2_500] {
                for index in 0..<count { family.with("\(index)").add() }
                fixture.registry.exposition(into: &page, format: .protobuf, names: ["hits_total"])
                let shown = try Protoc.families(of: page).compactMap { ShownFamily($0) }
                #expect(shown.map(\.series.count) == [count])
            }
        }

        private func page() -> [UInt8] { page(of: fixture) }

        /// The page without the registry's own metrics.
        private func page(of fixture: RegistryFixture) -> [UInt8] {
            let names = Set(fixture.registry.descriptors.map(\.name).filter { !$0.hasPrefix("metrics_registry_") })
            return fixture.registry.exposition(.protobuf, names: names)
        }

        private func hexadecimal(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
