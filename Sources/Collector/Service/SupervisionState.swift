// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import TextOutput

/// The state machine of the notifications to the service manager.
///
/// Pure: the caller passes the time in nanoseconds of CLOCK_MONOTONIC.
struct SupervisionState {
    enum Phase: Equatable {
        case starting, ready, reloading, stopping
    }

    /// How often the status line changes while the service runs.
    static let statusInterval: UInt64 = 10_000_000_000
    /// How often a long recovery reports, and by how much each report of progress extends the timeout of the manager.
    static let recoveryInterval: UInt64 = 1_000_000_000
    static let recoveryExtension = Duration.seconds(60)

    /// The extension while the ledger is opened, its write-ahead log and checkpoint are read, and a damaged one is set aside:
    /// that is bounded by the ledger's size and reports no progress.
    static let openingExtension = Duration.seconds(600)
    /// The same for the steps after the recovery.
    static let beginningExtension = Duration.seconds(120)

    private(set) var phase = Phase.starting
    private var recovery: (done: Int64, at: UInt64)?
    private var statusAt: UInt64 = 0
    private var lastReading: ServiceReading?

    // MARK: Starting

    func opening() -> [ServiceNotification] {
        [.extendTimeout(Self.openingExtension), .status("opening the ledger")]
    }

    /// Recovery has ended; sources and listeners start.
    func opened() -> [ServiceNotification] {
        guard phase == .starting else { return [] }
        return [.extendTimeout(Self.beginningExtension), .status("recovered; starting to listen")]
    }

    /// Batches have been folded. The manager extends its timeout as long as recovery makes progress between reports.
    mutating func recovering(_ progress: RecoveryProgress, at now: UInt64) -> [ServiceNotification] {
        guard phase == .starting else { return [] }
        if let recovery {
            guard now >= recovery.at &+ Self.recoveryInterval else { return [] }
            guard progress.done != recovery.done else { return [] }
        }
        recovery = (progress.done, now)
        return [.extendTimeout(Self.recoveryExtension), .status("\(progress)")]
    }

    /// Every listener listens.
    mutating func listening(at now: UInt64) -> [ServiceNotification] {
        guard phase == .starting else { return [] }
        phase = .ready
        statusAt = now
        return [.ready, .status("ready")]
    }

    /// The service cannot start, or has failed.
    mutating func failed(_ reason: String, code: Int32?) -> [ServiceNotification] {
        phase = .stopping
        return [.status("failed: \(reason)")] + (code.map { [.errno($0)] } ?? [])
    }

    // MARK: Running

    /// Updates the status line, every ten seconds.
    mutating func reads(_ reading: ServiceReading) -> [ServiceNotification] {
        guard let last = lastReading else {
            lastReading = reading
            return []
        }
        guard phase == .ready, reading.time >= statusAt &+ Self.statusInterval else { return [] }
        statusAt = reading.time
        lastReading = reading
        return [.status(reading.status(since: last))]
    }

    mutating func reloading(at now: UInt64) -> [ServiceNotification] {
        guard phase == .ready else { return [] }
        phase = .reloading
        return [.reloading(since: now / 1_000), .status("reloading the configuration")]
    }

    /// The reload has ended; `outcome` describes it briefly.
    mutating func reloaded(_ outcome: String, at now: UInt64) -> [ServiceNotification] {
        guard phase == .reloading else { return [] }
        phase = .ready
        statusAt = now
        return [.ready, .status(outcome)]
    }

    // MARK: Stopping

    mutating func stopping() -> [ServiceNotification] {
        guard phase != .stopping else { return [] }
        phase = .stopping
        return [.stopping, .status("stopping: draining requests and committing events")]
    }
}

/// The numbers of the status line at one moment.
struct ServiceReading: Equatable, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    var time: UInt64
    /// Events stored since the start.
    var events: UInt64
    /// Requests refused since the start because of the ledger: backlog, slow commits, no space or a failure.
    var refused: UInt64
    /// Requests that wait for a commit.
    var waiting: Int
    /// Events that the journal has not confirmed; nil where none is written.
    var journalBehind: UInt64?
    /// Why events cannot be stored at this moment.
    var trouble: LedgerError?
}

extension ServiceReading {
    /// The status line, with rates since another reading.
    func status(since last: ServiceReading) -> String {
        let seconds = Double(time - min(last.time, time)) / 1e9
        var parts = [rate(events, last.events, seconds) + " events/s", "\(waiting.grouped) waiting"]
        if let journalBehind { parts.append("journal \(journalBehind.grouped) behind") }
        if refused > last.refused { parts.append(rate(refused, last.refused, seconds) + " refused/s") }
        let line = parts.joined(separator: ", ")
        return trouble.map { "\($0.inShort), events are refused; \(line)" } ?? line
    }

    /// Whole numbers from 10 a second on, tenths below.
    private func rate(_ now: UInt64, _ before: UInt64, _ seconds: Double) -> String {
        guard seconds > 0, now > before else { return "0" }
        let rate = min(Double(now - before) / seconds, 1e15)
        guard rate < 9.95 else { return Int64(rate.rounded()).grouped }
        let tenths = max(1, Int((rate * 10).rounded()))
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension LedgerError {
    /// A few words for a status line.
    fileprivate var inShort: String {
        switch self {
        case .full: "no space left for the ledger"
        case .busy: "another connection locks the ledger"
        case .corrupt, .damagedBatch, .damagedState: "the ledger is damaged"
        case .locked, .newerSchema, .absent, .obstructed, .refused, .other: "the ledger fails"
        }
    }
}

/// Decides when to ping the manager's watchdog: only after a proof that the ledger's writer works.
///
/// A proof is a commit; while nothing is posted, one is requested from the writer. A full disk or a ledger locked by another
/// program counts as a proof: the writer answers, scrapes work, and a restart would neither free space nor release the lock.
/// A damaged ledger or a failing disk does not: a restart sets the one aside and reopens the files of the other. So a hung
/// commit, a hung thread and a stopped process are restarted, and a full disk is not.
///
/// Pure: times are nanoseconds of CLOCK_MONOTONIC.
struct WriterWatch {
    enum Step: Equatable {
        case wait
        /// Request a commit from the writer.
        case askForProof
        /// Ping the manager.
        case ping
    }

    /// The time between two pings, a quarter of the time after which the manager restarts the service.
    private let interval: UInt64
    private var pingedAt: UInt64
    private var provenAtPing: UInt64

    /// - Parameters:
    ///   - timeout: the manager's time, a year at most.
    ///   - proofs: how often the writer had proven itself at the beginning.
    init(timeout: Duration, proofs: UInt64, at now: UInt64) {
        let (seconds, attoseconds) = min(timeout, .seconds(365 * 86_400)).components
        interval = UInt64(max(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, 4)) / 4
        pingedAt = now
        provenAtPing = proofs
    }

    /// The time between two looks in nanoseconds: a quarter of the ping interval, from 10 ms to 1 s.
    var pause: UInt64 { min(max(interval / 4, 10_000_000), 1_000_000_000) }

    /// - Parameters:
    ///   - proofs: how often the writer has proven itself so far.
    ///   - isAsked: whether a request for a proof is unanswered.
    mutating func look(proofs: UInt64, isAsked: Bool, at now: UInt64) -> Step {
        guard now >= pingedAt &+ interval else { return .wait }
        guard proofs == provenAtPing else {
            pingedAt = now
            provenAtPing = proofs
            return .ping
        }
        return isAsked ? .wait : .askForProof
    }
}
