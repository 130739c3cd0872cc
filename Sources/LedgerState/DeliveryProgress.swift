// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import Journald
internal import Synchronization

/// How the journal's entries of this service are found (docs/journal.md).
package enum JournalEntryNames {
    /// The `SYSLOG_IDENTIFIER` of the entries, by which `journalctl -t` selects them.
    package static let identifier = "dnp-telemetry"
    /// The field of an entry that names its ledger.
    package static let ledgerField: JournalField = "DNP_LEDGER"
    /// The field of an entry that holds its number in the ledger.
    package static let sequenceField: JournalField = "DNP_SEQ"
}

/// The delivery position in the journal, or at another destination: confirmed, and of that saved in the ledger.
///
/// `accepted = confirmed + skipped + pending`: `skipped` are the events that were deleted from the ledger before there
/// was a journal to write to, or while a destination was away for too long.
package final class DeliveryProgress: Sendable {
    /// The name of the journal's position in the ledger.
    package static let journal = "journal"

    /// A position with what a restart needs besides it.
    package struct Reached: Equatable, Sendable {
        package var position: LedgerPosition
        package var cursor: String?
        package var skipped: UInt64

        /// The note saved with the position: the skipped events and the journal's cursor.
        package var note: String { "\(skipped) \(cursor ?? "")" }

        package init(position: LedgerPosition, cursor: String?, skipped: UInt64) {
            self.position = position
            self.cursor = cursor
            self.skipped = skipped
        }

        package init(_ saved: ProjectionPosition) {
            let parts = saved.note.split(separator: " ", maxSplits: 1)
            position = saved.position
            skipped = parts.first.flatMap { UInt64($0) } ?? 0
            cursor = parts.count > 1 ? String(parts[1]) : nil
        }
    }

    fileprivate struct State {
        var reached: Reached
        var saved: Reached
        /// The ends of the batches that were read and not yet confirmed completely.
        var batchEnds: [LedgerPosition] = []
        /// What was passed over ahead of the position, each with its last number. It counts as skipped once the position has
        /// passed it: a restart meets what the saved position has not passed again.
        var passedOver: [(end: UInt64, events: UInt64)] = []
        /// Whether there is a position to save although nothing was delivered: a destination begins where it was first named.
        var isNew: Bool
        var lag: DeliveryLag
    }

    /// The name of this position in the ledger.
    package let projection: String
    private let state: Mutex<State>
    private let clock: LedgerClock

    /// - Parameters:
    ///   - start: the position to resume from.
    ///   - oldest: the receive time of the first event after it, in microseconds since 1970; nil without one.
    ///   - projection: the name of the position in the ledger.
    ///   - isNew: whether the position is to be saved as it is.
    ///   - clock: its wall clock tells the age of that event now; from here on events age by its monotonic clock, whatever
    ///     the wall clock is set to.
    package init(
        _ start: Reached,
        end: LedgerPosition,
        oldest: Int64?,
        projection: String = DeliveryProgress.journal,
        isNew: Bool = false,
        clock: LedgerClock = .system
    ) {
        self.projection = projection
        var lag = DeliveryLag()
        if let oldest, end.sequence > start.position.sequence {
            lag.committed(end.sequence, at: Self.now(clock) &- max(clock.now() &- oldest, 0))
        }
        self.clock = clock
        state = Mutex(State(reached: start, saved: start, isNew: isNew, lag: lag))
    }

    private static func now(_ clock: LedgerClock) -> Int64 { Int64(clamping: clock.monotonic() / 1_000) }

    /// The saved position, which the metrics show as confirmed.
    package var saved: Reached { state.withLock { $0.saved } }

    /// The position reached and not saved yet, or nil.
    package var unsaved: Reached? {
        state.withLock { $0.reached == $0.saved && !$0.isNew ? nil : $0.reached }
    }

    /// Reports a commit to the ledger.
    package func committed(_ sequence: UInt64) {
        let now = self.now
        state.withLock { $0.lag.committed(sequence, at: now) }
    }

    /// The saved position, and since when the oldest event behind it has waited, in microseconds of the monotonic clock;
    /// nil where none is known.
    package var waiting: (saved: Reached, since: Int64?) {
        state.withLock { ($0.saved, $0.lag.since(behind: $0.saved.position.sequence)) }
    }

    /// How long the oldest event behind the saved position has waited, in microseconds; nil where none waits.
    package var waitingMicroseconds: Int64? { waiting.since.map { age(since: $0) } }

    /// How long an event has waited since a time of the monotonic clock, in microseconds, at least one.
    package func age(since: Int64) -> Int64 { max(now &- since, 1) }

    /// Microseconds of the monotonic clock.
    package var now: Int64 { Self.now(clock) }

    /// Reports the end of a batch that is about to be written.
    package func willWrite(batchEndingAt end: LedgerPosition) {
        state.withLock { state in
            let last = state.batchEnds.last ?? state.reached.position
            if last.batch < end.batch { state.batchEnds.append(end) }
        }
    }

    /// Reports that the journal holds all events up to a number.
    package func confirmed(_ sequence: UInt64) {
        state.withLock { state in
            let whole = state.batchEnds.prefix { $0.sequence <= sequence }
            if let last = whole.last { state.reached.position.batch = last.batch }
            state.batchEnds.removeFirst(whole.count)
            state.reached.position.sequence = max(state.reached.position.sequence, sequence)
            let passed = state.passedOver.prefix { $0.end <= sequence }
            for range in passed { state.reached.skipped += range.events }
            state.passedOver.removeFirst(passed.count)
        }
    }

    /// Counts events that are never delivered, because they were deleted or cannot be read, as skipped.
    ///
    /// - Parameter end: the number of the last of them.
    package func passOver(_ events: UInt64, upTo end: UInt64) {
        state.withLock { state in
            if end <= state.reached.position.sequence {
                state.reached.skipped += events
            } else {
                state.passedOver.append((end, events))
            }
        }
    }

    /// Reports the journal cursor after which a restart searches; it may be old.
    package func passed(cursor: String?) {
        guard let cursor else { return }
        state.withLock { $0.reached.cursor = cursor }
    }

    /// The last confirmed event.
    package var latest: UInt64 { state.withLock { $0.reached.position.sequence } }

    /// The events that are never delivered.
    package var skipped: UInt64 { state.withLock(\.skipped) }

    /// The events that are never delivered, those included that were deleted ahead of what was read.
    ///
    /// - Parameters:
    ///   - pruned: the last number that was deleted from the ledger.
    ///   - loaded: the last number that was read from it.
    package func dropped(pruned: UInt64, loaded: UInt64) -> UInt64 {
        state.withLock { state in
            let seen = max(loaded, state.reached.position.sequence, state.passedOver.last?.end ?? 0)
            return state.skipped + (pruned > seen ? pruned - seen : 0)
        }
    }

    /// Reports that a position is durable.
    package func saved(_ reached: Reached) {
        state.withLock { state in
            state.saved = reached
            state.isNew = false
        }
    }
}

