// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// Which metrics of Hummingbird and other libraries the page shows.
enum LibraryMetrics {
    /// Hummingbird's counters of requests and errors are ignored, since `dnp_telemetry_http_requests_total` has both. So is
    /// its gauge of requests in progress: it falls only once a body is written, so never for HEAD or a broken connection.
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
