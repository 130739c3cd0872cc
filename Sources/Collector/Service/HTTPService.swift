// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import HTTPTypes
internal import Hummingbird
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import PrefetchLifecycle
internal import ServiceLifecycle

/// The HTTP server: its listeners and its routes.
struct HTTPService: Service {
    private let listening: HTTPListening
    private let sockets: [BoundListener]
    private let onListening: @Sendable ([ListeningAddress]) -> Void

    /// - Parameters:
    ///   - sockets: the listeners; they are closed when the service ends.
    ///   - descriptors: how many files and sockets the process may have open.
    ///   - security: TLS and the checks of a connection before HTTP.
    ///   - console: nil where it is off.
    ///   - onListening: called once connections are accepted.
    init(
        live: LiveConfiguration,
        sockets: [BoundListener],
        descriptors: Int,
        security: ConnectionSecurity,
        room: RecoveredLedger,
        writer: GroupCommit<IngestProcessor>,
        registry: MetricsRegistry,
        readiness: Readiness,
        reload: ReloadRoute?,
        console: Console?,
        access: RequestSecurity,
        anonymous: AnonymousDevice,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        let configuration = live.current
        let paths = ServedPaths(
            metricsPath: configuration.metricsPath,
            hasReload: reload != nil,
            console: console?.routes ?? []
        )
        let answers = HTTPMetrics(registry, routes: paths.routes.map(\.path))
        let router = ServiceRouter.build(
            events: EventsRoute(
                live: live,
                key: room.key,
                identityKey: room.identityKey,
                writer: writer,
                budget: ByteBudget(),
                security: access,
                anonymous: anonymous,
                looksBack: room.projection.fold.remembersEarlierIdentities,
                now: LedgerClock.system.now
            ),
            metrics: MetricsRoute(
                registry,
                limits: { ScrapeSlots.Limits(live.current) },
                createdSamples: configuration.createdSamples
            ),
            paths: paths,
            readiness: readiness,
            reload: reload,
            console: console,
            access: access,
            answers: answers
        )
        let headers = ServerHeaders(rules: access.rules)
        self.sockets = sockets
        self.onListening = onListening
        listening = HTTPListening(
            responder: ServiceResponder(router.buildResponder(), headers: headers, log: log),
            table: ConnectionTable(live, ConnectionMetrics(registry), descriptors: descriptors),
            live: live,
            security: security,
            headers: headers,
            answers: answers,
            served: paths,
            log: log
        )
    }

    func run() async throws {
        let servers = try await listening.start(sockets)
        let scheme = listening.security.scheme
        onListening(sockets.map { ListeningAddress(place: $0.place, services: $0.listener.services, scheme: scheme) })
        defer {
            for socket in sockets { socket.file?.remove() }
        }
        try await listening.serve(servers)
    }
}

/// The routes of every path that the service serves.
private enum ServiceRouter {
    static func build(
        events: EventsRoute,
        metrics: MetricsRoute,
        paths: ServedPaths,
        readiness: Readiness,
        reload: ReloadRoute?,
        console: Console?,
        access: RequestSecurity,
        answers: HTTPMetrics
    ) -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: CrossOriginMiddleware(configuration: access.configuration, eventsPath: "/v1/events"))
        router.add(middleware: ConsoleHeadersMiddleware(served: paths))
        router.add(middleware: ProblemMiddleware(metrics: answers, served: paths))
        router.add(middleware: ServedPathsMiddleware(served: paths))
        router.add(middleware: AccessMiddleware(security: access, served: paths))
        router.post("/v1/events") { request, context in
            try await events.respond(to: request, token: context.token)
        }
        if let reload { router.post("/-/reload") { request, _ in try await reload.respond(to: request) } }
        router.get(RouterPath(paths.metricsPath)) { request, context in
            try await metrics.respond(to: request, over: context.connection)
        }
        console?.add(to: router)
        for route in paths.routes {
            router.on(RouterPath(route.path), method: .options) { _, _ in
                Response(status: .noContent, headers: [.allow: route.methods])
            }
        }
        router.get("/-/healthy") { _, _ in plain(.ok, "dnp-telemetry is alive.\n") }
        router.get("/-/ready") { _, _ in
            readiness.isReady
                ? plain(.ok, "dnp-telemetry is ready.\n") : plain(.serviceUnavailable, "dnp-telemetry is stopping.\n")
        }
        return router
    }

    private static func plain(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }
}

/// Ends the readiness before anything else stops, so that load balancers send requests elsewhere while those under way are
/// still answered.
struct ReadinessService: Service {
    let readiness: Readiness

    func run() async throws {
        try? await gracefulShutdown()
        readiness.stop()
    }
}
