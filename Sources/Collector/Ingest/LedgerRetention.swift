// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// Saves the positions of the journal and of the destinations, and deletes batches that nobody needs any more.
struct LedgerRetention: Sendable {
    private static let intervalMicroseconds: Int64 = 1_000_000
    /// The same while the ledger is short of room.
    private static let hurriedMicroseconds: Int64 = 100_000
    /// How many batches one call deletes at most, so that a commit never waits long.
    private static let maximumBatches = 1_024
    /// The pause until the next call while there is more to delete.
    private static let pauseMicroseconds: Int64 = 10_000

    private let journal: DeliveryProgress?
    private let destinations: WaitingDestinations
    private let keepSeconds: @Sendable () -> Int64
    private var nextAt: Int64 = 0
    private var lastAt: Int64 = 0

    /// - Parameters:
    ///   - journal: The journal's position; nil without a journal.
    ///   - destinations: Those that events are exported to.
    ///   - keepSeconds: How long batches are kept beyond that, read at each call since it is hot-reloadable.
    init(
        journal: DeliveryProgress?,
        destinations: WaitingDestinations = WaitingDestinations(),
        keepSeconds: @escaping @Sendable () -> Int64
    ) {
        self.journal = journal
        self.destinations = destinations
        self.keepSeconds = keepSeconds
    }

    /// Runs once a second, sooner while the ledger is short of room or one call cannot delete all that is due; true when
    /// it ran.
    ///
    /// - Parameter believed: the time by which batches grow old (``ClockWatch``); nil while none can be believed, and then
    ///   they do not.
    mutating func apply(
        _ ledger: EventLedger,
        lifecycle: LedgerPosition,
        isShort: Bool,
        believed: Int64?,
        now: Int64
    ) throws(LedgerError) -> Bool {
        if isShort { nextAt = min(nextAt, lastAt + Self.hurriedMicroseconds) }
        guard now >= nextAt || now < nextAt - 2 * Self.intervalMicroseconds else { return false }
        nextAt = now + Self.intervalMicroseconds
        lastAt = now
        savePosition(ledger, now: now)
        let keepMicroseconds = keepSeconds() * 1_000_000
        // What need not be kept goes whatever the clock says.
        guard keepMicroseconds == 0 || believed != nil else { return true }
        let pruning = try ledger.prune(
            upTo: try prunable(lifecycle, ledger, isShort: isShort),
            keepSince: keepMicroseconds == 0 ? .max : (believed ?? now) - keepMicroseconds,
            now: (believed ?? now) + ClockWatch.toleratedMicroseconds,
            limit: Self.maximumBatches
        )
        if pruning.isCutShort { nextAt = now + Self.pauseMicroseconds }
        return true
    }

    /// Whether the journal is ahead of a checkpoint, so that a newer one lets batches be deleted.
    func isAhead(of lifecycle: LedgerPosition) -> Bool {
        journal.map { $0.latest > lifecycle.sequence } ?? true
    }

    /// The position that all projections have passed. Rows without events may follow the journal's batch; it needs none.
    private func prunable(
        _ lifecycle: LedgerPosition,
        _ ledger: EventLedger,
        isShort: Bool
    ) throws(LedgerError) -> LedgerPosition {
        var end = lifecycle
        if let written = journal?.saved.position, written.sequence < end.sequence { end = min(end, written) }
        guard let least = destinations.least, least.sequence < end.sequence else { return end }
        // No destination holds up ingest: it waits for them within a limit, and not where the disk is nearly full.
        if isShort { return end }
        let isOverLimit = try ledger.reader.usedBytes() > Int64(destinations.limit())
        return isOverLimit ? end : min(end, least)
    }

    /// Makes the positions durable; only then are they shown as confirmed, so that the counter never falls after a kill.
    func savePosition(_ ledger: EventLedger, now: Int64) {
        for progress in destinations.progresses + (journal.map { [$0] } ?? []) {
            guard let reached = progress.unsaved else { continue }
            do throws(LedgerError) {
                try ledger.advance(
                    projection: progress.projection,
                    to: reached.position,
                    note: reached.note,
                    now: now
                )
                progress.saved(reached)
            } catch {
                continue
            }
        }
    }
}

/// The destinations that batches wait for within a limit.
struct WaitingDestinations: Sendable {
    var progresses: [DeliveryProgress] = []
    /// How many bytes of the database may be in use while batches wait, read at each call since it is hot-reloadable.
    var limit: @Sendable () -> Int = { .max }

    /// The position that all of them have passed; nil without any.
    var least: LedgerPosition? { progresses.map(\.saved.position).min() }
}
