// SPDX-License-Identifier: Apache-2.0

internal import ConsoleAssets
internal import HTTPTypes
internal import Hummingbird

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
