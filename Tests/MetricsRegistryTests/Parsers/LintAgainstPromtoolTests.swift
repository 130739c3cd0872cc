// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

extension OneAtATime {
    @Suite("Lint against promtool")
    struct LintAgainstPromtoolTests {
        /// The subject of a finding, by which both are compared.
        private enum Subject: String, CaseIterable {
            case help, total, suffix, unit, type, colon, camelCaseName, camelCaseLabel, reservedLabel

            /// Part of the message of `promtool check metrics` (2.42).
            var promtool: [String] {
                switch self {
                case .help: ["no help text"]
                case .total: [#""_total" suffix"#]
                case .suffix: [#""_bucket" suffix"#, #""_count" suffix"#, #""_sum" suffix"#]
                case .unit: ["use base unit", "abbreviated units"]
                case .type: ["should not include type"]
                case .colon: ["should not contain ':'"]
                case .camelCaseName: ["metric names should be written in 'snake_case'"]
                case .camelCaseLabel: ["label names should be written in 'snake_case'"]
                case .reservedLabel: [#""le" label"#, #""quantile" label"#]
                }
            }

            var lint: [String] {
                switch self {
                case .help: ["has no help"]
                case .total: ["end in _total", "ends in _total"]
                case .suffix: ["belongs to the samples of a histogram"]
                case .unit: ["use the base unit"]
                case .type: ["in its name; the TYPE line"]
                case .colon: ["colons are for recording rules"]
                case .camelCaseName: ["is in camelCase"]
                case .camelCaseLabel: ["in camelCase; use snake_case"]
                case .reservedLabel: ["belongs to histograms and summaries"]
                }
            }
        }

        private struct Departure: Hashable, CustomStringConvertible {
            var name: String
            var subject: Subject
            var description: String { "\(name): \(subject)" }
        }

        private static let units = [
            "seconds", "minutes", "hours", "days", "weeks", "bytes", "bits", "grams", "pounds", "ounces", "joules",
            "calories",
            "meters", "metres", "inches", "yards", "miles", "celsius", "kelvin", "kelvins", "fahrenheit", "rankine",
            "volts",
            "amperes",
        ]
        private static let prefixes = [
            "milli", "micro", "nano", "kilo", "kibi", "mega", "giga", "gibi", "tera", "centi", "deci",
        ]
        private static let abbreviations = [
            "s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d", "MB", "Ms", "KB",
        ]
        private static let plain = [
            "jobs", "openJobs", "HTTP", "httpRequests", "thermometers", "a__b", "queue:rate", "x", "A", "second", "bit",
            "info",
            "Seconds", "kiloSeconds", "bytesRead", "secondsTotal", "counters", "gauge", "counter", "summary",
            "histogram",
            "Gauge", "untyped", "bucket", "sum", "count", "total", "created", "countOf", "timestamp",
        ]

        /// Needs `promtool` (Debian: package prometheus); without it the test fails.
        @Test(
            "the lint and promtool agree on hundreds of random names",
            .timeLimit(.minutes(1)),
            arguments: [1, 2, 3] as [UInt64]
        )
        func same(seed: UInt64) throws {
            var random = SeededRandom(seed: seed)
            var limits = RegistryLimits()
            limits.families = 2_000
            let fixture = RegistryFixture(limits: limits)
            for index in 0..<600 { register(name(index, &random), &random, fixture.registry) }
            let descriptors = fixture.registry.descriptors.filter { !$0.name.hasPrefix("metrics_registry") }
            #expect(descriptors.count > 500)
            let found = Set(
                MetricLint.findings(in: descriptors).flatMap { finding in
                    subjects(of: finding.text, \.lint).map { Departure(name: finding.name, subject: $0) }
                }
            )
            let expected = try promtool(fixture.registry.exposition(names: Set(descriptors.map(\.name))))
            #expect(expected.count > 400)
            #expect(found.subtracting(expected).map(\.description).sorted() == [])
            #expect(expected.subtracting(found).map(\.description).sorted() == [])
        }

        @Test("the lint finds deviations that promtool does not")
        func lintAgainstPromtoolBeyond() {
            let descriptors = [
                MetricDescriptor(name: "used_percent", help: "U.", kind: .gauge),
                MetricDescriptor(name: "cache_kib", help: "C.", kind: .gauge),
                MetricDescriptor(name: "wait_mins", help: "W.", kind: .gauge),
                MetricDescriptor(name: "wait", help: "W.", unit: "seconds", kind: .gauge),
                MetricDescriptor(name: "caf\u{E9}", help: "C.", kind: .gauge),
            ]
            #expect(MetricLint.findings(in: descriptors).map(\.name) == descriptors.map(\.name))
        }

        /// Random words with at most one unit, since promtool reports any one of several.
        private func name(_ index: Int, _ random: inout SeededRandom) -> String {
            var words = (0..<1 + pick(3, &random)).map { _ in Self.plain[pick(Self.plain.count, &random)] }
            switch pick(3, &random) {
            case 0:
                let unit = Self.units[pick(Self.units.count, &random)]
                let prefix = pick(2, &random) == 0 ? Self.prefixes[pick(Self.prefixes.count, &random)] : ""
                words.insert(prefix + unit, at: pick(words.count + 1, &random))
            case 1:
                words.insert(
                    Self.abbreviations[pick(Self.abbreviations.count, &random)],
                    at: pick(words.count + 1, &random)
                )
            default: break
            }
            words.insert("n\(index)", at: pick(words.count, &random))
            if pick(3, &random) == 0 { words.append("total") }
            return words.joined(separator: "_")
        }

        private func register(_ name: String, _ random: inout SeededRandom, _ registry: MetricsRegistry) {
            let help = pick(5, &random) == 0 ? "" : "H."
            let kind = pick(3, &random)
            let labels = [[], ["room"], ["roomName"], ["le"], ["quantile"], ["a", "bC"]][pick(6, &random)]
            let values = labels.map { _ in "1" }
            switch kind {
            case 0: registry.counter(name, help: help, labels: labels).with(values).add()
            case 1: registry.gauge(name, help: help, labels: labels).with(values).set(1)
            default: registry.histogram(name, help: help, labels: labels, buckets: [1]).with(values).observe(1)
            }
        }

        private func pick(_ count: Int, _ random: inout SeededRandom) -> Int {
            Int(random.next() % UInt64(count))
        }

        private func subjects(of text: String, _ parts: (Subject) -> [String]) -> [Subject] {
            let found = Subject.allCases.filter { subject in parts(subject).contains { text.contains($0) } }
            return found.contains(.camelCaseName) ? found.filter { $0 != .camelCaseLabel } : found
        }

        private func promtool(_ page: [UInt8]) throws -> Set<Departure> {
            let said = try Promtool.check(page).output
            var departures: Set<Departure> = []
            for line in said.split(separator: "\n") {
                let name = line.prefix { $0 != " " }
                let found = subjects(of: String(line.dropFirst(name.count)), \.promtool)
                #expect(found.count == 1, "promtool said: \(line)")
                for subject in found { departures.insert(Departure(name: String(name), subject: subject)) }
            }
            return departures
        }
    }
}
