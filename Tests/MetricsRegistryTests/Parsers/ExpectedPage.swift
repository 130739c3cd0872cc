// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

/// The registered metrics, to compare with what a parser finds on a page.
struct ExpectedPage {
    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
    }

    struct Family {
        var descriptor: MetricDescriptor
        /// Keyed by the suffix of the kind in OpenMetrics and the labels.
        var samples: [(suffix: String, labels: [(String, String)], value: Double)]
        /// Keyed by the labels of the sample.
        var exemplars: [(labels: [(String, String)], exemplar: Exemplar)]
    }

    var families: [Family] = []

    /// Compares everything that the format shows.
    func expectEquals(_ parsed: [ParsedFamily], _ format: ExpositionFormat) {
        let isOpenMetrics = format.encoding == .openMetrics
        let found = Dictionary(grouping: parsed) { $0.name }
        #expect(found.count == parsed.count)
        #expect(parsed.count == families.count)
        for family in families {
            let shown = format.escaping.escape(family.descriptor.name)
            let base = Self.base(shown, family.descriptor.kind)
            guard let parsed = found[base]?.first else {
                Issue.record("\(base.debugDescription) is missing")
                continue
            }
            let isUnknown = isOpenMetrics && family.descriptor.kind == .counter && base == shown
            #expect(parsed.type == (isUnknown ? "unknown" : family.descriptor.kind.rawValue))
            #expect(parsed.help == family.descriptor.help)
            #expect(Array(parsed.help.utf8) == Array(family.descriptor.help.utf8))
            let unit = family.descriptor.unit.flatMap { base.hasSuffix("_" + $0) ? $0 : nil }
            #expect(parsed.unit == (isOpenMetrics ? unit ?? "" : ""))
            expectSamples(of: isUnknown ? Self.unknown(family) : family, base, parsed, format)
        }
    }

    /// How OpenMetrics shows a counter without `_total`: only its value.
    private static func unknown(_ family: Family) -> Family {
        let values = family.samples.filter { $0.suffix == "_total" }.map { ("", $0.labels, $0.value) }
        return Family(descriptor: family.descriptor, samples: values, exemplars: [])
    }

    private static func base(_ name: String, _ kind: MetricKind) -> String {
        kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
    }

    private func expectSamples(of family: Family, _ base: String, _ parsed: ParsedFamily, _ format: ExpositionFormat) {
        let isOpenMetrics = format.encoding == .openMetrics
        var wanted: [Sample: Double] = [:]
        for sample in family.samples where isOpenMetrics || sample.suffix != "_created" {
            wanted[Self.sample(base + sample.suffix, sample.labels, format)] = sample.value
        }
        var exemplars: [Sample: Exemplar] = [:]
        for (labels, exemplar) in family.exemplars where isOpenMetrics {
            let suffix = family.descriptor.kind == .counter ? "_total" : "_bucket"
            exemplars[Self.sample(base + suffix, labels, format)] = exemplar
        }
        #expect(parsed.samples.count == wanted.count, "\(base.debugDescription)")
        for sample in parsed.samples {
            let key = Sample(name: sample.name, labels: Self.numericBound(sample.labels))
            let value = wanted.removeValue(forKey: key)
            #expect(value != nil && sample.number != nil, "\(key)")
            #expect(value == sample.number || (value?.isNaN == true && sample.number?.isNaN == true), "\(key)")
            let exemplar = exemplars.removeValue(forKey: key)
            #expect((exemplar == nil) == (sample.exemplar == nil), "\(key)")
            if let exemplar, let shown = sample.exemplar {
                #expect(
                    shown.labels
                        == Dictionary(
                            uniqueKeysWithValues: exemplar.labels.map {
                                ($0.name, $0.value.replacing("\0", with: "\u{FFFD}"))
                            }
                        )
                )
                #expect(Double(shown.value) == exemplar.value)
                #expect(Double(shown.timestamp) == Double(exemplar.timestamp) / 1e6)
            }
        }
        #expect(wanted.isEmpty && exemplars.isEmpty, "\(base.debugDescription)")
    }

    private static func sample(_ name: String, _ labels: [(String, String)], _ format: ExpositionFormat) -> Sample {
        let shown = labels.map { (format.escaping.escape($0.0), $0.1) }
        return Sample(name: name, labels: numericBound(Dictionary(uniqueKeysWithValues: shown)))
    }

    /// Normalises `le`, which has two equivalent forms.
    private static func numericBound(_ labels: [String: String]) -> [String: String] {
        var labels = labels
        if let bound = labels["le"], let number = bound == "+Inf" ? .infinity : Double(bound) {
            labels["le"] = "\(number)"
        }
        return labels
    }
}
