// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import MetricsRegistry

/// Counts requests by route and status, and timeouts by phase.
struct HTTPMetrics: Sendable {
    private let routes: Set<String>
    private let requests: CounterFamily
    /// By what the client was too slow with.
    private let timeouts: CaseFamily<ConnectionPhases.Phase, Counter>
    private let evicted: CaseFamily<ConnectionPhases.Transfer, Counter>
    private let shed: Counter

    /// - Parameter routes: the paths that get a label of their own; all others are `other`.
    init(_ registry: MetricsRegistry, routes: [String]) {
        self.routes = Set(routes)
        requests = registry.counter(
            "dnp_telemetry_http_requests_total",
            help: "Requests answered, by route and status.",
            labels: ["route", "status"]
        )
        timeouts = registry.counter(
            "dnp_telemetry_http_timeouts_total",
            help: "Connections that were closed because the client was too slow, by what it was too slow with.",
            label: "phase",
            of: ConnectionPhases.Phase.self
        )
        evicted = registry.counter(
            "dnp_telemetry_http_requests_evicted_total",
            help: "Requests whose client stalled while other connections waited for a place, by what it stalled.",
            label: "phase",
            of: ConnectionPhases.Transfer.self
        )
        shed = registry.counter(
            "dnp_telemetry_http_requests_shed_total",
            help: "Requests that were refused because no connection within the limit closed in time."
        )
        for route in routes { _ = requests.with(route, "200") }
    }

    /// - Parameter route: the path as registered in the router; nil if none matches.
    func count(route: String?, status: Int) {
        let route = route.flatMap { routes.contains($0) ? $0 : nil } ?? "other"
        requests.with(route, String(status)).add()
    }

    func count(_ event: ConnectionEvent) {
        switch event {
        case .refused(let problem): count(route: nil, status: problem.status.code)
        case .timedOut(let phase): timeouts[phase].add()
        case .evicted(let transfer): evicted[transfer].add()
        case .shed: shed.add()
        }
    }
}

/// What a connection's handler does by itself.
enum ConnectionEvent: Sendable {
    /// It answered in place of the service.
    case refused(Problem)
    /// The client missed a deadline.
    case timedOut(ConnectionPhases.Phase)
    /// The client stalled while others waited.
    case evicted(ConnectionPhases.Transfer)
    /// No place became free for the request.
    case shed
}

extension ConnectionMetrics {
    /// The metrics of HTTP connections.
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
    }
}
