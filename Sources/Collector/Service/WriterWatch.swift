// SPDX-License-Identifier: Apache-2.0

/// When the manager's watchdog is told that the service works: only behind a proof that the ledger's writer does.
///
/// A proof is a commit. While nothing is posted the writer is asked for one. A ledger without space, or locked by another
/// program, is a proof too: the writer has answered, the scrape goes on, and a restart would neither make room nor take the
/// lock away. A damaged ledger and a failing disk are none: a restart sets the one aside and opens the other's files anew.
/// So a hung commit, a hung thread and a stopped process are restarted, and a full disk is not.
///
/// Pure: times are nanoseconds of CLOCK_MONOTONIC.
struct WriterWatch {
    enum Step: Equatable {
        case wait
        /// Ask the writer for a commit of its own.
        case askForProof
        /// Tell the manager.
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

    /// How often to look, in nanoseconds: four times in the time between two pings, from 10 ms to 1 s.
    var pause: UInt64 { min(max(interval / 4, 10_000_000), 1_000_000_000) }

    /// - Parameters:
    ///   - proofs: how often the writer has proven itself so far.
    ///   - isAsked: whether it has been asked and has not answered.
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
