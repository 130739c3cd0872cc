// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState

/// Where the service stands between its start and its end, and what its manager is told at each step.
///
/// Pure: times are nanoseconds of CLOCK_MONOTONIC and come from outside.
struct SupervisionState {
    enum Phase: Equatable {
        case starting, ready, reloading, stopping
    }

    /// How often the status line changes while the service runs.
    static let statusInterval: UInt64 = 10_000_000_000
    /// How often a long recovery reports, and how long the manager is to wait after each report that told of progress.
    static let recoveryInterval: UInt64 = 1_000_000_000
    static let recoveryExtension = Duration.seconds(60)

    /// How long the manager is to wait while the ledger is opened, its write-ahead log and checkpoint are read, and a damaged
    /// one is set aside: that is bounded by the ledger's size and has no progress to report.
    static let openingExtension = Duration.seconds(600)
    /// The same for what comes behind the recovery.
    static let beginningExtension = Duration.seconds(120)

    private(set) var phase = Phase.starting
    private var recovery: (done: Int64, at: UInt64)?
    private var statusAt: UInt64 = 0
    private var lastReading: ServiceReading?

    // MARK: Starting

    func opening() -> [ServiceNotification] {
        [.extendTimeout(Self.openingExtension), .status("opening the ledger")]
    }

    /// Recovery is through; sources and listeners begin.
    func opened() -> [ServiceNotification] {
        guard phase == .starting else { return [] }
        return [.extendTimeout(Self.beginningExtension), .status("recovered; beginning to listen")]
    }

    /// Batches have been folded. The manager waits longer for as long as there are more of them from report to report.
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

    /// It cannot start, or it failed.
    mutating func failed(_ reason: String, code: Int32?) -> [ServiceNotification] {
        phase = .stopping
        return [.status("failed: \(reason)")] + (code.map { [.errno($0)] } ?? [])
    }

    // MARK: Running

    /// How it goes, every ten seconds.
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

    /// The configuration was read anew, or left as it was; `outcome` says which, in a few words.
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
        return [.stopping, .status("stopping: what has come is answered and stored")]
    }
}
