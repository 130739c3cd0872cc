// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

@testable import Export

/// A registry with a metric of each kind, and its page.
struct SamplePage {
    /// When it was created, in microseconds since 1970.
    static let created: Int64 = 1_763_185_000_123_456
    /// When the page is read, in nanoseconds since 1970.
    static let time: UInt64 = 1_763_186_000_500_000_000

    static let resource = ExportResource(
        version: "1.2.3",
        instance: "0123456789abcdef0123456789abcdef",
        named: [MetricsPage.Label("service.namespace", "lab")]
    )

    let registry: MetricsRegistry

    init() throws {
        registry = MetricsRegistry(now: { Self.created })
        let failures = registry.counter("failures_total", help: "Failures by reason.", labels: ["reason"])
        failures.with("NETWORK").add(3)
        failures.with("AUTH").add(
            1,
            exemplar: try Exemplar(labels: [("schedule", "s-1")], value: 1, timestamp: Self.created + 1_000_000)
        )
        registry.gauge("waiting", help: "What waits, \"quoted\" and\nbroken.").set(-2.5)
        registry.gauge("unknown_ratio", help: "No number.", unit: "ratio").set(.nan)
        let delay = registry.histogram("delay_seconds", help: "Delays.", unit: "seconds", buckets: [0.5, 60, 900])
        for value in [0.25, 0.75, 30, 901] { delay.observe(value) }
        let drift = registry.histogram(
            "drift_seconds",
            help: "Drifts.",
            unit: "seconds",
            buckets: [1],
            native: NativeBuckets(growthFactor: 2)
        )
        for value in [0, 0.75, 3, 3.5, 1_000, -3] { drift.observe(value) }
    }

    func page() throws -> MetricsPage {
        try MetricsPage(registry.exposition(.protobuf), time: Self.time)
    }
}
