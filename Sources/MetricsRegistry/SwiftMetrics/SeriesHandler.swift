// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A handler of swift-metrics that writes to one series of a registry.
protocol Report: AnyObject, Sendable {
    associatedtype Member: Instrument

    init(_ reported: ReportedSeries<Member>)

    var reported: ReportedSeries<Member> { get }

    /// The family on the page for a label of swift-metrics.
    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Member>
}

extension Report {
    var member: Member { reported.member }
    var family: ReportedFamily<Member> { reported.family }

    /// Takes the series from the page; not one that came there under its name since, and not the overflow series, which
    /// others write to.
    func remove() {
        _ = family.series.remove(member)
    }

    /// Whether the series is on the page still.
    var isOnPage: Bool {
        var hash = LabelHash(seed: family.series.seed)
        for value in member.labelValues { hash.combine(value) }
        return family.series.find(hash.value) { $0 === member } != nil
    }
}

/// A `Counter` of swift-metrics.
final class CounterReport: Report, CounterHandler {
    let reported: ReportedSeries<Counter>

    init(_ reported: ReportedSeries<Counter>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Counter> {
        registry.family(.reportedTotal(label, options), of: Counter.self, shape: .wholeNumber)
    }

    func increment(by amount: Int64) {
        if amount < 0 { return family.ignoredValues.add() }
        member.add(UInt64(amount))
    }

    func reset() {
        family.ignoredValues.add()
    }
}

/// A `FloatingPointCounter` of swift-metrics.
final class FractionalCounterReport: Report, FloatingPointCounterHandler {
    let reported: ReportedSeries<FractionalCounter>

    init(_ reported: ReportedSeries<FractionalCounter>) { self.reported = reported }

    static func series(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<FractionalCounter> {
        registry.family(.reportedTotal(label, options), of: FractionalCounter.self, shape: .floatingPoint)
    }

    func increment(by amount: Double) {
        member.add(amount)
    }

    func reset() {
        family.ignoredValues.add()
    }
}

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
