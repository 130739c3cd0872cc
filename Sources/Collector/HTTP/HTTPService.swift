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
                now: LedgerClock.system.now
            ),
            metrics: MetricsRoute(
                registry,
                maximumScrapes: configuration.maximumScrapes,
                createdSamples: configuration.createdSamples
            ),
            metricsPath: configuration.metricsPath,
            readiness: readiness,
            registry
        )
        let host = configuration.host
        application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: .seconds(75))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: configuration.port),
                serverName: "dnp-telemetry",
                backlog: 1_024,
                availableConnectionsDelegate: CountedConnections(limit: configuration.maximumConnections, registry)
            ),
            onServerRunning: { channel in
                let shown = host.contains(":") ? "[\(host)]" : host
                onListening("http://\(shown):\(channel.localAddress?.port ?? configuration.port)")
            },
            logger: log
        )
    }
}
