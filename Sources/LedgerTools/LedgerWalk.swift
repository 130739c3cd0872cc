// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// Reads the batches of a ledger in order, some megabytes at a time, also while a service writes and deletes some.
struct LedgerWalk {
    /// What comes next.
    enum Step {
        case batch(StoredBatch)
        /// The batch cannot be read; how many events it held is not known.
        case damaged(batch: Int64, detail: String)
        /// The service deleted batches before they were read: nothing up to here comes any more.
        case deleted(LedgerPosition)
        /// Batches are not there, or numbers are left out or given twice, before the batch that comes next.
        case gap(after: LedgerPosition, batch: Int64, firstSequence: UInt64)
    }

    private let reader: LedgerReader
    /// Where the ledger ended at the start; what a service writes later is not walked.
    private let end: LedgerPosition
    private let limit: ReadLimit
    private var loaded: ArraySlice<StoredBatch>
    private var isSequenceKnown: Bool
    /// Everything up to here was read or told.
    private(set) var last: LedgerPosition

    /// Starts behind a position.
    init(
        _ reader: LedgerReader,
        after start: LedgerPosition,
        limit: ReadLimit = ReadLimit()
    ) throws(LedgerError) {
        self.reader = reader
        end = try reader.statistics().end
        self.limit = limit
        last = start
        loaded = []
        isSequenceKnown = true
    }

    /// Starts with the batch that holds the event behind a number, or with the first one behind it.
    init(_ reader: LedgerReader, afterSequence sequence: UInt64, limit: ReadLimit = ReadLimit()) throws(LedgerError) {
        try self.init(reader, after: .start, limit: limit)
        do throws(LedgerError) {
            loaded = try reader.read(afterSequence: sequence, limit: limit)[...]
            if let first = loaded.first {
                last = LedgerPosition(batch: first.id - 1, sequence: first.firstSequence - 1)
            } else {
                last = try reader.statistics().end
            }
        } catch {
            guard case .damagedBatch(let id, _) = error else { throw error }
            // It is read, and told, once more.
            last = LedgerPosition(batch: id - 1, sequence: sequence)
            isSequenceKnown = false
        }
    }

    /// The next step; nil where the ledger ended at the start.
    mutating func next() throws(LedgerError) -> Step? {
        guard last.batch < end.batch else { return nil }
        if loaded.isEmpty {
            do throws(LedgerError) {
                loaded = try reader.read(afterBatch: last.batch, limit: limit)[...]
            } catch {
                guard case .damagedBatch(let id, let detail) = error else { throw error }
                if id != last.batch + 1 { return try passGap(to: id, firstSequence: nil) }
                last.batch = id
                isSequenceKnown = false
                return .damaged(batch: id, detail: detail)
            }
        }
        guard let stored = loaded.first else {
            let pruned = try reader.statistics().pruned
            guard pruned.batch > last.batch else { return nil }
            last = pruned
            return .deleted(pruned)
        }
        let follows = !isSequenceKnown || stored.firstSequence == last.sequence + 1
        if stored.id != last.batch + 1 || !follows {
            return try passGap(to: stored.id, firstSequence: stored.firstSequence)
        }
        loaded.removeFirst()
        last = stored.position
        isSequenceKnown = true
        return .batch(stored)
    }

    /// Goes to the place in front of a batch, and tells what lies between.
    private mutating func passGap(to batch: Int64, firstSequence: UInt64?) throws(LedgerError) -> Step {
        let before = last
        last = LedgerPosition(batch: batch - 1, sequence: firstSequence.map { $0 - 1 } ?? last.sequence)
        isSequenceKnown = firstSequence != nil
        let pruned = try reader.statistics().pruned
        if before.batch < batch - 1, pruned.batch >= batch - 1 { return .deleted(last) }
        return .gap(after: before, batch: batch, firstSequence: firstSequence ?? before.sequence + 1)
    }
}
