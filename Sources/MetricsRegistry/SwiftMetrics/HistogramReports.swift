// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A `Recorder` that aggregates.
final class RecorderReport: Report, RecorderHandler {
    let reported: ReportedSeries<Histogram>

    init(_ reported: ReportedSeries<Histogram>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Histogram> {
        let descriptor = MetricDescriptor.reported(
            label,
            options,
            kind: .histogram,
            help: "Values that a library records through swift-metrics."
        )
        return registry.histograms(
            descriptor,
            buckets: options.buckets[label] ?? options.valueBuckets,
            native: options.native,
            maximumSeries: nil
        )
    }

    func record(_ value: Int64) {
        member.observe(Double(value))
    }

    func record(_ value: Double) {
        member.observe(value)
    }
}

/// A `Timer`, which counts in seconds whatever unit it would be displayed in.
final class TimerReport: Report, TimerHandler {
    let reported: ReportedSeries<Histogram>

    init(_ reported: ReportedSeries<Histogram>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Histogram> {
        let descriptor = MetricDescriptor.reported(
            label,
            options,
            kind: .histogram,
            help: "Durations that a library records through swift-metrics.",
            suffix: "_seconds",
            unit: "seconds"
        )
        return registry.histograms(
            descriptor,
            buckets: options.buckets[label] ?? options.durationBuckets,
            native: options.native,
            maximumSeries: nil
        )
    }

    func recordNanoseconds(_ duration: Int64) {
        if duration < 0 { return family.ignoredValues.add() }
        member.observe(Double(duration) / 1e9)
    }
}
