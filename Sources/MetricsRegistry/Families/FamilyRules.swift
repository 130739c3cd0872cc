// SPDX-License-Identifier: Apache-2.0

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
