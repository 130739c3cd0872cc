// SPDX-License-Identifier: Apache-2.0

/// The identity of a metric family: what a registration asks for and a page announces.
public struct MetricDescriptor: Sendable, Hashable {
    /// The family's name, with a counter's `_total`.
    public var name: String
    /// One sentence on what is measured; may be empty.
    public var help: String
    /// The base unit (`seconds`, `bytes`), if there is one.
    public var unit: String?
    /// What the family measures.
    public var kind: MetricKind
    /// The label names in the order of registration, without the `le` of a histogram.
    public var labelNames: [String]
    /// Whether each series names its own labels, as in swift-metrics; `labelNames` is then empty.
    public internal(set) var hasOpenLabels = false

    /// Creates a descriptor without checking it.
    public init(name: String, help: String, unit: String? = nil, kind: MetricKind, labelNames: [String] = []) {
        self.name = name
        self.help = help
        self.unit = unit
        self.kind = kind
        self.labelNames = labelNames
    }

    /// Whether the family's name and its label names look the same in every escaping.
    var hasClassicNames: Bool {
        MetricName.isClassic(name) && labelNames.allSatisfy(MetricName.isClassic)
    }

    /// Whether these names, and the label names of series with open labels, look the same in every escaping.
    func hasClassicNames(_ series: [[String]]) -> Bool {
        guard hasClassicNames else { return false }
        return !hasOpenLabels || series.allSatisfy { labels($0).allSatisfy { MetricName.isClassic($0.name) } }
    }

    /// Every name that the family occupies on a page of any format and escaping: the family's name with and without
    /// `_total`, and its samples' names (Prometheus text 0.0.4; OpenMetrics 1.0, "Metric Family" and "Sample").
    var occupiedNames: Set<String> {
        NameEscaping.allCases.reduce(into: []) { names, escaping in
            names.formUnion(SampleNames(escaping.escape(name), kind: kind).all)
        }
    }
}

/// What a metric family measures, as the `TYPE` line of an exposition names it.
public enum MetricKind: String, Sendable, Hashable, CaseIterable {
    /// A total that only increases.
    case counter
    /// A value that goes up and down.
    case gauge
    /// Observations counted into buckets of fixed bounds.
    case histogram
}

/// How the label values that identify a series map to label names.
///
/// A series of a family with label names has one value for each. A series of a family with open labels has names and
/// values alternating, so that one table finds both.
extension MetricDescriptor {
    /// Whether series have labels.
    var hasLabels: Bool { hasOpenLabels || !labelNames.isEmpty }

    /// The labels of a series, in the order in which a page shows them.
    func labels(_ values: [String]) -> [(name: String, value: String)] {
        if hasOpenLabels {
            return stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) }
        }
        return zip(labelNames, values).map { ($0, $1) }
    }

    /// The label values of the overflow series.
    var overflowValues: [String] {
        hasOpenLabels ? ["overflow", "true"] : Array(repeating: "other", count: labelNames.count)
    }
}

/// Maps the label order of one registration to the order in which the family was first registered.
struct LabelOrder: Sendable {
    /// For each label of the family its index in the caller's order; nil if the orders are the same.
    private let places: [Int]?

    init(caller: [String], family: [String]) {
        places = caller == family ? nil : family.compactMap { caller.firstIndex(of: $0) }
    }

    @inline(__always) var isIdentity: Bool { places == nil }

    func arranged(_ values: [String]) -> [String] {
        guard let places, places.count == values.count else { return values }
        return places.map { values[$0] }
    }
}
