// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import EventLedger
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import RuntimeMetrics
internal import ServiceLifecycle
internal import TextOutput

/// The way of an accepted batch: the ledger's writer, the fold that runs with each commit, the metrics and the journal.
struct ServicePipeline {
    let registry: MetricsRegistry
    let writer: GroupCommit<IngestProcessor>
    /// How far the journal is; nil where none is written.
    let progress: DeliveryProgress?
    let output: JournalOutput
    /// What goes to other systems.
    let exports: ExportPipeline
    /// What the console shows; nil where it is off.
    let console: ConsoleFeed?

    /// - Parameters:
    ///   - storage: the opened ledger, with what recovery folded from it.
    ///   - started: both clocks when the service began.
    ///   - report: called before anything is counted, with the factory that puts the metrics of libraries on the
    ///     service's page.
    init(
        _ live: LiveConfiguration,
        storage: RecoveredLedger,
        started: ClockReading,
        log: Logger,
        report: (any MetricsFactory) -> Void
    ) throws {
        let configuration = live.current
        let clock = LedgerClock.system
        let ledger = storage.ledger
        try ledger.keepRoom(checkpointBytes: storage.projection.checkpointBytes)
        registry = MetricsRegistry(now: clock.now) { log.warning("\($0)") }
        report(RegistryMetricsFactory(registry, options: LibraryMetrics.options))
        let progress =
            configuration.journal == .off
            ? nil : try DeliveryProgress.resume(ledger, upTo: storage.projection.position)
        let output = try JournalOutput(configuration, ledger, progress, key: storage.identityKey, log: log)
        let exports = try ExportPipeline(
            configuration,
            ledger,
            upTo: storage.projection.position,
            registry,
            key: storage.identityKey,
            now: clock.now,
            log: log
        )
        let ledgerMetrics = LedgerMetrics(registry, wasSetAside: storage.opening.isSetAside)
        console = storage.projection.index == nil ? nil : ConsoleFeed(after: storage.ledger.position.sequence)
        let processor = IngestProcessor(
            storage.projection,
            recovery: storage.recovery,
            retention: LedgerRetention(
                journal: progress,
                destinations: WaitingDestinations(
                    progresses: exports.progresses,
                    limit: { live.current.exportBacklog }
                ),
                keepSeconds: { live.current.retentionSeconds }
            ),
            metrics: ProjectionMetrics(
                registry,
                created: ledger.createdAt,
                journal: progress,
                labels: configuration.labels,
                apps: configuration.apps
            ),
            log: log,
            watch: ClockWatch(lastRow: storage.projection.lastRow),
            started: started,
            console: console
        ) { position in
            progress?.committed(position.sequence)
            progress?.passed(cursor: output.cursor)
            output.wake()
            exports.committed(position.sequence)
        }
        writer = try GroupCommit(
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
        self.progress = progress
        self.output = output
        self.exports = exports
        collectAtScrape(ledgerMetrics)
    }

    /// Registers what is read only when a scrape comes.
    private func collectAtScrape(_ ledgerMetrics: LedgerMetrics) {
        ProcessCollector.add(to: registry)
        SwiftRuntimeCollector.add(to: registry)
        let journal = progress.map { _ in JournalMetrics(registry) }
        let lives = LedgerLifeMetrics(registry)
        registry.gauge(
            "dnp_telemetry_build_info",
            help: "1, with the version of this build as a label.",
            labels: ["version"]
        ).with(BuildVersion.current).set(1)
        registry.collector("ledger") { [writer] in
            if let room = writer.ledger.room { ledgerMetrics.collect(room) }
            ledgerMetrics.collect(try writer.ledger.reader.statistics())
        }
        registry.onCollect { [writer, output] in
            ledgerMetrics.collect(writer.statistics)
            lives.collect(writer.ledger)
            journal?.collect(output.statistics)
        }
    }
}

extension LedgerOpening {
    var isSetAside: Bool {
        if case .setAside = self { true } else { false }
    }
}

/// Stops the ledger's writer once nothing submits to it any more, and closes the ledger.
struct WriterService: Service {
    let writer: GroupCommit<IngestProcessor>
    let log: Logger

    func run() async throws {
        try? await gracefulShutdown()
        let abandoned = await writer.stop(within: .seconds(2))
        if abandoned > 0 {
            log.warning("requests were abandoned without an answer", metadata: ["count": "\(abandoned)"])
        }
        try writer.ledger.close()
        log.info("stopped; the ledger is closed")
    }
}

/// Stops the journal's writer once no request commits any more.
struct JournalService: Service {
    let output: JournalOutput

    func run() async throws {
        try? await gracefulShutdown()
        await output.stop(within: .seconds(1))
    }
}
