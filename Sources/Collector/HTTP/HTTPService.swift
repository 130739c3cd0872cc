// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Hummingbird
internal import Logging
internal import MetricsRegistry
internal import NIOCore
internal import ServiceLifecycle

/// The HTTP side as a service.
struct HTTPService {
    let application: any Service

    init(
        configuration: ServeConfiguration,
        room: LedgerRoom,
        writer: GroupCommit<IngestProcessor>,
        registry: MetricsRegistry,
        readiness: Readiness,
        reload: ReloadRoute?,
        access: RequestSecurity,
        log: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) {
        let router = ServiceRouter.build(
            events: EventsRoute(
                configuration: configuration,
                key: room.key,
                identityKey: room.identityKey,
                writer: writer,
                budget: ByteBudget(bytes: configuration.maximumBytesInFlight),
                security: access,
                now: LedgerClock.system.now
            ),
            metrics: MetricsRoute(
                registry,
                maximumScrapes: { configuration.maximumScrapes },
                createdSamples: configuration.createdSamples
            ),
            metricsPath: configuration.metricsPath,
            readiness: readiness,
            reload: reload,
            access: access,
            registry
        )
        let (host, port) = configuration.address
        application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: .seconds(75))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                serverName: "dnp-telemetry",
                backlog: 1_024,
                availableConnectionsDelegate: CountedConnections(limit: configuration.maximumConnections, registry)
            ),
            onServerRunning: { channel in
                let shown = host.contains(":") ? "[\(host)]" : host
                onListening("http://\(shown):\(channel.localAddress?.port ?? port)")
            },
            logger: log
        )
    }
}

extension ServeConfiguration {
    /// The first address that is listened on.
    fileprivate var address: (host: String, port: Int) {
        for case .address(let host, let port) in listeners.map(\.endpoint) { return (host, port) }
        return ("127.0.0.1", 10910)
    }
}
