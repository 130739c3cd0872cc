// SPDX-License-Identifier: Apache-2.0

internal import ConsoleAssets
internal import EventLedger
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import TelemetryEvents

/// The console: its pages, and the endpoints of its API.
struct Console: Sendable {
    private let pages: ConsolePages
    private let handlers: [ConsoleEndpoint: ConsoleEndpoint.Handler]

    /// - Parameter handlers: what answers the endpoints that read the index and the service's state.
    init(
        _ configuration: ServeConfiguration,
        handlers: [ConsoleEndpoint: ConsoleEndpoint.Handler] = [:]
    ) throws(ConsoleSite.Flaw) {
        pages = ConsolePages(try ConsoleSite(ConsoleAsset.all), metricsPath: configuration.metricsPath)
        self.handlers = handlers
    }

    /// Every path that it answers.
    var routes: [ServedRoute] {
        ConsolePage.routes + ConsoleEndpoint.allCases.filter { handlers[$0] != nil }.map(\.route)
    }

    /// Registers all of them.
    func add(to router: Router<ServiceContext>) {
        pages.add(to: router)
        for (endpoint, handler) in handlers {
            router.on(RouterPath(endpoint.path), method: endpoint.method, use: handler)
        }
    }
}

extension ConsoleEndpoint {
    /// What answers the endpoints.
    static func handlers(
        _ feed: ConsoleFeed,
        _ status: ServiceStatus,
        key: InstallationKey,
        identityKey: IdentityKey,
        metrics: ConsoleMetrics
    ) -> [ConsoleEndpoint: Handler] {
        let cycles = CyclesRoute(feed: feed, reader: status.writer.ledger.reader, key: key, identityKey: identityKey)
        let overview = OverviewRoute(feed: feed, status: status, clock: .system)
        let live = LiveRoute(feed: feed, readiness: status.readiness, key: key)
        let health = HealthRoute(feed: feed, status: status)
        let pseudonym = PseudonymRoute(key: key)
        let validate = ValidateRoute(live: status.live, metrics: metrics)
        let openAPI = ConditionalResponse(json: ConsoleAsset.openAPI)
        return [
            .overview: { request, _ in try overview.respond(to: request) },
            .cycles: { request, _ in try await cycles.list(request) },
            .cycle: { request, context in try await cycles.cycle(context.parameters.get("number"), request) },
            .filters: { request, _ in try cycles.filters(request) },
            .live: { request, context in try live.respond(to: request, while: context.stillAllowed) },
            .health: { request, _ in try await health.respond(to: request) },
            .pseudonym: { request, _ in try await pseudonym.respond(to: request) },
            .validate: { request, _ in try await validate.respond(to: request) },
            .openAPI: { request, _ in openAPI.response(to: request) },
        ]
    }
}
