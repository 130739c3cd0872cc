// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What the page shows of the metrics that Hummingbird and other libraries report.
enum LibraryMetrics {
    /// Hummingbird's counters of requests and of errors are left out, since `dnp_telemetry_http_requests_total` has both.
    /// Its gauge of requests in progress is left out too: it falls when a body has been written, and so never for an
    /// answer to HEAD nor for a connection that broke before.
    static var options: RegistryMetricsOptions {
        var options = RegistryMetricsOptions()
        options.ignored = ["hb.requests", "hb.request.errors", "http.server.active_requests"]
        options.help = [
            "http.server.request.duration":
                "Time from the head of a request to the end of its answer, of answers whose body was sent to its end."
        ]
        return options
    }
}
