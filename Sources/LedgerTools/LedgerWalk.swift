// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState

/// Reads the batches of a ledger in order, some megabytes at a time, also beside a service that appends and deletes.
struct LedgerWalk {
    /// One step of the walk.
    enum Step {
        case batch(StoredBatch)
        /// The batch cannot be read; its number of events is unknown.
        case damaged(batch: Int64, detail: String)
        /// The service deleted the batches up to here before they were read.
        case deleted(LedgerPosition)
        /// Batches are missing, or numbers are missing or repeated, before the next batch.
        case gap(after: LedgerPosition, batch: Int64, firstSequence: UInt64)
    }

    private let reader: LedgerReader
    /// The end of the ledger at the start of the walk; later batches are not read.
    private let end: LedgerPosition
    private let limit: ReadLimit
    private var loaded: ArraySlice<StoredBatch>
    private var isSequenceKnown: Bool
    /// The position up to which everything was read or reported.
    private(set) var last: LedgerPosition

    /// Starts after a position.
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

    /// Starts with the batch that holds the event after a number, or else with the next batch.
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
            // `next()` reads and reports it.
            last = LedgerPosition(batch: id - 1, sequence: sequence)
            isSequenceKnown = false
        }
    }

    /// The next step; nil at the end.
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

    /// Moves to the position before a batch and reports what is missing in between.
    private mutating func passGap(to batch: Int64, firstSequence: UInt64?) throws(LedgerError) -> Step {
        let before = last
        last = LedgerPosition(batch: batch - 1, sequence: firstSequence.map { $0 - 1 } ?? last.sequence)
        isSequenceKnown = firstSequence != nil
        let pruned = try reader.statistics().pruned
        if before.batch < batch - 1, pruned.batch >= batch - 1 { return .deleted(last) }
        return .gap(after: before, batch: batch, firstSequence: firstSequence ?? before.sequence + 1)
    }
}

/// The progress of reading the ledger.
package struct LedgerProgress: Hashable, Sendable {
    /// The events of the batches read so far.
    package var events: UInt64 = 0
    /// What is being read, such as "batches".
    package var stage = "batches"

    /// A line for the terminal.
    package func line(elapsedSeconds: Double) -> String {
        let rate = elapsedSeconds > 0 ? ", \(UInt64(Double(events) / elapsedSeconds)) events/s" : ""
        return "\(stage): \(events) events\(rate)"
    }
}

/// A state directory that cannot be read, as a sentence for the user.
package struct UnreadableLedger: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected, what was found and what to do.
    package let description: String

    /// SQLite's `SQLITE_READONLY` and `SQLITE_CANTOPEN`, the first byte of its extended codes, and the system's `EPERM`
    /// and `EACCES`, negative.
    private static func isForbidden(_ code: Int32) -> Bool {
        code == -1 || code == -13 || code > 0 && [8, 14].contains(code & 0xFF)
    }

    init(_ description: String) {
        self.description = description
    }

    init(_ error: LedgerError) {
        description =
            switch error {
            case .absent(let path): "there is no ledger at \(path); name the service's directory with --state-dir"
            case .other(let code, let message) where Self.isForbidden(code):
                "the ledger cannot be opened (\(message)); readers share the index of its write-ahead log: run this as "
                    + "the service's user or as root"
            default: error.description
            }
    }

    /// - Parameter directory: the state directory, whose other files tell whether an absent ledger was lost.
    init(_ error: LedgerError, in directory: String) {
        if case .absent = error, case .lost(let ledger)? = try? LedgerPresence.find(in: directory) {
            self.init(ledger.description)
        } else {
            self.init(error)
        }
    }
}
