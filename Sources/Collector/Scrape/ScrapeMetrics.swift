// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// The metrics of the scrape endpoint itself.
struct ScrapeMetrics: Sendable {
    /// A format as a label value.
    enum Format: String, CaseIterable {
        case text004 = "text-0.0.4"
        case text100 = "text-1.0.0"
        case openMetrics = "openmetrics-1.0.0"
        case protobuf

        init(_ format: ExpositionFormat) {
            switch format.encoding {
            case .text004: self = .text004
            case .text100: self = .text100
            case .openMetrics: self = .openMetrics
            case .protobuf: self = .protobuf
            }
        }
    }

    private let seconds: Histogram
    private let bytes: Gauge
    private let plainBytes: Counter
    private let requests: CasePairFamily<Format, ContentCoding, Counter>
    /// Grows as the kernel takes the bytes of responses.
    let sentBytes: Counter
    let inFlight: Gauge
    let refused: Counter
    let missedDeadlines: Counter

    init(_ registry: MetricsRegistry) {
        seconds = registry.histogram(
            "dnp_telemetry_scrape_seconds",
            help: "Time to render and compress the metrics page.",
            unit: "seconds",
            buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.1, 1]
        )
        bytes = registry.gauge(
            "dnp_telemetry_scrape_bytes",
            help: "Size of the last metrics page, before it was compressed.",
            unit: "bytes"
        )
        plainBytes = registry.counter(
            "dnp_telemetry_scrape_plain_bytes_total",
            help: "Bytes of all metrics pages, before they were compressed.",
            unit: "bytes"
        )
        sentBytes = registry.counter(
            "dnp_telemetry_scrape_sent_bytes_total",
            help: "Bytes of metrics pages that were sent, compressed or not.",
            unit: "bytes"
        )
        requests = registry.counter(
            "dnp_telemetry_scrape_requests_total",
            help: "Scrapes for which a page was rendered, by the format and the coding that were chosen.",
            labels: ("format", "encoding"),
            of: (Format.self, ContentCoding.self)
        )
        inFlight = registry.gauge(
            "dnp_telemetry_scrape_in_flight",
            help: "Scrapes that are being answered, this one too."
        )
        refused = registry.counter(
            "dnp_telemetry_scrape_refused_total",
            help: "Scrapes that were refused because too many were being answered."
        )
        missedDeadlines = registry.counter(
            "dnp_telemetry_scrape_timeouts_total",
            help: "Scrapes whose connection was closed because the answer could not be written in time."
        )
    }

    func rendered(_ pageBytes: Int, as format: ExpositionFormat, _ coding: ContentCoding, in duration: Duration) {
        seconds.observe(duration / .seconds(1))
        bytes.set(pageBytes)
        plainBytes.add(UInt64(pageBytes))
        requests[Format(format), coding].add()
    }
}
