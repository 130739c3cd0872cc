// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Glibc
internal import Journald
internal import Logging
internal import MetricsRegistry
internal import NIOPosix
internal import Synchronization
internal import TelemetryEvents

/// The followed journal as a running source, which reads, decodes and stores on a thread of its own.
final class FollowedJournal: Sendable {
    /// How long a wait for entries lasts at most, so that a stop is noticed in time.
    private static let waitLimit = Duration.milliseconds(200)

    private let follower: Mutex<JournalFollower>
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let location: JournalLocation
    private let metrics: JournalSourceMetrics
    private let log: Logger

    init(
        _ location: JournalLocation,
        matches: [JournalMatch],
        position: JournalPosition?,
        pseudonyms: any Pseudonymising,
        deviceField: JournalField? = nil,
        tailInterval: Int64 = JournalFollower.tailInterval,
        metrics: JournalSourceMetrics,
        log: Logger
    ) {
        self.location = location
        self.metrics = metrics
        self.log = log
        follower = Mutex(
            JournalFollower(
                location,
                matches: matches,
                position: position,
                pseudonyms: pseudonyms,
                deviceField: deviceField,
                tailInterval: tailInterval
            )
        )
    }

    /// The key of the position in the ledger.
    static func source(_ pseudonyms: any Pseudonymising) -> UInt64 {
        pseudonyms.pseudonym(of: Array(JournalPosition.sourceName.utf8).span).high
    }

    /// The error of a journal that this process has no permission to read; nil for any other error, which is retried.
    static func refusal(_ location: JournalLocation) -> JournalReaderError? {
        do throws(JournalReaderError) {
            _ = try JournalReader(location, scope: [.localOnly])
            return nil
        } catch {
            return error.isRefusal ? error : nil
        }
    }

    /// Follows until stopped, and then stores what was read.
    func run(_ intake: consuming LogIntake<JournalPosition>, stop: SourceStop) async {
        thread.start()
        var intake = intake
        do throws(IntakeEnded) {
            while !stop.isRequested {
                if let batch = await next(stop) {
                    metrics.entries.add(UInt64(batch.entries))
                    metrics.skipped.add(UInt64(batch.skipped))
                    setLag(isStored: false)
                    try await intake.take(
                        batch.lines,
                        carriers: batch.carriers,
                        bytesRead: batch.lines.count + batch.count,
                        position: batch.position
                    )
                    setLag(isStored: batch.isAtEnd)
                } else {
                    try await intake.idle()
                }
            }
            try await intake.pause()
        } catch {
            log.info("following the journal ends before all of it is stored; it resumes at the next start")
        }
        try? await thread.runIfActive { [self] in follower.withLock { $0.close() } }
        try? await thread.shutdownGracefully()
    }

    /// Reads on the thread, and logs the notices.
    private func next(_ stop: SourceStop) async -> JournalBatch? {
        let result = try? await thread.runIfActive { [self] in
            follower.withLock { follower in
                let batch = follower.next(
                    now: LedgerClock.system.now(),
                    monotonic: Int64(clamping: LedgerClock.system.monotonic() / 1_000),
                    wait: Self.waitLimit
                )
                return (batch, follower.takeNotices(), follower.failures, follower.isReading, follower.hasReadAll)
            }
        }
        guard let (batch, notices, failures, isReading, hasReadAll) = result else { return nil }
        metrics.failures.restore(to: failures)
        for notice in notices { report(notice) }
        if batch == nil, hasReadAll { setLag(isStored: true) }
        if !isReading {
            setLag(isStored: false)
            _ = await stop.sleep(Self.waitLimit)
        }
        return batch
    }

    private func setLag(isStored: Bool) {
        guard !isStored, let readUntil = follower.withLock({ $0.readUntil }) else { return metrics.lag.set(0) }
        metrics.lag.set(max(0, Double(LedgerClock.system.now() - readUntil) / 1e6))
    }

    private func report(_ notice: JournalFollower.Notice) {
        switch notice {
        case .empty:
            log.warning(
                """
                \(location) has no entry: expected journald's files below /var/log/journal or /run/log/journal; trying \
                again until there are some
                """
            )
        case .found: log.notice("\(location) has entries now")
        case .gap:
            metrics.gaps.add()
            log.warning(
                """
                the last entry that was read of \(location) is gone, and later ones may be, too: lines may be missing; \
                reading resumes with the oldest entry left; if this happens again, raise journald's SystemMaxUse=
                """
            )
        case .unreadable(let entries):
            metrics.gaps.add(UInt64(entries))
            log.warning(
                "entries of \(location) cannot be read and are skipped; see journalctl --verify",
                metadata: ["entries": "\(entries)"]
            )
        case .failed(let problem): log.error("cannot read \(location): \(problem); trying again")
        case .readable: log.notice("\(location) is readable again")
        }
    }
}

extension JournalReaderError {
    /// Whether this process lacks the permission to read the journal, which only the operator can change.
    var isRefusal: Bool {
        switch self {
        case .permission: true
        case .open(_, let error), .call(_, let error): error.code == EACCES || error.code == EPERM
        case .unreadable: false
        }
    }
}

/// The metrics of the followed journal, since the start of the process.
struct JournalSourceMetrics: Sendable {
    let lag: Gauge
    let entries: Counter
    let skipped: Counter
    let gaps: Counter
    let failures: Counter

    init(_ registry: MetricsRegistry) {
        lag = registry.gauge(
            "dnp_telemetry_follow_journal_lag_seconds",
            help: "Time since all matching entries of the followed journal were read and stored; 0 while they are.",
            unit: "seconds"
        )
        entries = registry.counter(
            "dnp_telemetry_follow_journal_entries_total",
            help: "Matching entries of the followed journal whose lines were read."
        )
        skipped = registry.counter(
            "dnp_telemetry_follow_journal_skipped_total",
            help: "Matching entries of the followed journal that collectors wrote, and that are not read."
        )
        gaps = registry.counter(
            "dnp_telemetry_follow_journal_gaps_total",
            help: "Times that entries of the followed journal were gone or damaged before they were read."
        )
        failures = registry.counter(
            "dnp_telemetry_follow_journal_read_errors_total",
            help: "Attempts to read the followed journal that failed."
        )
    }
}
