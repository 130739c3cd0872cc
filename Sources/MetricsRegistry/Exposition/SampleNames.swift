// SPDX-License-Identifier: Apache-2.0

/// The names under which a family and its samples stand on a page.
struct SampleNames {
    private let name: String
    private let kind: MetricKind

    /// `name` is the family's, escaped as the page shows it.
    init(_ name: String, kind: MetricKind) {
        self.name = name
        self.kind = kind
    }

    /// The family's name in OpenMetrics: a counter's without `_total`.
    var openMetricsFamily: String {
        guard kind == .counter, name.hasSuffix("_total"), name.utf8.count > 6 else { return name }
        return String(name.dropLast(6))
    }

    /// A counter's sample in OpenMetrics, also where the counter was registered without `_total`.
    var total: String { openMetricsFamily + "_total" }
    var created: String { openMetricsFamily + "_created" }
    var bucket: String { name + "_bucket" }
    var sum: String { name + "_sum" }
    var count: String { name + "_count" }

    /// The names in all formats.
    var all: [String] {
        switch kind {
        case .counter: [name, openMetricsFamily, total, created]
        case .gauge: [name]
        case .histogram: [name, bucket, sum, count, created]
        }
    }
}
