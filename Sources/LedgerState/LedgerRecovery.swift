// SPDX-License-Identifier: Apache-2.0

package import CycleIndex
package import EventLedger
package import PrefetchLifecycle
package import TelemetryEvents
internal import TextOutput

extension LedgerProjection {
    /// The result of a recovery.
    package struct Recovery: Sendable {
        package var batches = 0
        /// The batches that cannot be read, or of which events or receipt cannot be read.
        package var damagedBatches: [Int64] = []
        /// The last batches of the checkpoint that cannot be read any more; their events are counted.
        package fileprivate(set) var damagedSavedBatches: [Int64] = []
        /// Batches that are not there, though later ones are.
        package private(set) var missingBatches: [ClosedRange<Int64>] = []
        /// How many events those batches had that are missing or of which nothing can be read.
        package private(set) var lostEvents: UInt64 = 0
        /// The end of what was read.
        private var last = LedgerPosition.start

        package init() {}

        fileprivate init(after position: LedgerPosition) {
            last = position
        }

        /// How many batches cannot be read.
        package var unreadableBatches: UInt64 { skippedBatches + UInt64(damagedSavedBatches.count) }

        /// How many batches are not counted, or not whole.
        package var skippedBatches: UInt64 {
            missingBatches.reduce(UInt64(damagedBatches.count)) { $0 + UInt64($1.upperBound - $1.lowerBound) + 1 }
        }

        fileprivate mutating func skip(_ batch: Int64) {
            reach(batch)
            damagedBatches.append(batch)
        }

        fileprivate mutating func take(_ stored: StoredBatch) {
            reach(stored.id)
            end(at: LedgerPosition(batch: stored.id, sequence: stored.firstSequence - 1))
            last = stored.position
            batches += 1
        }

        private mutating func reach(_ batch: Int64) {
            if batch > last.batch + 1 { missingBatches.append(last.batch + 1...batch - 1) }
            last.batch = batch
        }

        fileprivate mutating func end(at position: LedgerPosition) {
            guard position.sequence > last.sequence else { return }
            lostEvents += position.sequence - last.sequence
            last.sequence = position.sequence
        }
    }

    /// Loads the last checkpoint and folds the batches after it.
    ///
    /// Of a damaged batch the readable parts are folded, and its number is returned, as are the numbers of missing ones.
    ///
    /// - Parameters:
    ///   - isFromStart: whether to ignore the checkpoint and fold every batch.
    ///   - index: what the console shows, as it was saved; nil without a console.
    ///   - now: the time, in microseconds since 1970: from then on the console counts where its index has missed something.
    ///   - onProgress: called at the beginning and after every read.
    package static func recover(
        from reader: LedgerReader,
        identityKey: IdentityKey,
        limits: LifecycleLimits,
        isFromStart: Bool = false,
        index: CycleIndex? = nil,
        now: Int64 = 0,
        onProgress: (RecoveryProgress) -> Void = { _ in }
    ) throws(LedgerError) -> (LedgerProjection, Recovery) {
        var projection = LedgerProjection(identityKey: identityKey, limits: limits, index: index)
        if !isFromStart { try projection.load(from: reader) }
        projection.beginIndex(now: now)

        var last = projection.position.batch
        let ends = try reader.statistics()
        var recovery = Recovery(after: max(projection.position, ends.pruned))
        let start = max(last, ends.pruned.batch)
        recovery.damagedSavedBatches = try damagedBatches(of: reader, upTo: last)
        var progress = RecoveryProgress(done: 0, total: max(ends.end.batch - start, 0))
        while true {
            progress.done = max(last - start, 0)
            onProgress(progress)
            let batches: [StoredBatch]
            do throws(LedgerError) {
                batches = try reader.read(afterBatch: last)
            } catch {
                guard case .damagedBatch(let id, _) = error else { throw error }
                recovery.skip(id)
                last = id
                continue
            }
            guard let end = batches.last else {
                recovery.end(at: ends.end)
                return (projection, recovery)
            }
            for stored in batches {
                recovery.take(stored)
                do throws(DamagedRowError) {
                    try projection.apply(stored.batch, at: stored.position)
                } catch {
                    recovery.damagedBatches.append(stored.id)
                }
            }
            last = end.id
        }
    }
}

extension LedgerProjection {
    /// The damaged ones of the last batches that the checkpoint has.
    ///
    /// What the checkpoint has is no reason to give the ledger up: where its pages cannot be read, nothing is told here.
    private static func damagedBatches(of reader: LedgerReader, upTo batch: Int64) throws(LedgerError) -> [Int64] {
        do throws(LedgerError) {
            return try reader.damagedBatches(upTo: batch)
        } catch .corrupt {
            return []
        }
    }
}

/// The progress of a recovery: folded batches, of all batches after the checkpoint.
package struct RecoveryProgress: Hashable, Sendable, CustomStringConvertible {
    package var done: Int64
    package var total: Int64

    package var description: String {
        "recovering, \(done.grouped) of \(max(done, total).grouped) batches"
    }
}
