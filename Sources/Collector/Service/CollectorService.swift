// SPDX-License-Identifier: Apache-2.0

internal import CProgramPages
package import CoreMetrics
internal import EventLedger
internal import LedgerState
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The service: opens the ledger, recovers, listens, and stops cleanly on SIGTERM or SIGINT.
package enum CollectorService {
    /// Runs until a signal stops it.
    ///
    /// - Parameters:
    ///   - configuration: how to run.
    ///   - signals: the signals that the process gets meanwhile.
    ///   - reread: reads the configuration again, at each reload.
    ///   - log: the service's own log.
    ///   - level: the lowest level of that log, which a reload changes.
    ///   - report: called, before anything is counted, with the factory that puts the metrics of libraries on the
    ///     service's page; a program that runs one service hands it to `MetricsSystem.bootstrap(_:)`.
    ///   - announce: called once when it listens.
    /// - Throws: an error whose description says what the operator can do.
    package static func run(
        _ configuration: ServeConfiguration,
        signals: ServiceSignals,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        log: Logger,
        level: LiveLogHandler.Level,
        report: (any MetricsFactory) -> Void = { _ in },
        announce: @escaping @Sendable (StartScreen) -> Void
    ) async throws {
        let started = ClockReading(.system)
        let supervisor = Supervisor(log)
        do {
            supervisor.opening()
            let live = LiveConfiguration(configuration)
            let sockets = try ServiceSockets(configuration.listeners)
            signals.starting {
                sockets.removeFiles()
                log.notice("stopped before it was ready; what is in the ledger stays as it is")
            }
            var isRunning = false
            defer {
                if !isRunning { sockets.close() }
            }
            let storage = try RecoveredLedger(
                directory: configuration.stateDirectory,
                durability: configuration.durability,
                hasConsole: configuration.hasConsole,
                now: LedgerClock.system.now(),
                log,
                onProgress: supervisor.recovering
            )
            supervisor.opened()
            let pipeline = try ServicePipeline(live, storage: storage, started: started, log: log, report: report)
            let sources = try SourcesService(
                configuration,
                room: storage,
                writer: pipeline.writer,
                metrics: FollowMetrics(pipeline.registry),
                journalMetrics: JournalSourceMetrics(pipeline.registry),
                log: log
            )
            let opening = storage.opening
            let barrier = StartupBarrier { addresses in
                supervisor.ready()
                announce(StartScreen(configuration, addresses: addresses, opening: opening))
                // Of 40 MB of code that the start has touched the service goes on with half.
                _ = program_pages_release()
            }
            let listeners = try ServiceListeners(
                sockets,
                live,
                storage,
                pipeline,
                barrier,
                reread: reread,
                level: level,
                supervisor,
                log
            )
            var group = ServiceGroupConfiguration(
                services: services(pipeline, listeners, sources, supervisor, signals, log),
                logger: log
            )
            group.maximumGracefulShutdownDuration = .seconds(6)
            isRunning = true
            signals.started()
            try await ServiceGroup(configuration: group).run()
        } catch {
            supervisor.failed(error)
            throw error
        }
    }

    /// The parts in the order of their start. They stop in the reverse order, each after the one behind it has ended, within
    /// six seconds in all:
    ///
    /// 1. the service manager gets `STOPPING=1`;
    /// 2. `/-/ready` answers 503, so that load balancers send requests elsewhere;
    /// 3. sockets of lines, then files, the journal and standard input are read no further;
    /// 4. reloads end;
    /// 5. HTTP accepts nothing more and answers the requests under way;
    /// 6. the files of the security rules are watched no longer;
    /// 7. the destinations get the last metrics, within a second;
    /// 8. the journal's writer delivers for at most a second;
    /// 9. the ledger's queue is committed, the checkpoint saved and the ledger closed.
    ///
    /// What submits events thereby always ends before what takes them.
    private static func services(
        _ pipeline: ServicePipeline,
        _ listeners: ServiceListeners,
        _ sources: SourcesService,
        _ supervisor: Supervisor,
        _ signals: ServiceSignals,
        _ log: Logger
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        [
            .init(named: WriterService(writer: pipeline.writer, log: log)),
            .init(named: JournalService(output: pipeline.output)),
            .init(named: ExportService(pipeline: pipeline.exports)),
            .init(named: listeners.watch),
            .init(named: listeners.http, onFailure: .gracefullyShutdownGroup),
            .init(named: ReloadService(reloader: listeners.reloader, signals: signals)),
            .init(named: sources),
            .init(named: listeners.lines, onFailure: .gracefullyShutdownGroup),
            .init(named: ReadinessService(readiness: listeners.readiness)),
            .init(
                named: SupervisionService(supervisor: supervisor, writer: pipeline.writer, journal: pipeline.progress)
            ),
            .init(named: StopService(signals: signals), onSuccess: .gracefullyShutdownGroup),
        ]
    }
}

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// A service named by its type. By default its name would be a dump of all that it holds, made at each start.
    fileprivate init(
        named service: any Service,
        onSuccess: TerminationBehavior = .cancelGroup,
        onFailure: TerminationBehavior = .cancelGroup
    ) {
        self.init(
            service: service,
            successTerminationBehavior: onSuccess,
            failureTerminationBehavior: onFailure,
            serviceName: "\(type(of: service))"
        )
    }
}

