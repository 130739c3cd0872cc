// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry

/// One metric of every kind, with what each format has to escape.
enum PageOfEveryKind {
    static func fill(_ fixture: RegistryFixture) throws {
        let registry = fixture.registry
        let hits = registry.counter(
            "hits_total",
            help: "Requests \"served\" \\ and\nlost.",
            labels: ["method", "code"]
        )
        hits.with("PUT", "say \"hi\"\n").add(7)
        hits.with("GET", "200").add(
            123_456_789_012,
            exemplar: try Exemplar(labels: [("id", "7")], value: 1, timestamp: 1_700_000_003_500_000)
        )
        let busy = registry.fractionalCounter("busy_seconds_total", help: "Time spent.", unit: "seconds")
        busy.restore(to: 0.125, created: 1_600_000_000_000_001)
        registry.counter("plain", help: "").add(3)
        registry.gauge("temperature_celsius", help: "").set(-3.5)
        let sizes = registry.histogram(
            "body_bytes",
            help: "Bodies.",
            unit: "bytes",
            labels: ["way"],
            buckets: [0.5, 1_000, 2_500_000]
        )
        sizes.with("out").observe(5_000)
        let labels = [("id", "a\"b\\c\nd"), ("way", "🦆")]
        sizes.with("in").observe(
            12,
            exemplar: try Exemplar(labels: labels, value: 12, timestamp: 1_700_000_001_250_000)
        )
        sizes.with("in").observe(
            1e300,
            exemplar: try Exemplar(labels: [], value: 1e300, timestamp: 1_700_000_002_000_000)
        )
        registry.counter("http.requests_total", help: "A name of UTF-8.", labels: ["größe"]).with("x").add()
    }
}
