// SPDX-License-Identifier: Apache-2.0

internal import HummingbirdCore
internal import MetricsRegistry

/// Counts open connections and stops accepting at the limit; waiting clients stay in the listener's backlog.
struct CountedConnections: AvailableConnectionsDelegate {
    private let limit: Int
    private let gauge: Gauge
    private var open = 0

    init(limit: Int, _ registry: MetricsRegistry) {
        self.limit = limit
        gauge = registry.gauge("dnp_telemetry_http_connections", help: "Connections that are open.")
    }

    mutating func connectionOpened() {
        open += 1
        gauge.set(open)
    }

    mutating func connectionClosed() {
        open -= 1
        gauge.set(open)
    }

    func isAcceptingNewConnections() -> Bool { open < limit }
}
