// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What becomes of connections.
struct ConnectionMetrics: Sendable {
    /// Why a connection was refused, or closed for another one.
    enum Refusal: String, CaseIterable {
        /// Its client has as many as it may.
        case clientLimit = "client_limit"
        /// The process has as many files open as it may.
        case descriptors
        /// It was silent longest when another one came at the limit.
        case madeRoom = "made_room"
    }

    let open: Gauge
    let refused: CaseFamily<Refusal, Counter>
    let waited: Counter
    /// Nil where nothing has a deadline.
    let timeouts: CaseFamily<ConnectionPhases.Phase, Counter>?

    init(_ registry: MetricsRegistry) {
        open = registry.gauge("dnp_telemetry_http_connections", help: "Connections that are open.")
        waited = registry.counter(
            "dnp_telemetry_http_connections_waited_total",
            help: "Connections that had to wait, because as many were open as may be."
        )
        refused = registry.counter(
            "dnp_telemetry_http_connections_refused_total",
            help: "Connections that were closed because there were too many, by reason.",
            label: "reason",
            of: Refusal.self
        )
        timeouts = registry.counter(
            "dnp_telemetry_http_timeouts_total",
            help: "Connections that were closed because the client was too slow, by what it was too slow with.",
            label: "phase",
            of: ConnectionPhases.Phase.self
        )
    }

    /// Those of the sockets of lines.
    init(ofLines registry: MetricsRegistry) {
        open = registry.gauge(
            "dnp_telemetry_lines_open_connections",
            help: "Connections to sockets of lines that are open."
        )
        waited = registry.counter(
            "dnp_telemetry_lines_connections_waited_total",
            help: "Connections to sockets of lines that had to wait, because as many were open as may be."
        )
        refused = registry.counter(
            "dnp_telemetry_lines_connections_refused_total",
            help: "Connections to sockets of lines that were closed because there were too many, by reason.",
            label: "reason",
            of: Refusal.self
        )
        timeouts = nil
    }
}
