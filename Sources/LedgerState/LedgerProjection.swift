// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import PrefetchLifecycle
package import TelemetryEvents
internal import TextOutput

/// Everything that is counted from the ledger, the lifecycle and the accounts, and where its sources are, with the position
/// that they are true for.
///
/// The live service, the recovery and a rebuild use it alike.
package struct LedgerProjection: Sendable {
    package static let name = "lifecycle"

    package var fold: LifecycleFold
    package private(set) var accounts = IngestAccounts()
    /// How far every source has been read.
    package private(set) var sources = SourcePositions()
    package private(set) var position = LedgerPosition.start
    private let identityKey: IdentityKey

    package init(identityKey: IdentityKey, limits: LifecycleLimits) {
        self.identityKey = identityKey
        fold = LifecycleFold(key: identityKey, limits: limits, anonymousIsOneInstallation: false)
    }

    /// Applies a batch of the ledger.
    ///
    /// - Throws: `EventRecordError` when its events cannot be read; those before the damage are counted.
    package mutating func apply(_ batch: LedgerBatch, at position: LedgerPosition) throws(EventRecordError) {
        self.position = position
        let receivedAt = Timestamp(microseconds: batch.receivedAt)
        let receipt = IngestReceipt(encoded: batch.receipt) ?? IngestReceipt()
        accounts.add(receipt, accepted: UInt64(batch.count), origin: batch.origin)
        if let read = receipt.position { sources.note(read, batch: position.batch) }
        if batch.origin == EventOrigin.tick.rawValue {
            fold.tick(to: receivedAt)
        } else {
            fold.remember(receipt.batchIdentities, receivedAt: receivedAt)
            try fold.apply(batch.events.span, receivedAt: receivedAt)
        }
    }

    /// The records of the verdicts on the cycles that a tick received at this time closes and that break a rule.
    /// Nothing is closed or counted.
    package mutating func verdicts(closingAt receivedAt: Int64) -> (count: Int, records: [UInt8]) {
        let now = max(fold.clock, Timestamp(microseconds: receivedAt))
        var records: [UInt8] = []
        let cycles = fold.violations(closingAt: now)
        for cycle in cycles { VerdictRecord.append(CycleVerdict(cycle, closedAt: now), to: &records) }
        return (cycles.count, records)
    }

    /// What has changed since the last call, for the ledger; cheap, see `LifecycleFold`.
    ///
    /// - Parameter position: where the ledger ends, which is behind a last batch that is damaged.
    package mutating func takeChanges(at position: LedgerPosition) -> ProjectionChanges {
        var small = StateChanges()
        small.put(IngestAccounts.stateKey, accounts.encoded)
        sources.takeChanges(into: &small)
        return ProjectionChanges(at: position, small: small, fold: fold.takeChanges())
    }

    /// Takes in a page of a checkpoint; pages come in the order of their keys, before anything is applied.
    private mutating func restore(_ key: StateKey, _ value: [UInt8]) throws(LedgerError) {
        if key == IngestAccounts.stateKey, let accounts = IngestAccounts(encoded: value) {
            self.accounts = accounts
            return
        }
        if sources.restore(key, value) { return }
        let name = String(decoding: key.bytes, as: UTF8.self)
        guard name.hasPrefix("fold/") else { throw .corrupt(detail: "saved state under the unknown name \(name)") }
        do throws(StateError) {
            try fold.restore(StatePage(key: String(name.dropFirst(5)), value: value))
        } catch {
            throw .corrupt(detail: error.description)
        }
    }
}

extension LedgerProjection {
    /// What a recovery found.
    package struct Recovery: Sendable {
        package var batches = 0
        package var damagedBatches: [Int64] = []

        package init() {}
    }

    /// Takes in the last checkpoint, and the position that it is true for; false when there is none.
    ///
    /// - Parameter observe: sees every page, also behind one that cannot be taken in.
    @discardableResult
    package mutating func load(
        from reader: LedgerReader,
        observe: (StateKey, [UInt8]) -> Void = { _, _ in }
    ) throws(LedgerError) -> Bool {
        var problem: LedgerError?
        let saved = try reader.loadState(Self.name) { (key, value) throws(LedgerError) in
            observe(key, value)
            guard problem == nil else { return }
            do throws(LedgerError) { try restore(key, value) } catch { problem = error }
        }
        guard let saved else { return false }
        position = saved.position
        if let problem { throw problem }
        return true
    }

    /// Loads the last checkpoint and folds what the ledger holds behind it. A damaged batch is skipped and named.
    ///
    /// - Parameters:
    ///   - isFromStart: whether the checkpoint is left alone and every batch is folded.
    ///   - onProgress: called at the beginning and behind every read.
    package static func recover(
        from reader: LedgerReader,
        identityKey: IdentityKey,
        limits: LifecycleLimits,
        isFromStart: Bool = false,
        onProgress: (RecoveryProgress) -> Void = { _ in }
    ) throws(LedgerError) -> (LedgerProjection, Recovery) {
        var projection = LedgerProjection(identityKey: identityKey, limits: limits)
        if !isFromStart { try projection.load(from: reader) }

        var recovery = Recovery()
        var last = projection.position.batch
        let ends = try reader.statistics()
        let start = max(last, ends.pruned.batch)
        var progress = RecoveryProgress(done: 0, total: max(ends.end.batch - start, 0))
        while true {
            progress.done = max(last - start, 0)
            onProgress(progress)
            let batches: [StoredBatch]
            do throws(LedgerError) {
                batches = try reader.read(afterBatch: last)
            } catch {
                guard case .damagedBatch(let id, _) = error else { throw error }
                recovery.damagedBatches.append(id)
                last = id
                continue
            }
            guard let end = batches.last else { return (projection, recovery) }
            for stored in batches {
                do throws(EventRecordError) {
                    try projection.apply(stored.batch, at: stored.position)
                } catch {
                    recovery.damagedBatches.append(stored.id)
                }
                recovery.batches += 1
            }
            last = end.id
        }
    }
}

/// How far a recovery has come: batches folded, and batches in all behind the checkpoint it began with.
package struct RecoveryProgress: Hashable, Sendable, CustomStringConvertible {
    package var done: Int64
    package var total: Int64

    package var description: String {
        "recovering, \(done.grouped) of \(max(done, total).grouped) batches"
    }
}
