// SPDX-License-Identifier: Apache-2.0

/// The constant part of a family on a page in one format: everything but the values of a scrape.
protocol PageLayout: AnyObject, Sendable {
    /// The number of series in the layout, in order of creation.
    var seriesCount: Int { get }
    /// Whether the names of the family and of its series' labels look the same in every escaping.
    var hasClassicNames: Bool { get }

    /// Writes the family with the values of a scrape, which belong to exactly these series.
    ///
    /// `words` and `exemplars` are those of the whole scrape; `capture` says which belong to the family.
    func render(
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    )
}

/// A series as a page with one escaping shows it.
struct ShownSeries {
    /// The index in order of creation, in which a scrape copies values.
    let place: Int
    /// The labels with escaped names.
    let labels: [(name: String, value: String)]

    /// The series of a family sorted by label values.
    ///
    /// The label names of a family differ in every escaping. Names that series choose themselves may not: then a name
    /// appears once, and of series that look the same only the first is on the page.
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

    /// Compares values label by label, by bytes if Unicode considers them equal.
    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        for (left, right) in zip(left, right) {
            if left != right { return left < right }
            if !left.utf8.elementsEqual(right.utf8) { return left.utf8.lexicographicallyPrecedes(right.utf8) }
        }
        return left.count < right.count
    }
}

/// The names of a family and its samples on a page.
///
/// A series has one name in all formats. In OpenMetrics the samples of counters must end in `_total`; a counter
/// registered without it keeps its name there and has the type `unknown`, as in client_golang (common,
/// expfmt/openmetrics_create.go).
struct SampleNames {
    private let name: String
    private let kind: MetricKind
    private let endsInTotal: Bool

    /// - Parameter name: The name of the family, escaped as on the page.
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

    /// Whether OpenMetrics cannot show the family as a counter.
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
