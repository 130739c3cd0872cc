// SPDX-License-Identifier: Apache-2.0

/// What a family's type and a page's options ask of its lines in OpenMetrics 1.0.
struct OpenMetricsRules: Sendable {
    let kind: MetricKind
    /// Whether each series ends in a line that tells when it began.
    let tellsCreated: Bool
    /// Whether samples may have exemplars: not those of a family whose type is `unknown`.
    let hasExemplars: Bool

    init(_ names: SampleNames, kind: MetricKind, format: ExpositionFormat) {
        self.kind = kind
        hasExemplars = !names.isUnknown
        tellsCreated = format.tellsCreated && kind != .gauge && !names.isUnknown
    }

    /// Whether a sample may have this value: a counter's is neither negative nor NaN.
    func allows(_ value: Double) -> Bool {
        kind == .gauge || value >= 0
    }

    /// Whether a histogram may tell its sum, and with it its count: not where a bucket is for negative values or the
    /// sum is negative, since a sum has to rise.
    func allowsSum(_ sum: Double, _ bounds: HistogramBounds) -> Bool {
        sum >= 0 && (bounds.values.first ?? 0) >= 0
    }
}
