// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Journald
internal import LedgerState
internal import Logging

/// Compares the ledger with what the journal holds under its name, and begins a life where the journal is ahead.
///
/// Called on the journal writer's thread after each scan, the first of which precedes everything that is sent: numbers
/// that this ledger never gave were given by another copy of it, or their events are lost.
struct JournalWitness: Sendable {
    private let ledger: EventLedger
    private let confirmed: UInt64
    private let now: @Sendable () -> Int64
    private let log: Logger

    /// - Parameter confirmed: the last number that was confirmed in the journal when the ledger was opened.
    init(
        _ ledger: EventLedger,
        confirmed: UInt64,
        now: @escaping @Sendable () -> Int64 = LedgerClock.system.now,
        log: Logger
    ) {
        self.ledger = ledger
        self.confirmed = confirmed
        self.now = now
        self.log = log
    }

    /// The names of the ledger's entries.
    var streams: StreamNames { StreamNames(ledger.lives, after: confirmed) }

    /// Takes note of a comparison; returns the names of the entries that are sent from now on.
    func compare(_ comparison: JournalComparison) throws(LedgerError) -> StreamNames {
        let lives = ledger.lives
        for life in lives.dropLast() {
            guard let shown = comparison.strays[life.id],
                let next = try ledger.journalShowed(life.id, upTo: shown)
            else { continue }
            log.error("the journal shows more missing events than were known: \(next)")
        }
        if let current = lives.last, let shown = comparison.strays[current.id] {
            let life = try ledger.beginLife(after: comparison.given, shown: shown, now: now())
            log.error("\(life)")
        } else {
            try ledger.journalCompared()
        }
        return streams
    }
}
