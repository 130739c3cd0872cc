// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics

/// A swift-metrics handler that writes to one series of a registry.
protocol RegistryHandler: AnyObject, Sendable {
    associatedtype Member: Instrument

    init(_ series: HandlerSeries<Member>)

    var series: HandlerSeries<Member> { get }

    /// The family for a label of swift-metrics.
    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Member>
}

extension RegistryHandler {
    var member: Member { series.member }
    var family: HandlerFamily<Member> { series.family }

    /// Removes the series from the page, unless it was replaced by another one or is the overflow series, which others
    /// share.
    func remove() {
        _ = family.instruments.remove(member)
    }

    /// Whether the series is still on the page.
    var isOnPage: Bool {
        family.instruments.contains(member)
    }
}

/// A `Counter` of swift-metrics.
final class RegistryCounterHandler: RegistryHandler, CounterHandler {
    let series: HandlerSeries<Counter>

    init(_ series: HandlerSeries<Counter>) { self.series = series }

    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Counter> {
        registry.counters(.swiftMetricsTotal(label, options))
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
final class RegistryFractionalCounterHandler: RegistryHandler, FloatingPointCounterHandler {
    let series: HandlerSeries<FractionalCounter>

    init(_ series: HandlerSeries<FractionalCounter>) { self.series = series }

    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<FractionalCounter> {
        registry.fractionalCounters(.swiftMetricsTotal(label, options))
    }

    func increment(by amount: Double) {
        member.add(amount)
    }

    func reset() {
        family.ignoredValues.add()
    }
}

/// A `Meter`, a `Gauge` or a `Recorder` that doesn't aggregate.
final class RegistryGaugeHandler: RegistryHandler, MeterHandler, RecorderHandler {
    let series: HandlerSeries<Gauge>

    init(_ series: HandlerSeries<Gauge>) { self.series = series }

    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Gauge> {
        let descriptor = MetricDescriptor.swiftMetrics(
            label,
            options,
            kind: .gauge,
            help: "A value that a library sets through swift-metrics."
        )
        return registry.gauges(descriptor)
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
final class RegistryRecorderHandler: RegistryHandler, RecorderHandler {
    let series: HandlerSeries<Histogram>

    init(_ series: HandlerSeries<Histogram>) { self.series = series }

    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Histogram> {
        let descriptor = MetricDescriptor.swiftMetrics(
            label,
            options,
            kind: .histogram,
            help: "Values that a library records through swift-metrics."
        )
        return registry.histograms(
            descriptor,
            buckets: options.buckets[label] ?? options.valueBuckets,
            native: options.native
        )
    }

    func record(_ value: Int64) {
        member.observe(Double(value))
    }

    func record(_ value: Double) {
        member.observe(value)
    }
}

/// A `Timer`, in seconds whatever its display unit.
final class RegistryTimerHandler: RegistryHandler, TimerHandler {
    let series: HandlerSeries<Histogram>

    init(_ series: HandlerSeries<Histogram>) { self.series = series }

    static func instruments(
        of label: String,
        in registry: MetricsRegistry,
        _ options: RegistryMetricsOptions
    ) -> InstrumentFamily<Histogram> {
        let descriptor = MetricDescriptor.swiftMetrics(
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
            native: options.native
        )
    }

    func recordNanoseconds(_ duration: Int64) {
        if duration < 0 { return family.ignoredValues.add() }
        member.observe(Double(duration) / 1e9)
    }
}

extension MetricDescriptor {
    /// The family of a label of swift-metrics; each series names its own labels.
    static func swiftMetrics(
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
    static func swiftMetricsTotal(_ label: String, _ options: RegistryMetricsOptions) -> MetricDescriptor {
        swiftMetrics(
            label,
            options,
            kind: .counter,
            help: "A total that a library keeps through swift-metrics.",
            suffix: "_total"
        )
    }
}