extension DeliveryProgress.State {
    fileprivate var skipped: UInt64 { passedOver.reduce(reached.skipped) { $0 + $1.events } }
}

extension DeliveryProgress {
    /// The progress from which delivery resumes.
    ///
    /// - Parameter readable: the end of what can be read, where the last batch is damaged: nothing lags behind that.
    package static func resume(
        _ ledger: EventLedger,
        projection: String = DeliveryProgress.journal,
        upTo readable: LedgerPosition? = nil,
        clock: LedgerClock = .system
    ) throws(LedgerError) -> DeliveryProgress {
        let statistics = try ledger.reader.statistics()
        let saved = try ledger.reader.position(of: projection)
        // What was deleted before there was a destination was never meant for it.
        let isNew = saved == nil && projection != Self.journal
        let start =
            isNew
            ? Reached(position: statistics.pruned, cursor: nil, skipped: 0)
            : Reached.resuming(saved, pruned: statistics.pruned)
        return DeliveryProgress(
            start,
            end: readable ?? statistics.end,
            oldest: try received(after: start.position.sequence, ledger.reader) ?? statistics.oldestReceivedAt,
            projection: projection,
            isNew: isNew,
            clock: clock
        )
    }

    /// When the event behind a number was received; nil where there is none, or its batch is damaged.
    private static func received(after sequence: UInt64, _ reader: LedgerReader) throws(LedgerError) -> Int64? {
        do throws(LedgerError) {
            return try reader.read(afterSequence: sequence, limit: ReadLimit(batches: 1)).first?.batch.receivedAt
        } catch .damagedBatch {
            return nil
        }
    }
}

extension DeliveryProgress.Reached {
    /// The saved position, or the end of what was deleted since.
    package static func resuming(_ saved: ProjectionPosition?, pruned: LedgerPosition) -> DeliveryProgress.Reached {
        var start = saved.map { Self($0) } ?? Self(position: .start, cursor: nil, skipped: 0)
        if start.position.sequence < pruned.sequence {
            start.skipped += pruned.sequence - start.position.sequence
            start.position = pruned
        }
        return start
    }
}

/// The commit times of unconfirmed events by the monotonic clock, in microseconds, at one second's resolution and in
/// bounded memory.
struct DeliveryLag: Sendable {
    private static let resolution: Int64 = 1_000_000
    private static let samples = 4_096

    private var commits: [(sequence: UInt64, at: Int64)] = []

    mutating func committed(_ sequence: UInt64, at time: Int64) {
        if let last = commits.last, time - last.at < Self.resolution || commits.count >= Self.samples {
            commits[commits.count - 1].sequence = max(last.sequence, sequence)
        } else if sequence > commits.last?.sequence ?? 0 {
            commits.append((sequence, time))
        }
    }

    /// The time of the oldest commit with an event after `confirmed`; nil without one.
    mutating func since(behind confirmed: UInt64) -> Int64? {
        commits.removeFirst(commits.prefix { $0.sequence <= confirmed }.count)
        return commits.first?.at
    }
}
