// SPDX-License-Identifier: Apache-2.0

/// The sizes beyond which a registry stops growing, and the names that it accepts.
public struct RegistryLimits: Sendable, Hashable {
    /// The maximum number of families, and of collectors; another one is a conflict. 4,096 by default.
    public var families = 4_096
    /// The maximum number of series of a family, after which lookups of new label values go to its overflow series.
    /// 1,000 by default; a family can set its own.
    public var seriesPerFamily = 1_000
    /// The maximum number of labels of a family. 16 by default.
    public var labels = 16
    /// The maximum number of bounds of a histogram. 256 by default.
    public var buckets = 256
    /// The maximum bytes of a metric or label name. 256 by default.
    public var nameBytes = 256
    /// Whether names may be any text without control characters, as in Prometheus 3, or only classic ones
    /// (`[a-zA-Z_:][a-zA-Z0-9_:]*`, labels without the colon). True by default.
    ///
    /// A page shows a non-classic name quoted or escaped, as its reader asks; see `NameEscaping`.
    public var allowsUTF8Names = true
    /// The maximum bytes of a help text. 4,096 by default.
    public var helpBytes = 4_096
    /// The maximum bytes of a label value; a longer one goes to the overflow series. 16,384 by default.
    public var labelValueBytes = 16_384
    /// The maximum bytes of all label values of a family, beyond which new series go to the overflow series. 1 MiB by
    /// default. Each format in use keeps a copy for every line of a series.
    public var labelBytesPerFamily = 1 << 20
    /// The milliseconds that a scrape waits for all its collectors together (`MetricsCollector`). 500 by default.
    public var collectionMilliseconds = 500

    /// The defaults.
    public init() {}
}

/// What a family needs from its registry to create series: limits, the clock, and counters of what goes wrong.
struct FamilyRules: Sendable {
    let maximumSeries: Int
    let maximumValueBytes: Int
    /// Bytes of the label values of all series together.
    let maximumLabelBytes: Int
    /// The labels that a series of a family with open labels may have, and the bytes of each name.
    var maximumOpenLabels = 0
    var maximumNameBytes = 0
    let now: @Sendable () -> Int64
    let overflowedLookups: Counter
    let ignoredValues: Counter?

    func accepts(_ values: [String], for descriptor: MetricDescriptor) -> Bool {
        if descriptor.hasOpenLabels { return accepts(openLabels: values) }
        return values.count == descriptor.labelNames.count && values.allSatisfy { $0.utf8.count <= maximumValueBytes }
    }

    private func accepts(openLabels: [String]) -> Bool {
        openLabels.count <= 2 * maximumOpenLabels
            && openLabels.enumerated().allSatisfy { index, text in
                text.utf8.count <= (index.isMultiple(of: 2) ? maximumNameBytes : maximumValueBytes)
            }
    }

    func seed(_ values: [String], shape: SampleShape) -> InstrumentSeed {
        InstrumentSeed(labelValues: values, created: now(), shape: shape, ignoredValues: ignoredValues)
    }
}
