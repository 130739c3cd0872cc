// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import PrefetchLifecycle
internal import ServiceLifecycle
internal import TelemetryEvents

/// Runs the sources that are read continuously: followed files, the journal and standard input.
struct SourcesService: Service {
    private let configuration: ServeConfiguration
    private let writer: GroupCommit<IngestProcessor>
    private let identityKey: IdentityKey
    private let key: InstallationKey
    private let log: Logger
    private let files: [File]
    private let journal: Journal?
    private let threads: NIOThreadPool
    private let stop = SourceStop()

    private struct File: Sendable {
        let source: FollowedSource
        let decoder: LogDecoder
        /// Whether the ledger has a position of it.
        let isPlaced: Bool
    }

    private struct Journal: Sendable {
        let source: FollowedJournal
        let decoder: LogDecoder
        let isPlaced: Bool
    }

    /// - Throws: `CollectorError` if a file can never be followed, or the permission to read the journal is missing.
    init(
        _ configuration: ServeConfiguration,
        room: RecoveredLedger,
        writer: GroupCommit<IngestProcessor>,
        metrics: FollowMetrics,
        journalMetrics: JournalSourceMetrics,
        log: Logger
    ) throws(CollectorError) {
        self.configuration = configuration
        self.writer = writer
        self.log = log
        key = room.key
        identityKey = room.identityKey
        let count = configuration.followedFiles.count + (configuration.readsStandardInput ? 1 : 0)
        threads = NIOThreadPool(numberOfThreads: min(max(count, 1), 16))
        if let problem = FollowedFiles.twice(configuration.followedFiles.map(\.path)) {
            throw CollectorError("\(problem)")
        }
        let followed = FollowedFiles(configuration.followedFiles.map(\.path))
        var files: [File] = []
        for file in configuration.followedFiles {
            let path = file.path
            switch FileAccess.look(path) {
            case .refused(let problem) where problem.isPermanent: throw CollectorError("\(problem)")
            case .absent: log.notice("a followed file is not there yet; waiting for it", metadata: ["file": "\(path)"])
            case .file, .refused: break
            }
            let saved = room.projection.sources.position(of: FollowedSource.source(path, room.key))
            let series = metrics.series(of: path)
            let place = saved.flatMap { FilePosition.decode($0) }
            if saved != nil, place == nil { Self.reportUnreadable(path, series, log) }
            let source = FollowedSource(
                path: path,
                position: place?.position,
                pseudonyms: room.key,
                threads: threads,
                followed: followed,
                metrics: series,
                log: log
            )
            var options = configuration.logOptions(ofSource: path, room.key)
            if let id = file.installation { options.installation = room.key.pseudonym(of: Array(id.utf8).span) }
            let decoder = LogDecoder.resumed(place?.state, options, room, series.gaps, log, path)
            files.append(File(source: source, decoder: decoder, isPlaced: place != nil))
        }
        self.files = files
        journal =
            configuration.followedJournal.isEmpty
            ? nil : try Self.journal(configuration, room, journalMetrics, log)
    }

    private static func journal(
        _ configuration: ServeConfiguration,
        _ room: RecoveredLedger,
        _ metrics: JournalSourceMetrics,
        _ log: Logger
    ) throws(CollectorError) -> Journal {
        let matches: [JournalMatch]
        do throws(JournalMatchError) {
            matches = try JournalMatch.condition(configuration.followedJournal)
        } catch {
            throw CollectorError("cannot follow the journal: \(error)")
        }
        if let problem = FollowedJournal.refusal(.machine) {
            throw CollectorError("cannot follow the journal: \(problem)")
        }
        let saved = room.projection.sources.position(of: FollowedJournal.source(room.key))
        let place = saved.flatMap { JournalPosition.decode($0) }
        if saved != nil, place == nil {
            metrics.gaps.add()
            log.warning(
                """
                the position in the followed journal is invalid, so that reading starts at its end: entries logged since \
                the last stop are not read; no action is needed
                """
            )
        }
        let source = FollowedJournal(
            .machine,
            matches: matches,
            position: place?.position,
            pseudonyms: room.key,
            deviceField: configuration.followedJournalDevice.flatMap { try? JournalField(reading: $0) },
            metrics: metrics,
            log: log
        )
        let name = JournalPosition.sourceName
        let options = configuration.logOptions(ofSource: name, room.key)
        let decoder = LogDecoder.resumed(place?.state, options, room, metrics.gaps, log, name)
        return Journal(source: source, decoder: decoder, isPlaced: place != nil)
    }

