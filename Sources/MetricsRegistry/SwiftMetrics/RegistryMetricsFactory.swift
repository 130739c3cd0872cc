// SPDX-License-Identifier: Apache-2.0

public import CoreMetrics

/// A swift-metrics factory whose instruments are on the page of a registry.
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
/// Characters that are illegal in a name become `_`: `hb.requests` is `hb_requests_total`. Dimensions become labels,
/// sorted by name; of duplicates the last value counts. Series of one metric may have different dimensions.
///
/// Creating an instrument again is a lookup, so that libraries may create them for every request. A label that is in use
/// for another kind of metric gets a detached instrument, which works but is on no page, and is reported and counted by
/// the registry. Beyond the registry's limit of series per family, lookups go to a series with the only label
/// `overflow="true"`.
///
/// Resetting a counter has no effect, since Prometheus counters never fall; it counts in
/// `metrics_registry_ignored_values_total`. Destroying an instrument removes its series from the page, unless it is the
/// overflow series, which others share. Negative increments and durations are ignored and counted.
public final class RegistryMetricsFactory: Sendable {
    private let options: RegistryMetricsOptions
    private let counters: HandlerStore<RegistryCounterHandler>
    private let fractionalCounters: HandlerStore<RegistryFractionalCounterHandler>
    private let gauges: HandlerStore<RegistryGaugeHandler>
    private let recorders: HandlerStore<RegistryRecorderHandler>
    private let timers: HandlerStore<RegistryTimerHandler>

    /// Creates a factory for the page of `registry`.
    public init(_ registry: MetricsRegistry, options: RegistryMetricsOptions = RegistryMetricsOptions()) {
        var options = options
        options.keepsUTF8Names = options.keepsUTF8Names && registry.limits.allowsUTF8Names
        self.options = options
        counters = HandlerStore(registry, options)
        fractionalCounters = HandlerStore(registry, options)
        gauges = HandlerStore(registry, options)
        recorders = HandlerStore(registry, options)
        timers = HandlerStore(registry, options)
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

    /// The histogram of this label and these dimensions; without aggregation, the gauge.
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
        (handler as? RegistryCounterHandler)?.remove()
    }

    /// Removes the counter's series from the page.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        (handler as? RegistryFractionalCounterHandler)?.remove()
    }

    /// Removes the gauge's series from the page.
    public func destroyMeter(_ handler: any MeterHandler) {
        (handler as? RegistryGaugeHandler)?.remove()
    }

    /// Removes the histogram's or gauge's series from the page.
    public func destroyRecorder(_ handler: any RecorderHandler) {
        (handler as? RegistryRecorderHandler)?.remove()
        (handler as? RegistryGaugeHandler)?.remove()
    }

    /// Removes the histogram's series from the page.
    public func destroyTimer(_ handler: any TimerHandler) {
        (handler as? RegistryTimerHandler)?.remove()
    }
}

/// How the labels of swift-metrics become metrics.
public struct RegistryMetricsOptions: Sendable {
    /// Names of metrics by label, instead of those derived from the labels. A counter's should end in `_total`.
    public var names: [String: String] = [:]
    /// Help texts by label, instead of a sentence that only names the source.
    public var help: [String: String] = [:]
    /// Labels whose instruments are no-ops.
    public var ignored: Set<String> = []
    /// Bounds of the histograms of timers, in seconds; half a millisecond to ten seconds by default.
    public var durationBuckets: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    /// Bounds of the histograms of recorders; one to a million by default.
    public var valueBuckets: [Double] = [
        1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 100_000, 1_000_000,
    ]
    /// Bounds by label, for one timer (in seconds) or recorder.
    public var buckets: [String: [Double]] = [:]
    /// Native buckets of all timers and recorders, beside those bounds; none by default.
    public var native: NativeBuckets?

    /// Whether `http.server.requests` becomes `http.server.requests_total`, quoted on pages that support it, instead
    /// of `http_server_requests_total`. False by default; needs a registry that allows such names.
    public var keepsUTF8Names = false

    /// The defaults.
    public init() {}

    var naming: NameMapping { NameMapping(keepsUTF8: keepsUTF8Names) }

    func ignores(_ label: String) -> Bool {
        !ignored.isEmpty && ignored.contains(label)
    }
}
