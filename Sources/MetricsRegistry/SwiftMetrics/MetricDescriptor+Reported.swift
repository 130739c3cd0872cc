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
}
