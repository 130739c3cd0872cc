// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// The sums of SPEC 4.5: `received = accepted + duplicate + rejected`, `accepted = journaled + pending`, and that the
/// last sequence number is the count of what was accepted.
struct SumsCheck {
    private(set) var check = LedgerCheck(.sums)
    private let journal: JournalProgress.Reached?

    /// - Parameters:
    ///   - saved: the accounts at the checkpoint; nil when they cannot be read.
    ///   - end: the accounts at the end of the ledger; nil when they are not known.
    ///   - journal: how far the journal has come; nil when there never was one.
    init(at saved: SavedAccounts?, end: SavedAccounts?, journal: JournalProgress.Reached?) {
        self.journal = journal
        if let saved {
            add(saved, "at the checkpoint")
        } else {
            check.fail("the accounts of the checkpoint cannot be read")
        }
        if let end {
            add(end, "at the end")
            conclude(end)
        } else if saved != nil {
            check.fail("at the end, nothing is known: batches behind the checkpoint cannot be read")
        }
    }

    private mutating func add(_ sums: SavedAccounts, _ place: String) {
        let accounts = sums.accounts
        let rejected = accounts.rejected.reduce(0, &+)
        let received = accounts.received.values.reduce(0, &+)
        if received != accounts.accepted &+ accounts.duplicates &+ rejected {
            check.fail(
                "\(place), received \(received) is not accepted \(accounts.accepted) + duplicate "
                    + "\(accounts.duplicates) + rejected \(rejected)"
            )
        }
        if accounts.accepted != sums.position.sequence {
            check.fail(
                "\(place), accepted is \(accounts.accepted) and the last event has number \(sums.position.sequence)"
            )
        }
        guard let journal else { return }
        let reached = min(journal.position.sequence, sums.position.sequence)
        let pending = sums.position.sequence - reached
        if accounts.accepted != reached &+ pending {
            check.fail("\(place), accepted \(accounts.accepted) is not journaled \(reached) + pending \(pending)")
        }
    }

    private mutating func conclude(_ end: SavedAccounts) {
        let accounts = end.accounts
        let rejected = accounts.rejected.reduce(0, &+)
        let received = accounts.received.values.reduce(0, &+)
        check.add("received", received)
        check.add("accepted", accounts.accepted)
        check.add("duplicate", accounts.duplicates)
        check.add("rejected", rejected)
        check.sentence =
            "received \(received), accepted \(accounts.accepted), duplicate \(accounts.duplicates), rejected \(rejected)"
        guard let journal else { return }
        let reached = min(journal.position.sequence, end.position.sequence)
        if journal.skipped > reached {
            check.fail(
                "\(journal.skipped) events are said to be skipped by the journal, of \(reached) that it has passed"
            )
        }
        let confirmed = reached - min(reached, journal.skipped)
        check.add("journaled", confirmed)
        check.add("skipped", journal.skipped)
        check.add("pending", end.position.sequence - reached)
        let skipped = journal.skipped > 0 ? ", skipped by the journal \(journal.skipped)" : ""
        check.sentence += "; journaled \(confirmed)\(skipped), pending \(end.position.sequence - reached)"
    }
}
