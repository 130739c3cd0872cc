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

/// What a page makes of the labels that libraries use in swift-metrics.
public struct RegistryMetricsOptions: Sendable {
    /// Names of metrics by label, in place of those made from the labels. A counter's should end in `_total`.
    public var names: [String: String] = [:]
    /// Help texts by label, in place of a sentence that only tells where the metric is from.
    public var help: [String: String] = [:]
    /// Labels whose instruments do nothing.
    public var ignored: Set<String> = []
    /// Bounds of the histograms of timers, in seconds; from half a millisecond to ten seconds unless told.
    public var durationBuckets: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Bounds of the histograms of recorders; from one to a million unless told.
    public var valueBuckets: [Double] = [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000, 1_000_000,
    ]
    /// Bounds by label, for one timer (in seconds) or recorder.
    public var buckets: [String: [Double]] = [:]
    /// Native buckets of all timers and recorders beside those bounds; none unless told.
    public var native: NativeBuckets?

    /// Whether `http.server.requests` is `http.server.requests_total`, in quotes on pages that can show it, in place of
    /// `http_server_requests_total`. No unless told; needs a registry that takes such names.
    public var keepsUTF8Names = false

    /// The defaults.
    public init() {}

    var naming: ReportedName { ReportedName(keepsUTF8: keepsUTF8Names) }

    func ignores(_ label: String) -> Bool {
        !ignored.isEmpty && ignored.contains(label)
    }
}
