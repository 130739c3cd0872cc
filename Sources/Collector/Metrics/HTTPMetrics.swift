// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What the HTTP side tells about itself.
struct HTTPMetrics: Sendable {
    private static let routes: Set<String> = ["/v1/events", "/metrics", "/-/healthy", "/-/ready"]

    private let requests: CounterFamily
    private let scrapeSeconds: Histogram
    private let scrapeBytes: Gauge

    init(_ registry: MetricsRegistry) {
        requests = registry.counter(
            "dnp_telemetry_http_requests_total",
            help: "Requests answered, by route and status.",
            labels: ["route", "status"]
        )
        scrapeSeconds = registry.histogram(
            "dnp_telemetry_scrape_seconds",
            help: "Time to render the metrics page.",
            unit: "seconds",
            buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1, 1]
        )
        scrapeBytes = registry.gauge(
            "dnp_telemetry_scrape_bytes",
            help: "Size of the last metrics page.",
            unit: "bytes"
        )
        for route in Self.routes { _ = requests.with(route, "200") }
    }

    func count(route: String, status: Int) {
        requests.with(Self.routes.contains(route) ? route : "other", String(status)).add()
    }

    func scraped(bytes: Int, in duration: Duration) {
        scrapeBytes.set(bytes)
        scrapeSeconds.observe(duration / .seconds(1))
    }
}
