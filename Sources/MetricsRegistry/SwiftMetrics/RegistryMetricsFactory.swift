// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics

/// Puts what libraries report through swift-metrics on a registry's page.
///
///     MetricsSystem.bootstrap(RegistryMetricsFactory(registry))
///
/// | swift-metrics | on the page |
/// | --- | --- |
/// | `Counter` | a counter; `_total` is appended to its name |
/// | `FloatingPointCounter` | a counter with fractions; `_total` is appended |
/// | `Meter`, `Gauge`, `Recorder(aggregate: false)` | a gauge |
/// | `Recorder(aggregate: true)` | a histogram |
/// | `Timer` | a histogram in seconds; `_seconds` is appended |
///
/// Characters that a name can't have become `_`: `hb.requests` is `hb_requests_total`. Dimensions become labels, those of
/// each series in the order of their names; a name that comes twice has the last value. Series of one metric may have
/// different dimensions.
///
/// Making an instrument that was made before is a look-up, so that libraries may make them for every request. A label
/// that is in use for another kind of metric gives a detached instrument: it works, is on no page, and is reported and
/// counted by the registry. Past the registry's limit of series for each family, look-ups go to a series with the only
/// label `overflow="true"`.
///
/// Resetting a counter has no effect, since a counter of Prometheus doesn't fall; it is counted in
/// `metrics_registry_ignored_values_total`. Destroying an instrument removes its series from the page, unless it went to
/// the overflow series, which others write to. Negative increments and durations are ignored and counted.
public final class RegistryMetricsFactory: Sendable {
    private let options: RegistryMetricsOptions
    private let counters: Reports<CounterReport>
    private let fractionalCounters: Reports<FractionalCounterReport>
    private let gauges: Reports<GaugeReport>
    private let recorders: Reports<RecorderReport>
    private let timers: Reports<TimerReport>

    /// Makes a factory whose instruments stand on the page of `registry`.
    public init(_ registry: MetricsRegistry, options: RegistryMetricsOptions = RegistryMetricsOptions()) {
        var options = options
        options.keepsUTF8Names = options.keepsUTF8Names && registry.limits.allowsUTF8Names
        self.options = options
        counters = Reports(registry, options)
        fractionalCounters = Reports(registry, options)
        gauges = Reports(registry, options)
        recorders = Reports(registry, options)
        timers = Reports(registry, options)
    }
}

extension RegistryMetricsFactory: MetricsFactory {
    /// The counter of this label and these dimensions.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        options.ignores(label) ? NOOPMetricsHandler.instance : counters.handler(label, dimensions)
    }

    /// The counter with fractions of this label and these dimensions.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        options.ignores(label) ? NOOPMetricsHandler.instance : fractionalCounters.handler(label, dimensions)
    }

    /// The gauge of this label and these dimensions.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        options.ignores(label) ? NOOPMetricsHandler.instance : gauges.handler(label, dimensions)
    }

    /// The histogram of this label and these dimensions, or the gauge where nothing is to be aggregated.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if options.ignores(label) { return NOOPMetricsHandler.instance }
        return aggregate ? recorders.handler(label, dimensions) : gauges.handler(label, dimensions)
    }

    /// The histogram of durations of this label and these dimensions.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        options.ignores(label) ? NOOPMetricsHandler.instance : timers.handler(label, dimensions)
    }

    /// Removes the counter's series from the page.
    public func destroyCounter(_ handler: any CounterHandler) {
        (handler as? CounterReport)?.remove()
    }

    /// Removes the counter's series from the page.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        (handler as? FractionalCounterReport)?.remove()
    }

    /// Removes the gauge's series from the page.
    public func destroyMeter(_ handler: any MeterHandler) {
        (handler as? GaugeReport)?.remove()
    }

    /// Removes the histogram's or gauge's series from the page.
    public func destroyRecorder(_ handler: any RecorderHandler) {
        (handler as? RecorderReport)?.remove()
        (handler as? GaugeReport)?.remove()
    }

    /// Removes the histogram's series from the page.
    public func destroyTimer(_ handler: any TimerHandler) {
        (handler as? TimerReport)?.remove()
    }
}
