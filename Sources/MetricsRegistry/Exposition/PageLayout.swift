// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's part of a page that doesn't change from scrape to scrape, in one format.
protocol PageLayout: AnyObject, Sendable {
    /// The number of series that the layout knows, in the order of their creation.
    var seriesCount: Int { get }
    /// Whether the names of the family and of its series' labels look the same in every escaping.
    var hasClassicNames: Bool { get }

    /// Writes the family with the values that a scrape copied, which are those of exactly these series.
    ///
    /// `words` and `exemplars` are all of the scrape; `capture` tells which are the family's.
    func render(
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    )
}

/// A series as a page of one escaping shows it.
struct ShownSeries {
    /// The place in the order of creation, in which a scrape copies values.
    let place: Int
    /// The labels with the names that the page shows.
    let labels: [(name: String, value: String)]

    /// The series of a family in the order of their label values.
    ///
    /// Label names of a family differ in every escaping. Those that series name themselves may not: then a name stands
    /// once, and of series that look the same only the first is on the page.
    static func all(
        _ descriptor: MetricDescriptor,
        _ escaping: NameEscaping,
        labelValues: [[String]]
    ) -> [ShownSeries] {
        let places = labelValues.indices.sorted { precedes(labelValues[$0], labelValues[$1]) }
        if !descriptor.hasOpenLabels {
            let names = descriptor.labelNames.map(escaping.escape)
            return places.map { place in
                ShownSeries(place: place, labels: zip(names, labelValues[place]).map { ($0, $1) })
            }
        }
        var seen: Set<[[UInt8]]> = []
        return places.compactMap { place in
            let labels = open(descriptor.labels(labelValues[place]), escaping)
            let bytes = labels.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
            return seen.insert(bytes).inserted ? ShownSeries(place: place, labels: labels) : nil
        }
    }

    private static func open(
        _ labels: [(name: String, value: String)],
        _ escaping: NameEscaping
    ) -> [(name: String, value: String)] {
        var names: Set<String> = []
        return
            labels
            .map { (name: escaping.escape($0.name), value: $0.value) }
            .filter { names.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
    }

    /// The order of the values, label by label; that of their bytes where Unicode holds two for the same text.
    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        for (left, right) in zip(left, right) {
            if left != right { return left < right }
            if !left.utf8.elementsEqual(right.utf8) { return left.utf8.lexicographicallyPrecedes(right.utf8) }
        }
        return left.count < right.count
    }
}

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