    private static func reportUnreadable(_ path: String, _ metrics: FollowMetrics.Series, _ log: Logger) {
        metrics.gaps.add()
        log.warning(
            """
            the position in a followed file is invalid, so that reading starts at its beginning: its lines count again, \
            and the unread rest of a file that was rotated meanwhile is lost; no action is needed
            """,
            metadata: ["file": "\(path)"]
        )
    }

    func run() async throws {
        threads.start()
        let watch = DirectoryWatch(files.map(\.source.path)) { [files] in files[$0].source.wake() }
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                if !files.isEmpty { group.addTask { await Self.watch(watch) } }
                for file in files {
                    let name = FollowedSource.source(file.source.path, key)
                    let intake: LogIntake<FilePosition> = intake(
                        file.decoder,
                        .file,
                        name,
                        isPlaced: file.isPlaced,
                        of: .file(file.source.path)
                    )
                    group.addTask { [stop] in await file.source.run(intake, stop: stop) }
                }
                if let journal {
                    let name = FollowedJournal.source(key)
                    let intake: LogIntake<JournalPosition> = intake(
                        journal.decoder,
                        .journal,
                        name,
                        isPlaced: journal.isPlaced,
                        of: .journal
                    )
                    group.addTask { [stop] in await journal.source.run(intake, stop: stop) }
                }
                if configuration.readsStandardInput {
                    let decoder = LogDecoder(
                        configuration.logOptions(ofSource: "standard input", key),
                        pseudonyms: key,
                        identityKey: identityKey
                    )
                    let intake: LogIntake<FilePosition> = intake(
                        decoder,
                        .stdin,
                        0,
                        isPlaced: true,
                        of: .standardInput
                    )
                    let input = StandardInputSource(threads: threads, log: log)
                    group.addTask { [stop] in await input.run(intake, stop: stop) }
                }
                group.addTask { try? await gracefulShutdown() }
            }
        } onGracefulShutdown: { [stop, files] in
            stop.request()
            watch.stop()
            for file in files { file.source.wake() }
        }
        try? await threads.shutdownGracefully()
    }

    private func intake<Place: SourcePlace>(
        _ decoder: LogDecoder,
        _ source: EventSource,
        _ name: UInt64,
        isPlaced: Bool,
        of sender: LineSender
    ) -> LogIntake<Place> {
        LogIntake(
            decoder,
            origin: EventOrigin(source, .log),
            source: name,
            isPlaced: isPlaced,
            writer: writer,
            stop: stop
        ) { [log] doubts in log.warning("\(sender.sentence(doubts))") }
    }

    private static func watch(_ watch: DirectoryWatch) async {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        try? await thread.runIfActive { watch.run() }
        try? await thread.shutdownGracefully()
    }
}

extension LogDecoder {
    /// A decoder with a saved state, or a new one where the state is invalid.
    fileprivate static func resumed(
        _ state: [UInt8]?,
        _ options: LogDecoderOptions,
        _ room: RecoveredLedger,
        _ gaps: Counter,
        _ log: Logger,
        _ source: String
    ) -> LogDecoder {
        if let state {
            do throws(LogStateError) {
                var decoder = try LogDecoder(
                    restoring: state,
                    options,
                    pseudonyms: room.key,
                    identityKey: room.identityKey
                )
                if decoder.isOfAnonymousSource {
                    let now = Timestamp(microseconds: LedgerClock.system.now())
                    decoder.carry(room.projection.fold.cyclesWithoutInstallation(now: now))
                }
                return decoder
            } catch {
                gaps.add()
                log.warning(
                    """
                    the saved state of a followed log's decoder is invalid (\(error)): events of cycles that began before \
                    may be lost; no action is needed
                    """,
                    metadata: ["source": "\(source)"]
                )
            }
        }
        return LogDecoder(options, pseudonyms: room.key, identityKey: room.identityKey)
    }
}
