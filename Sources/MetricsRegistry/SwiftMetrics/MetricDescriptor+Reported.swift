// SPDX-License-Identifier: Apache-2.0

extension MetricDescriptor {
    /// The family that a label of swift-metrics stands for; each series names its own labels.
    static func reported(
        _ label: String,
        _ options: RegistryMetricsOptions,
        kind: MetricKind,
        help: String,
        suffix: String = "",
        unit: String? = nil
    ) -> MetricDescriptor {
        var descriptor = MetricDescriptor(
            name: options.names[label] ?? options.naming.metric(label, suffix: suffix),
            help: options.help[label] ?? help,
            unit: unit,
            kind: kind
        )
        descriptor.hasOpenLabels = true
        return descriptor
    }

    /// The family of a counter, with or without fractions.
    static func reportedTotal(_ label: String, _ options: RegistryMetricsOptions) -> MetricDescriptor {
        reported(
            label,
            options,
            kind: .counter,
            help: "A total that a library keeps through swift-metrics.",
            suffix: "_total"
        )
    }
}
