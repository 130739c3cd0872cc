// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents
internal import TextOutput

/// Reads every batch of a ledger once: checks the records and numbers, and sums up the accounts.
struct BatchAudit {
    private(set) var check = LedgerCheck(.batches)
    /// The accounts at the end; nil when batches are missing, which the check then reports.
    private(set) var accounts: SavedAccounts?
    /// The end of the ledger.
    private(set) var end: LedgerPosition
    private var batches: UInt64 = 0
    private var events: UInt64 = 0
    private var first: UInt64?

    /// - Parameters:
    ///   - reader: the ledger.
    ///   - saved: the accounts of the checkpoint, when they could be read.
    init(
        _ reader: LedgerReader,
        from saved: SavedAccounts?,
        progress: (LedgerProgress) -> Void
    ) throws(LedgerError) {
        accounts = saved
        let start = try reader.statistics().pruned
        if let saved, saved.position.batch < start.batch { accounts = try SavedAccounts(from: reader) }
        end = start
        var reached = LedgerProgress()
        var walk = try LedgerWalk(reader, after: start)
        do throws(LedgerError) {
            while let step = try walk.next() {
                try take(step, reader)
                reached.events = events
                progress(reached)
            }
        } catch {
            guard case .corrupt(let detail) = error else { throw error }
            check.fail("the database cannot be read on: \(detail)")
        }
        end = walk.last
        if accounts?.position.batch ?? 0 < end.batch { accounts = nil }
        conclude(start)
    }

    private mutating func take(_ step: LedgerWalk.Step, _ reader: LedgerReader) throws(LedgerError) {
        switch step {
        case .batch(let stored):
            batches += 1
            events += UInt64(stored.batch.count)
            if stored.batch.count > 0, first == nil { first = stored.firstSequence }
            take(stored)
        case .damaged(let batch, let detail):
            check.fail("batch \(batch): \(detail)")
        case .gap(let last, let batch, let sequence):
            check.fail("batch \(batch) begins with event \(sequence), and what is before it ends at \(last)")
        case .deleted(let position):
            guard let known = accounts, known.position.batch < position.batch else { return }
            accounts = try SavedAccounts(from: reader)
        }
    }

    private mutating func take(_ stored: StoredBatch) {
        if let receipt = IngestReceipt(encoded: stored.batch.receipt) {
            accounts?.add(stored, receipt)
        } else {
            check.fail("batch \(stored.id): its receipt cannot be read")
            accounts?.add(stored, IngestReceipt())
        }
        let records = stored.batch.events
        var cursor = LedgerRecordCursor(origin: stored.batch.origin)
        var count: UInt32 = 0
        do throws(LedgerRecordError) {
            while try cursor.next(in: records.span) != nil { count += 1 }
        } catch {
            check.fail("batch \(stored.id): \(error)")
            return
        }
        if count != stored.batch.count {
            check.fail("batch \(stored.id): \(stored.batch.count) events expected, it holds \(count)")
        }
    }

    private mutating func conclude(_ start: LedgerPosition) {
        check.add("batches", batches)
        check.add("events", events)
        check.add("endSequence", end.sequence)
        let deleted = start.batch > 0 ? "; up to \(start), they were deleted" : ""
        guard batches > 0 else {
            check.sentence = "none is left\(deleted)"
            return
        }
        let numbers = first.map { ", numbers \($0) to \(end.sequence)" } ?? ""
        check.sentence = "\(batches.counted("batch", "batches")) with \(events.counted("event"))\(numbers)\(deleted)"
    }
}

/// The accounts of a checkpoint, with the position they are valid for.
struct SavedAccounts: Equatable {
    var accounts = IngestAccounts()
    var position = LedgerPosition.start

    init() {}

    /// Loads only that page; before the first checkpoint all counts are zero.
    init(from reader: LedgerReader) throws(LedgerError) {
        var page: [UInt8]?
        let saved = try reader.loadState(LedgerProjection.name, keyPrefix: IngestAccounts.stateKey) {
            (key, value) throws(LedgerError) in
            if key == IngestAccounts.stateKey { page = value }
        }
        guard let saved else { return }
        position = saved.position
        guard let page, let accounts = IngestAccounts(encoded: page) else {
            throw .damagedState(projection: LedgerProjection.name, key: IngestAccounts.stateKey)
        }
        self.accounts = accounts
    }

    /// Adds a batch; ignores one that the checkpoint includes.
    mutating func add(_ stored: StoredBatch, _ receipt: IngestReceipt) {
        guard stored.id > position.batch else { return }
        accounts.add(receipt, accepted: UInt64(stored.batch.count), origin: stored.batch.origin)
        position = stored.position
    }
}

/// What the events of the checkpoint did, and the counters of the lifecycle that they count in.
struct EffectSums {
    private let accounts: IngestAccounts
    /// The sum of the lifecycle's counters as the fold holds them.
    private let counters: UInt64

    /// - Parameter projection: the state of a checkpoint.
    init(_ projection: LedgerProjection) {
        accounts = projection.accounts
        counters = projection.fold.increments
    }

    /// The events with each effect, by its name.
    var effects: [(name: String, count: UInt64)] {
        AcceptedEffect.allCases.map { ("\($0.name)", accounts.effects[Int($0.rawValue)]) }
    }

    private var causes: [(name: String, count: UInt64)] {
        IncrementCause.allCases.map { ("\($0.name)", accounts.increments[$0.rawValue]) }
    }

    /// What does not add up.
    var findings: [String] {
        var findings: [String] = []
        if accounts.accepted != Self.sum(effects) {
            findings.append("accepted \(accounts.accepted) is not \(Self.words(effects))")
        }
        if counters != Self.sum(causes) {
            findings.append("the lifecycle's counters come to \(counters), and they grew by \(Self.words(causes))")
        }
        return findings
    }

    private static func sum(_ terms: [(name: String, count: UInt64)]) -> UInt64 {
        terms.reduce(UInt64(0)) { $0 &+ $1.count }
    }

    private static func words(_ terms: [(name: String, count: UInt64)]) -> String {
        terms.map { "\($0.name) \($0.count)" }.joined(separator: " + ")
    }
}

/// Checks the sums: `received = accepted + duplicate + rejected`, `accepted = journaled + pending`, that the last
/// sequence number is the count of accepted events, and that their effects lead on to the lifecycle's counters.
struct SumsCheck {
    private(set) var check = LedgerCheck(.sums)
    private let journal: DeliveryProgress.Reached?

    /// - Parameters:
    ///   - saved: the accounts at the checkpoint; nil when they cannot be read.
    ///   - effects: what the events of the checkpoint did; nil when it cannot be read.
    ///   - end: the accounts at the end of the ledger; nil when unknown.
    ///   - journal: the journal's position; nil when there never was one.
    init(at saved: SavedAccounts?, _ effects: EffectSums?, end: SavedAccounts?, journal: DeliveryProgress.Reached?) {
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
        for finding in effects?.findings ?? [] { check.fail("at the checkpoint, \(finding)") }
        for effect in effects?.effects ?? [] { check.add(effect.name, effect.count) }
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
