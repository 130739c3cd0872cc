// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import Synchronization

/// How far the events of the ledger have come in the journal: what is confirmed, and what of that is saved.
///
/// `accepted = confirmed + skipped + pending` (SPEC 4.5): `skipped` are the events that were accepted while there was no
/// journal to write to and had left the ledger before there was one.
final class JournalProgress: Sendable {
    /// A position with what a restart needs beside it.
    struct Reached: Equatable, Sendable {
        var position: LedgerPosition
        var cursor: String?
        var skipped: UInt64

        /// The note beside the position in the ledger: the skipped events and the journal's cursor.
        var note: String { "\(skipped) \(cursor ?? "")" }

        init(position: LedgerPosition, cursor: String?, skipped: UInt64) {
            self.position = position
            self.cursor = cursor
            self.skipped = skipped
        }

        init(_ saved: ProjectionPosition) {
            let parts = saved.note.split(separator: " ", maxSplits: 1)
            position = saved.position
            skipped = parts.first.flatMap { UInt64($0) } ?? 0
            cursor = parts.count > 1 ? String(parts[1]) : nil
        }
    }

    private struct State {
        var reached: Reached
        var saved: Reached
        /// The ends of batches that were read and are not confirmed whole.
        var batchEnds: [LedgerPosition] = []
        var lag: JournalLag
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - start: from where the journal goes on.
    ///   - oldest: when the first event behind it was received, in microseconds; nil when there is none.
    init(_ start: Reached, end: LedgerPosition, oldest: Int64?) {
        var lag = JournalLag()
        if let oldest, end.sequence > start.position.sequence { lag.committed(end.sequence, at: oldest) }
        state = Mutex(State(reached: start, saved: start, lag: lag))
    }

    /// What is saved in the ledger, and so is shown as confirmed.
    var saved: Reached { state.withLock { $0.saved } }

    /// What has been reached and not saved, or nil.
    var unsaved: Reached? { state.withLock { $0.reached == $0.saved ? nil : $0.reached } }

    /// Tells that the ledger has grown.
    func committed(_ sequence: UInt64, at time: Int64) {
        state.withLock { $0.lag.committed(sequence, at: time) }
    }

    /// The age of the oldest event that is not confirmed, in microseconds.
    func lag(now: Int64) -> Int64 {
        state.withLock { $0.lag.age(behind: $0.reached.position.sequence, now: now) }
    }

    /// Tells where a batch ends that is about to be written.
    func willWrite(batchEndingAt end: LedgerPosition) {
        state.withLock { state in
            let last = state.batchEnds.last ?? state.reached.position
            if last.batch < end.batch { state.batchEnds.append(end) }
        }
    }

    /// Tells that all events up to a number stand in the journal.
    ///
    func confirmed(_ sequence: UInt64) {
        state.withLock { state in
            let whole = state.batchEnds.prefix { $0.sequence <= sequence }
            if let last = whole.last { state.reached.position.batch = last.batch }
            state.batchEnds.removeFirst(whole.count)
            state.reached.position.sequence = max(state.reached.position.sequence, sequence)
        }
    }

    /// Tells that events which cannot be read will never be written.
    func passOver(_ events: UInt64) {
        state.withLock { $0.reached.skipped += events }
    }

    /// Tells where in the journal to look behind after a restart; it may be old.
    func passed(cursor: String?) {
        guard let cursor else { return }
        state.withLock { $0.reached.cursor = cursor }
    }

    /// The last confirmed event.
    var latest: UInt64 { state.withLock { $0.reached.position.sequence } }

    /// Tells that a position is durable.
    func saved(_ reached: Reached) {
        state.withLock { $0.saved = reached }
    }
}
