// SPDX-License-Identifier: Apache-2.0

/// The names under which a family and its samples stand on a page.
///
/// A series has one name in all formats. OpenMetrics has no counters but those whose samples end in `_total`; one that
/// was registered without it keeps its name there, and its type is `unknown`, as client_golang has it (common,
/// expfmt/openmetrics_create.go).
struct SampleNames {
    private let name: String
    private let kind: MetricKind
    private let endsInTotal: Bool

    /// `name` is the family's, escaped as the page shows it.
    init(_ name: String, kind: MetricKind) {
        self.name = name
        self.kind = kind
        endsInTotal = name.utf8.count > 6 && name.utf8.suffix(6).elementsEqual("_total".utf8)
    }

    /// The family's name in OpenMetrics: a counter's without `_total`.
    var openMetricsFamily: String {
        guard kind == .counter, endsInTotal else { return name }
        return String(decoding: name.utf8.dropLast(6), as: UTF8.self)
    }

    /// The family's type in OpenMetrics.
    var openMetricsType: String { isUnknown ? "unknown" : kind.rawValue }

    /// Whether OpenMetrics can't show the family as the counter that it is.
    var isUnknown: Bool { kind == .counter && !endsInTotal }

    var created: String { openMetricsFamily + "_created" }
    var bucket: String { name + "_bucket" }
    var sum: String { name + "_sum" }
    var count: String { name + "_count" }

    /// The names in all formats.
    var all: [String] {
        switch kind {
        case .counter: isUnknown ? [name] : [name, openMetricsFamily, created]
        case .gauge: [name]
        case .histogram: [name, bucket, sum, count, created]
        }
    }
}
