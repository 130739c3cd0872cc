// SPDX-License-Identifier: Apache-2.0

package import CoreMetrics
internal import EventLedger
internal import Hummingbird
internal import LedgerState
package import Logging
internal import MetricsRegistry
internal import NIOCore
internal import RuntimeMetrics
internal import ServiceLifecycle
internal import TextOutput

/// The service: opens the ledger, recovers, listens, and stops cleanly on SIGTERM or SIGINT.
///
/// It stops in the reverse order: nothing more read of sockets of lines, files, the journal and standard input, no new
/// requests and those under way answered, the journal given what it takes in one second, then the ledger's queue
/// committed, the checkpoint saved and the ledger closed.
package enum CollectorService {
    /// Runs until it is told to stop.
    ///
    /// - Parameters:
    ///   - configuration: how to run.
    ///   - signals: what the process is told meanwhile.
    ///   - reread: reads the configuration again, at each reload.
    ///   - log: the service's own log.
    ///   - level: the lowest level of that log, which a reload changes.
    ///   - report: given, before anything is counted, what puts the metrics of libraries on the service's page; a program
    ///     that runs one service hands it to `MetricsSystem.bootstrap(_:)`.
    ///   - announce: called once when it listens.
    /// - Throws: an error whose description tells the operator what to do.
    package static func run(
        _ configuration: ServeConfiguration,
        signals: ServiceSignals,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        log: Logger,
        level: LiveLogHandler.Level,
        report: (any MetricsFactory) -> Void = { _ in },
        announce: @escaping @Sendable (StartScreen) -> Void
    ) async throws {
        let supervisor = Supervisor(log)
        do {
            try await run(
                configuration,
                signals: signals,
                reread: reread,
                log: log,
                level: level,
                supervisor,
                report: report,
                announce: announce
            )
        } catch {
            supervisor.failed(error)
            throw error
        }
    }

    private static func run(
        _ configuration: ServeConfiguration,
        signals: ServiceSignals,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        log: Logger,
        level: LiveLogHandler.Level,
        _ supervisor: Supervisor,
        report: (any MetricsFactory) -> Void,
        announce: @escaping @Sendable (StartScreen) -> Void
    ) async throws {
        let clock = LedgerClock.system
        supervisor.opening()
        let live = LiveConfiguration(configuration)
        let descriptors = FileDescriptorLimit.raise()
        let sockets = try ListeningSockets.open(configuration.listeners, inherited: try InheritedSocket.take())
        signals.starting {
            sockets.forEach { $0.file?.remove() }
            log.notice("stopped before it was ready; what is in the ledger stays as it is")
        }
        var isListening = false
        defer {
            if !isListening { sockets.forEach { $0.close() } }
        }
        let room = try LedgerRoom(
            directory: configuration.stateDirectory,
            durability: configuration.durability,
            now: clock.now(),
            log,
            onProgress: supervisor.recovering
        )
        supervisor.opened()
        let ledger = room.ledger
        let registry = MetricsRegistry(now: clock.now) { log.warning("\($0)") }
        report(RegistryMetricsFactory(registry, options: LibraryMetrics.options))
        let progress = configuration.journal == .off ? nil : try JournalProgress.resume(ledger)
        let output: JournalOutput =
            switch (configuration.journal, progress) {
            case (.journald, let progress?):
                try .journald(
                    ledger,
                    progress,
                    key: room.identityKey,
                    directory: configuration.stateDirectory,
                    socket: configuration.journalSocket,
                    log: log
                )
            case (.stdout, let progress?): .standardOutput(StandardOutputJournal(ledger.reader, progress))
            default: .off
            }
        let ledgerMetrics = LedgerMetrics(registry, wasSetAside: room.opening.isSetAside)
        let metrics = ProjectionMetrics(
            registry,
            created: ledger.createdAt,
            journal: progress,
            labels: configuration.labels
        )
        let processor = IngestProcessor(
            room.projection,
            retention: LedgerRetention(journal: progress, keepSeconds: { live.current.retentionSeconds }),
            metrics: metrics,
            log: log
        ) { position in
            progress?.committed(position.sequence, at: clock.now())
            progress?.passed(cursor: output.cursor)
            output.wake()
        }
        let writer = try GroupCommit(
            ledger: ledger,
            processor: processor,
            limits: GroupCommitLimits(
                waitingBytes: configuration.maximumBacklog,
                commitTime: configuration.maximumCommitTime
            ),
            clock: clock,
            tickInterval: .seconds(1),
            observe: { ledgerMetrics.observe($0) }
        )
        collectAtScrape(registry, configuration, ledgerMetrics, writer, output, progress)

        let sources = try SourcesService(
            configuration,
            room: room,
            writer: writer,
            metrics: FollowMetrics(registry),
            journalMetrics: JournalSourceMetrics(registry),
            log: log
        )
        let listening = AllListening { addresses in
            supervisor.ready()
            announce(
                StartScreen(
                    addresses: addresses,
                    ledger: configuration.stateDirectory + "/ledger.sqlite",
                    opening: room.opening,
                    journal: journalDescription(configuration),
                    durability: configuration.durability,
                    metricsPath: configuration.metricsPath,
                    followedFiles: configuration.followedFiles,
                    followedJournal: configuration.followedJournal,
                    readsStandardInput: configuration.readsStandardInput
                )
            )
        }
        let lines = LinesService(
            sockets.filter { $0.listener.services == .lines },
            live: live,
            descriptors: descriptors,
            room: room,
            writer: writer,
            metrics: LinesMetrics(registry),
            log: log
        ) { listening.begins(.lines, at: $0) }
        let readiness = Readiness()
        let securityMetrics = SecurityMetrics(
            registry,
            hasWebConfiguration: configuration.webConfigurationFile != nil,
            hasTokens: configuration.credentialsDirectory != nil
        )
        let watch = try SecurityWatch(configuration, metrics: securityMetrics, log: log)
        let places = sockets.map { ReloadExposure.Place($0.listener.services, $0.place) }
        if let warning = ReloadExposure.warning(configuration, places, watch.rules.current) {
            log.warning("\(warning)")
        }
        let reloader = Reloader(
            live,
            reread: watch.rereading(reread),
            level: level,
            supervisor,
            registry,
            now: clock.now,
            log: log,
            onChange: { writer.limit(waitingBytes: $0.maximumBacklog, commitTime: $0.maximumCommitTime) }
        )
        let http = HTTPService(
            live: live,
            sockets: sockets.filter { $0.listener.services != .lines },
            descriptors: descriptors,
            security: ConnectionSecurity(watch.rules, live, metrics: securityMetrics.tls),
            room: room,
            writer: writer,
            registry: registry,
            readiness: readiness,
            reload: configuration.hasReloadEndpoint ? ReloadRoute(reloader: reloader) : nil,
            access: RequestSecurity(rules: watch.rules, configuration: live, metrics: securityMetrics),
            log: log
        ) { listening.begins(.http, at: $0) }
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: WriterService(writer: writer, ledger: ledger, log: log)),
                .init(service: JournalService(output: output)),
                .init(service: watch),
                .init(service: http, failureTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: ReloadService(reloader: reloader, signals: signals)),
                .init(service: sources),
                .init(service: lines, failureTerminationBehavior: .gracefullyShutdownGroup),
                .init(service: ReadinessService(readiness: readiness)),
                .init(service: SupervisionService(supervisor: supervisor, writer: writer, journal: progress)),
                .init(service: StopService(signals: signals), successTerminationBehavior: .gracefullyShutdownGroup),
            ],
            logger: log
        )
        group.maximumGracefulShutdownDuration = .seconds(6)
        isListening = true
        signals.started()
        try await ServiceGroup(configuration: group).run()
    }

    private static func collectAtScrape(
        _ registry: MetricsRegistry,
        _ configuration: ServeConfiguration,
        _ ledgerMetrics: LedgerMetrics,
        _ writer: GroupCommit<IngestProcessor>,
        _ output: JournalOutput,
        _ progress: JournalProgress?
    ) {
        ProcessCollector.add(to: registry)
        SwiftRuntimeCollector.add(to: registry)
        let journal = progress.map { _ in JournalMetrics(registry) }
        registry.gauge(
            "dnp_telemetry_build_info",
            help: "1, with the version of this build as a label.",
            labels: ["version"]
        ).with(BuildVersion.current).set(1)
        registry.collector("ledger") { ledgerMetrics.collect(try writer.ledger.reader.statistics()) }
        registry.onCollect {
            ledgerMetrics.collect(writer.statistics)
            if let journal, let progress {
                journal.collect(output.statistics, lagMicroseconds: progress.lag(now: LedgerClock.system.now()))
            }
        }
    }

    private static func journalDescription(_ configuration: ServeConfiguration) -> String {
        switch configuration.journal {
        case .off: "off"
        case .stdout: "standard output, as JSON lines"
        case .journald:
            JournalOutput.exists(configuration.journalSocket)
                ? "journald (journalctl -t dnp-telemetry -o cat -f)"
                : "journald is absent: nothing listens at \(configuration.journalSocket); events wait in the ledger"
        }
    }
}

extension LedgerOpening {
    var isSetAside: Bool {
        if case .setAside = self { true } else { false }
    }
}
