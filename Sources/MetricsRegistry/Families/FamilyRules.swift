// SPDX-License-Identifier: Apache-2.0

/// What a family needs of its registry to create series: limits, the time, and where to count what went wrong.
struct FamilyRules: Sendable {
    let maximumSeries: Int
    let maximumValueBytes: Int
    let now: @Sendable () -> Int64
    let overflowedLookups: Counter
    let ignoredValues: Counter?

    func accepts(_ values: [String], for descriptor: MetricDescriptor) -> Bool {
        values.count == descriptor.labelNames.count && values.allSatisfy { $0.utf8.count <= maximumValueBytes }
    }

    func seed(_ values: [String], shape: SampleShape) -> InstrumentSeed {
        InstrumentSeed(labelValues: values, created: now(), shape: shape, ignoredValues: ignoredValues)
    }
}
