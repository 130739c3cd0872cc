// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// How the sockets of lines are used, since this start.
struct LinesMetrics: Sendable {
    let atTheLimit: ConnectionMetrics
    let connections: Counter
    let stalled: Counter

    init(_ registry: MetricsRegistry) {
        atTheLimit = ConnectionMetrics(ofLines: registry)
        connections = registry.counter(
            "dnp_telemetry_lines_connections_total",
            help: "Connections to sockets of lines that were accepted."
        )
        stalled = registry.counter(
            "dnp_telemetry_lines_stalled_total",
            help: "Connections to sockets of lines that were closed because the client took no answers."
        )
    }
}
