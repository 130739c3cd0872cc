// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What is told of reading the configuration.
struct ReloadMetrics: Sendable {
    let applied: Counter
    let refused: Counter
    let isLastGood: Gauge
    private let lastGood: Gauge

    init(_ registry: MetricsRegistry) {
        let reloads = registry.counter(
            "dnp_telemetry_config_reloads_total",
            help: "Reloads of the configuration, by whether it could be read.",
            labels: ["result"]
        )
        applied = reloads.with("applied")
        refused = reloads.with("refused")
        isLastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_successful",
            help: "1 where the configuration could be read when it was read last, else 0."
        )
        lastGood = registry.gauge(
            "dnp_telemetry_config_last_reload_success_timestamp_seconds",
            help: "When the configuration could be read last.",
            unit: "seconds"
        )
    }

    /// It was read, at a time in microseconds since 1970.
    func read(at microseconds: Int64) {
        isLastGood.set(1)
        lastGood.set(Double(microseconds) / 1_000_000)
    }
}
