// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hummingbird
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// The HTTP side as a service: every listener, and what is answered there.
struct HTTPService: Service {
    private let listening: HTTPListening
    private let sockets: [BoundListener]
    private let onListening: @Sendable ([ListeningAddress]) -> Void

    /// - Parameters:
    ///   - sockets: the listeners; they are closed when the service ends.
    ///   - descriptors: how many files and sockets the process may have open.
    ///   - security: what stands between connections and HTTP.
    ///   - onListening: called once connections are accepted.
    init(
        live: LiveConfiguration,
        sockets: [BoundListener],
        descriptors: Int,
        security: ConnectionSecurity,
        room: LedgerRoom,
        writer: GroupCommit<IngestProcessor>,
        registry: MetricsRegistry,
        readiness: Readiness,
        reload: ReloadRoute?,
        access: RequestSecurity,
        log: Logger,
        onListening: @escaping @Sendable ([ListeningAddress]) -> Void
    ) {
        let configuration = live.current
        let paths = ServedPaths(metricsPath: configuration.metricsPath, hasReload: reload != nil)
        let answers = HTTPMetrics(registry, routes: paths.all)
        let router = ServiceRouter.build(
            events: EventsRoute(
                live: live,
                key: room.key,
                identityKey: room.identityKey,
                writer: writer,
                budget: ByteBudget(),
                security: access,
                now: LedgerClock.system.now
            ),
            metrics: MetricsRoute(
                registry,
                maximumScrapes: { live.current.maximumScrapes },
                createdSamples: configuration.createdSamples
            ),
            paths: paths,
            readiness: readiness,
            reload: reload,
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

/// The parts of the service that accept connections, each of which begins by itself: tells once when all of them have.
final class AllListening: Sendable {
    enum Part: CaseIterable {
        case http, lines
    }

    private let begun = Mutex<[Part: [ListeningAddress]]>([:])
    private let whenAll: @Sendable ([ListeningAddress]) -> Void

    /// - Parameter whenAll: called with where the service listens, in the order of the parts.
    init(whenAll: @escaping @Sendable ([ListeningAddress]) -> Void) {
        self.whenAll = whenAll
    }

    /// A part accepts connections at these addresses.
    func begins(_ part: Part, at addresses: [ListeningAddress]) {
        let all = begun.withLock { begun -> [ListeningAddress]? in
            guard begun[part] == nil else { return nil }
            begun[part] = addresses
            guard begun.count == Part.allCases.count else { return nil }
            return Part.allCases.flatMap { begun[$0] ?? [] }
        }
        if let all { whenAll(all) }
    }
}
