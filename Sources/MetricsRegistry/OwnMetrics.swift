// SPDX-License-Identifier: Apache-2.0

/// What a registry counts about itself.
struct OwnMetrics: Sendable {
    let conflicts: Counter
    let ignoredValues: Counter
    let overflowedLookups: InstrumentFamily<Counter>
    /// On the page once there is a collector.
    let failedCollections: InstrumentFamily<Counter>
    let families: [InstrumentFamily<Counter>]

    init(now: @escaping @Sendable () -> Int64, limits: RegistryLimits) {
        func family(_ name: String, _ help: String, labels: [String] = []) -> InstrumentFamily<Counter> {
            InstrumentFamily(
                MetricDescriptor(name: name, help: help, kind: .counter, labelNames: labels),
                shape: .wholeNumber,
                rules: FamilyRules(
                    maximumSeries: limits.families,
                    maximumValueBytes: limits.nameBytes,
                    maximumLabelBytes: limits.families * limits.nameBytes,
                    now: now,
                    overflowedLookups: Counter(InstrumentSeed(created: now(), shape: .wholeNumber)),
                    ignoredValues: nil
                )
            )
        }
        let conflicts = family(
            "metrics_registry_conflicts_total",
            "Registrations of metrics that conflicted with an earlier one or with the rules of names."
        )
        let ignoredValues = family(
            "metrics_registry_ignored_values_total",
            "Values ignored because they were infinite, negative or not a number, and resets of counters."
        )
        overflowedLookups = family(
            "metrics_registry_overflowed_lookups_total",
            "Look-ups of label values that went to the series other, past a limit of the family.",
            labels: ["family"]
        )
        failedCollections = family(
            "metrics_registry_failed_collections_total",
            "Runs of collectors that ended in an error.",
            labels: ["collector"]
        )
        self.conflicts = conflicts.member([])
        self.ignoredValues = ignoredValues.member([])
        families = [conflicts, ignoredValues, overflowedLookups]
    }
}
