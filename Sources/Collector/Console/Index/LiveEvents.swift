// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Synchronization

/// The newest committed batches, in bounded memory, while at least one stream of the live view is open.
final class LiveEvents: Sendable {
    /// The most streams at once.
    static let maximumStreams = 16
    /// The most bytes of events that are kept for streams.
    private static let maximumBytes = 1 << 20

    /// A committed batch of events.
    struct Batch: Sendable {
        let firstSequence: UInt64
        let count: UInt32
        /// In microseconds since 1970.
        let receivedAt: Int64
        /// The encoded records, without a copy.
        let records: [UInt8]

        var lastSequence: UInt64 { firstSequence + UInt64(count) - 1 }
    }

    private struct State {
        var batches: [Batch] = []
        var bytes = 0
    }

    private let streams = Atomic(0)
    private let last: Atomic<UInt64>
    private let state = Mutex(State())

    /// - Parameter sequence: the number of the ledger's last event.
    init(after sequence: UInt64) {
        last = Atomic(sequence)
    }

    /// The number of the last committed event.
    var lastSequence: UInt64 { last.load(ordering: .relaxed) }
    /// How many streams are open.
    var openStreams: Int { streams.load(ordering: .relaxed) }

    /// Opens a stream; false where too many are open. ``close()`` ends it.
    func open() -> Bool {
        let count = streams.add(1, ordering: .relaxed).newValue
        guard count > Self.maximumStreams else { return true }
        close()
        return false
    }

    func close() {
        let count = streams.subtract(1, ordering: .relaxed).newValue
        if count == 0 { state.withLock { $0 = State() } }
    }

    /// Keeps a committed batch; a few nanoseconds while nobody watches.
    func add(_ batch: LedgerBatch, at placement: CommitPlacement) {
        last.store(placement.position.sequence, ordering: .relaxed)
        guard streams.load(ordering: .relaxed) > 0, batch.count > 0, batch.origin != EventOrigin.tick.rawValue else {
            return
        }
        let kept = Batch(
            firstSequence: placement.firstSequence,
            count: batch.count,
            receivedAt: batch.receivedAt,
            records: batch.events
        )
        state.withLock { state in
            state.batches.append(kept)
            state.bytes += kept.records.count
            var dropped = 0
            while state.bytes > Self.maximumBytes, dropped < state.batches.count {
                state.bytes -= state.batches[dropped].records.count
                dropped += 1
            }
            state.batches.removeFirst(dropped)
        }
    }

    /// The kept batches with events after a number, the oldest first.
    func batches(after sequence: UInt64) -> [Batch] {
        state.withLock { $0.batches.filter { $0.lastSequence > sequence } }
    }
}
