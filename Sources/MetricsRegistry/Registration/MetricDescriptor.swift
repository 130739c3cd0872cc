// SPDX-License-Identifier: Apache-2.0

/// The identity of a metric family: what a registration asks for and a page announces.
public struct MetricDescriptor: Sendable, Hashable {
    /// The family's name, with a counter's `_total`.
    public var name: String
    /// One sentence on what is measured; empty when nothing was said.
    public var help: String
    /// The base unit (`seconds`, `bytes`), when there is one.
    public var unit: String?
    /// What the family measures.
    public var kind: MetricKind
    /// The label names in the order of registration; `le` of a histogram is not among them.
    public var labelNames: [String]
    /// Whether each series names its own labels, as those of swift-metrics do; `labelNames` is empty then.
    public internal(set) var hasOpenLabels = false

    /// Describes a family; checks nothing.
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

    /// The same with the label names that these series name themselves.
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