/// The sockets of all listeners, bound before the ledger is opened.
private struct ServiceSockets: Sendable {
    /// How many files and sockets the process may have open.
    let descriptors: Int
    let all: [BoundListener]

    init(_ listeners: [Listener]) throws {
        descriptors = FileDescriptorLimit.raise()
        all = try ListeningSockets.open(listeners, inherited: try InheritedSocket.take())
    }

    /// Those whose listener answers HTTP.
    var http: [BoundListener] { all.filter { $0.listener.services != .lines } }
    /// Those that take lines.
    var lines: [BoundListener] { all.filter { $0.listener.services == .lines } }

    func removeFiles() {
        all.forEach { $0.file?.remove() }
    }

    func close() {
        all.forEach { $0.close() }
    }
}

/// What accepts connections: lines and HTTP, the rules of who may do what there, and the reloads.
private struct ServiceListeners {
    let lines: LinesService
    let http: HTTPService
    /// Watches the files of the security rules.
    let watch: SecurityWatch
    let reloader: Reloader
    let readiness = Readiness()

    init(
        _ sockets: ServiceSockets,
        _ live: LiveConfiguration,
        _ storage: RecoveredLedger,
        _ pipeline: ServicePipeline,
        _ barrier: StartupBarrier,
        reread: @escaping @Sendable () throws(ConfigurationProblems) -> ServeConfiguration,
        level: LiveLogHandler.Level,
        _ supervisor: Supervisor,
        _ log: Logger
    ) throws {
        let configuration = live.current
        let (registry, writer) = (pipeline.registry, pipeline.writer)
        let anonymous = AnonymousDevice(storage.identityKey, log)
        lines = LinesService(
            sockets.lines,
            live: live,
            descriptors: sockets.descriptors,
            room: storage,
            writer: writer,
            anonymous: anonymous,
            metrics: LinesMetrics(registry),
            log: log
        ) { barrier.begins(.lines, at: $0) }
        let metrics = SecurityMetrics(
            registry,
            hasWebConfiguration: configuration.webConfigurationFile != nil,
            hasTokens: configuration.credentialsDirectory != nil
        )
        watch = try SecurityWatch(configuration, metrics: metrics, log: log)
        let places = sockets.all.map { ListenerExposure.Place($0.listener.services, $0.place) }
        for warning in ListenerExposure.warnings(configuration, places, watch.rules.current) {
            log.warning("\(warning.message)")
        }
        reloader = Reloader(
            live,
            reread: watch.rereading(reread),
            level: level,
            supervisor,
            registry,
            now: LedgerClock.system.now,
            log: log,
            onChange: { writer.limit(waitingBytes: $0.maximumBacklog, commitTime: $0.maximumCommitTime) }
        )
        http = HTTPService(
            live: live,
            sockets: sockets.http,
            descriptors: sockets.descriptors,
            security: ConnectionSecurity(watch.rules, live, metrics: metrics.tls),
            room: storage,
            writer: writer,
            registry: registry,
            readiness: readiness,
            reload: configuration.hasReloadEndpoint ? ReloadRoute(reloader: reloader) : nil,
            console: try pipeline.console.map { [readiness] feed in
                let status = ServiceStatus(
                    live: live,
                    apps: configuration.apps,
                    readiness: readiness,
                    journal: pipeline.progress,
                    exports: pipeline.exports,
                    writer: writer,
                    startedAt: LedgerClock.system.now()
                )
                return try Console(
                    configuration,
                    handlers: ConsoleEndpoint.handlers(
                        feed,
                        status,
                        key: storage.key,
                        identityKey: storage.identityKey,
                        metrics: ConsoleMetrics(registry) { feed.live.openStreams }
                    )
                )
            },
            access: RequestSecurity(rules: watch.rules, configuration: live, metrics: metrics),
            anonymous: anonymous,
            log: log
        ) { barrier.begins(.http, at: $0) }
    }
}

/// Waits for all parts of the service that accept connections, each of which starts on its own, and calls back once.
final class StartupBarrier: Sendable {
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
