// SPDX-License-Identifier: Apache-2.0

package import CycleIndex
package import EventLedger
import Journald
import Logging
package import MetricsRegistry
package import PrefetchLifecycle
import TelemetryEvents
package import TestSupport
import Testing

@testable package import Collector
@testable package import LedgerState
@testable package import LifecycleMetrics

/// The way from the decoder's result to the ledger, the page and, where one is given, the journal, without HTTP.
package final class Pipeline: Sendable {
    package let ledger: EventLedger
    package let clock: ManualClock
    package let registry: MetricsRegistry
    package let writer: GroupCommit<IngestProcessor>
    package let recovery: LedgerProjection.Recovery
    /// How far the journal has come; nil without one.
    package let progress: DeliveryProgress?
    private let output: JournalOutput
    private let directory: TemporaryDirectory

    /// Opens the ledger of a directory and goes on with it.
    ///
    /// - Parameters:
    ///   - ledgerClock: the clock of the writer; `clock` where none is given.
    ///   - watch: what a time of the clock is compared with; without one any time is believed.
    ///   - started: both clocks at the beginning of the start; none where the first tick is to look first.
    ///   - monotonic: the time that no one sets.
    ///   - keepSeconds: how long batches stay; by default nothing is ever pruned.
    ///   - console: gets what the console shows; without one no index is kept.
    ///   - indexLimit: how many cycles the index keeps.
    ///   - isJournalManual: whether the caller moves `progress` in the place of a journal.
    package init(
        in directory: TemporaryDirectory,
        clock: ManualClock = ManualClock(),
        ledgerClock: LedgerClock? = nil,
        limits: LifecycleLimits = LifecycleLimits(),
        labels: [LifecycleLabel] = [],
        tickInterval: Duration? = nil,
        watch: ClockWatch? = nil,
        started: ClockReading? = nil,
        monotonic: ManualClock = ManualClock(),
        keepSeconds: Int64 = 100 * 365 * 86_400,
        console: ConsoleFeed? = nil,
        indexLimit: Int = CycleIndex.defaultLimit,
        isJournalManual: Bool = false,
        journald: NamespacedJournald? = nil
    ) throws {
        self.clock = clock
        self.directory = directory
        ledger = try EventLedger.open(directory: directory.path, durability: .process, now: clock.now).ledger
        let (projection, recovery) = try LedgerProjection.recover(
            from: ledger.reader,
            identityKey: EventText.identityKey,
            limits: limits,
            index: console == nil ? nil : try CycleIndex.saved(in: ledger.reader, limit: indexLimit),
            now: clock.now
        )
        self.recovery = recovery
        registry = MetricsRegistry(now: { startOfTest })
        let progress =
            journald == nil && !isJournalManual
            ? nil
            : try DeliveryProgress.resume(
                ledger,
                upTo: projection.position,
                clock: LedgerClock(now: { clock.now }, monotonic: { UInt64(clamping: monotonic.now) * 1_000 })
            )
        let output = try journald?.output(ledger, progress, directory: directory.path) ?? .off
        self.progress = progress
        self.output = output
        let processor = IngestProcessor(
            projection,
            recovery: recovery,
            retention: LedgerRetention(journal: progress, keepSeconds: { keepSeconds }),
            metrics: ProjectionMetrics(registry, created: ledger.createdAt, journal: progress, labels: labels),
            log: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
            watch: watch,
            started: started,
            console: console,
            monotonic: { monotonic.now }
        ) { position in
            progress?.committed(position.sequence)
            progress?.passed(cursor: output.cursor)
            output.wake()
        }
        writer = try GroupCommit(
            ledger: ledger,
            processor: processor,
            clock: ledgerClock ?? clock.ledgerClock,
            tickInterval: tickInterval
        )
    }

    package var page: RegistryPage { RegistryPage(registry) }

    /// Where the sources are, as the writer knows it.
    package var sources: SourcePositions {
        get async throws(SubmissionError) { try await writer.perform { (processor, _) in processor.sources } }
    }

    package func submit(_ lines: [String], key: String? = nil) async throws(SubmissionError) -> Counted {
        Counted(try await writer.submit(.lines(lines, key: key)))
    }

    /// Closes what is due.
    package func tick() async throws(SubmissionError) {
        _ = try await writer.submit(.tick)
    }

    /// Commits the position of a followed file in which nothing new was found.
    package func remember(_ position: SourcePosition) async throws(SubmissionError) {
        let nothing = EventText.decode([])
        _ = try await writer.submit(
            .reading(nothing, origin: EventOrigin(.file, .log), lines: .init(), position: position)
        )
    }

    /// Hands in submissions so that they are committed together, in their order.
    package func submitTogether(_ submissions: [IngestSubmission]) async -> [Result<Counted, SubmissionError>] {
        let gate = Gate()
        let holding = Task { try? await writer.perform { (_, _) in gate.pass() } }
        await waitUntil("the writer is held") { gate.isReached }
        var tasks: [Task<Result<Counted, SubmissionError>, Never>] = []
        for submission in submissions {
            tasks.append(
                Task {
                    do throws(SubmissionError) {
                        return .success(Counted(try await writer.submit(submission)))
                    } catch {
                        return .failure(error)
                    }
                }
            )
            await waitUntil("the submission waits") { writer.statistics.waitingSubmissions == tasks.count }
        }
        gate.open()
        _ = await holding.value
        var results: [Result<Counted, SubmissionError>] = []
        for task in tasks { results.append(await task.value) }
        return results
    }

    /// Waits until the ledger is compared with the journal, and the journal holds all that the ledger does.
    ///
    /// Where the ledger has nothing that the journal is known to lack, the second says nothing about the first.
    package func waitForJournal() async {
        await waitUntil("the ledger is compared and everything is confirmed") {
            output.statistics?.state == .streaming && progress?.latest == ledger.position.sequence
        }
    }

    /// Saves the checkpoint and closes the ledger.
    package func close() async throws {
        await output.stop(within: .seconds(10))
        await writer.stop(within: .seconds(30))
        try ledger.close()
    }
}

extension CycleIndex {
    /// The saved index, or an empty one.
    package static func saved(in reader: LedgerReader, limit: Int = defaultLimit) throws(LedgerError) -> CycleIndex {
        try CycleIndex(reader, limit: limit) ?? CycleIndex(at: .start, since: startOfTest, limit: limit)
    }
}

/// What a submitter is told.
package enum Counted: Equatable {
    case counted(accepted: Int, duplicates: Int)
    case keyReused

    package init(_ outcome: IngestOutcome) {
        switch outcome {
        case .committed(let accepted, let duplicates): self = .counted(accepted: accepted, duplicates: duplicates)
        case .keyReused: self = .keyReused
        }
    }
}

extension ManualClock {
    /// The wall time from here, the monotonic time from the machine.
    package var ledgerClock: LedgerClock {
        LedgerClock(now: { self.now }, monotonic: LedgerClock.system.monotonic)
    }
}
