// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// How the followed files are followed, since this start.
struct FollowMetrics: Sendable {
    /// Those of one file.
    struct Series: Sendable {
        let lag: Gauge
        let failures: Counter
        let rotations: Counter
        let gaps: Counter
    }

    private let lag: GaugeFamily
    private let failures: CounterFamily
    private let rotations: CounterFamily
    private let gaps: CounterFamily

    init(_ registry: MetricsRegistry) {
        lag = registry.gauge(
            "dnp_telemetry_follow_lag_bytes",
            help: "Bytes of a followed file that were seen and are not stored yet.",
            unit: "bytes",
            labels: ["file"]
        )
        failures = registry.counter(
            "dnp_telemetry_follow_read_errors_total",
            help: "Attempts to look at, open or read a followed file that failed.",
            labels: ["file"]
        )
        rotations = registry.counter(
            "dnp_telemetry_follow_rotations_total",
            help: "Rotations of a followed file, by rename or by truncation.",
            labels: ["file"]
        )
        gaps = registry.counter(
            "dnp_telemetry_follow_gaps_total",
            help: "Times that the rest of a file, or what was known of it, was not found: lines may be missing.",
            labels: ["file"]
        )
    }

    func series(of file: String) -> Series {
        Series(
            lag: lag.with(file),
            failures: failures.with(file),
            rotations: rotations.with(file),
            gaps: gaps.with(file)
        )
    }
}
