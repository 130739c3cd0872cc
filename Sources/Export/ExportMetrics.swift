// SPDX-License-Identifier: Apache-2.0

package import MetricsRegistry

/// The metrics of one stream to one destination.
package struct ExportMetrics: Sendable {
    let sent: Counter
    let refused: Counter
    let retries: Counter
    let up: Gauge

    /// Registers them at 0, so that the first loss is an increase.
    package init(_ registry: MetricsRegistry, _ destination: ExportDestination) {
        let labels = ["destination", "signal"]
        let (name, signal) = (destination.name, destination.signal.rawValue)
        sent = registry.counter(
            "dnp_telemetry_export_sent_total",
            help: "Log records, data points and samples that a destination took.",
            labels: labels
        ).with(name, signal)
        refused = registry.counter(
            "dnp_telemetry_export_refused_total",
            help: "Log records, data points and samples that a destination refused; they are not sent again.",
            labels: labels
        ).with(name, signal)
        retries = registry.counter(
            "dnp_telemetry_export_retries_total",
            help: "Requests that a destination did not answer, or asked to be sent again.",
            labels: labels
        ).with(name, signal)
        up = registry.gauge(
            "dnp_telemetry_export_up",
            help: "1 while a destination takes what it gets whole, else 0.",
            labels: labels
        ).with(name, signal)
        up.set(1)
    }
}
