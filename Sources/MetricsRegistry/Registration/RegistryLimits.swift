// SPDX-License-Identifier: Apache-2.0

/// The sizes past which a registry stops growing, and the names that it takes.
public struct RegistryLimits: Sendable, Hashable {
    /// Families a registry holds, and collectors that it runs; a further one is a conflict. 4,096 unless told.
    public var families = 4_096
    /// Series a labelled family holds before look-ups of new label values go to its overflow series. 1,000 unless
    /// told; a family may name its own.
    public var seriesPerFamily = 1_000
    /// Labels of one family. 16 unless told.
    public var labels = 16
    /// Bounds of one histogram. 256 unless told.
    public var buckets = 256
    /// Bytes of a metric's or label's name. 256 unless told.
    public var nameBytes = 256
    /// Whether names may be any text without control characters, as in Prometheus 3, or only classic ones
    /// (`[a-zA-Z_:][a-zA-Z0-9_:]*`, labels without the colon). True unless told.
    ///
    /// A page shows a name that isn't classic in quotes or escaped, as its reader asks; see `NameEscaping`.
    public var allowsUTF8Names = true
    /// Bytes of a help text. 4,096 unless told.
    public var helpBytes = 4_096
    /// Bytes of one label value; a longer one goes to the overflow series. 16,384 unless told.
    public var labelValueBytes = 16_384
    /// Bytes of the label values of all series of one family; what would be more goes to the overflow series. 1 MiB
    /// unless told. Each format in use keeps them once for every line of a series.
    public var labelBytesPerFamily = 1 << 20
    /// Milliseconds that a scrape waits for all its collectors together (`MetricsCollector`). 500 unless told.
    public var collectionMilliseconds = 500

    /// The defaults.
    public init() {}
}

/// What a family needs of its registry to create series: limits, the time, and where to count what went wrong.
struct FamilyRules: Sendable {
    let maximumSeries: Int
    let maximumValueBytes: Int
    /// Bytes of the label values of all series together.
    let maximumLabelBytes: Int
    /// Labels that a series may name itself, and bytes of each name.
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
