// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry

/// What the HTTP side tells about itself.
struct HTTPMetrics: Sendable {
    private let routes: Set<String>
    private let requests: CounterFamily

    /// - Parameter routes: the paths that are told apart.
    init(_ registry: MetricsRegistry, routes: [String]) {
        self.routes = Set(routes)
        requests = registry.counter(
            "dnp_telemetry_http_requests_total",
            help: "Requests answered, by route and status.",
            labels: ["route", "status"]
        )
        for route in routes { _ = requests.with(route, "200") }
    }

    /// - Parameter route: the path that was asked for, as it stands in the router; nil where there is none.
    func count(route: String?, status: Int) {
        let route = route.flatMap { routes.contains($0) ? $0 : nil } ?? "other"
        requests.with(route, String(status)).add()
    }
}
