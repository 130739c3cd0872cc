// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A `Meter`, a `Gauge` or a `Recorder` that doesn't aggregate.
final class GaugeReport: Report, MeterHandler, RecorderHandler {
    let reported: ReportedSeries<Gauge>

    init(_ reported: ReportedSeries<Gauge>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Gauge> {
        let descriptor = MetricDescriptor.reported(
            label,
            options,
            kind: .gauge,
            help: "A value that a library sets through swift-metrics."
        )
        return registry.family(descriptor, of: Gauge.self, shape: .floatingPoint)
    }

    func set(_ value: Int64) {
        member.set(value)
    }

    func set(_ value: Double) {
        member.set(value)
    }

    func record(_ value: Int64) {
        member.set(value)
    }

    func record(_ value: Double) {
        member.set(value)
    }

    func increment(by amount: Double) {
        guard amount.isFinite else { return family.ignoredValues.add() }
        member.add(amount)
    }

    func decrement(by amount: Double) {
        increment(by: -amount)
    }
}
