// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What the page shows of the metrics that Hummingbird and other libraries report.
enum LibraryMetrics {
    /// Hummingbird's counters of requests and of errors are left out, since `dnp_telemetry_http_requests_total` has both.
    static var options: RegistryMetricsOptions {
        var options = RegistryMetricsOptions()
        options.ignored = ["hb.requests", "hb.request.errors"]
        options.help = [
            "http.server.active_requests": "Requests that are being answered.",
            "http.server.request.duration": "Time from the head of a request to the end of its answer.",
        ]
        return options
    }
}
