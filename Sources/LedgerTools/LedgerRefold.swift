// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import TelemetryEvents

/// Folds the batches of a ledger anew, from its first one or from the last checkpoint.
struct LedgerRefold {
    var projection: LedgerProjection
    /// Whether it began with nothing, so that everything that was ever accepted is in it.
    let isFromBeginning: Bool
    private(set) var batches: UInt64 = 0
    private(set) var events: UInt64 = 0
    /// What could not be folded, and what the saved state may hold all the same.
    private(set) var problems: [String] = []

    /// Batches were deleted that it had not folded: the service went on meanwhile.
    struct Overtaken: Error {}

    /// - Parameter projection: the state to begin with.
    init(_ projection: LedgerProjection) {
        self.projection = projection
        isFromBeginning = projection.position == .start
    }

    /// Goes on up to a position, or to the end of the ledger.
    mutating func fold(
        _ reader: LedgerReader,
        upTo end: LedgerPosition? = nil,
        progress: (LedgerProgress) -> Void
    ) throws {
        var reached = LedgerProgress()
        var walk = try LedgerWalk(reader, after: projection.position)
        while projection.position.batch < end?.batch ?? .max, let step = try walk.next() {
            switch step {
            case .batch(let stored):
                if stored.id > end?.batch ?? .max { return }
                apply(stored)
                reached.events = events
                progress(reached)
            case .damaged(let batch, let detail):
                problems.append("batch \(batch) is damaged and not in it: \(detail)")
            case .gap(let last, let batch, _):
                problems.append("batch \(batch) does not follow \(last): something between them is missing")
            case .deleted: throw Overtaken()
            }
        }
        if let end, walk.last.batch < end.batch {
            problems.append("the ledger ends at \(walk.last), before \(end)")
        }
    }

    /// Records that cannot be read are left out here as they were when they came.
    private mutating func apply(_ stored: StoredBatch) {
        batches += 1
        events += UInt64(stored.batch.count)
        try? projection.apply(stored.batch, at: stored.position)
    }
}

extension LedgerProjection {
    /// Hands every page of a checkpoint to `body`, of a projection from which nothing was taken and nothing loaded.
    mutating func takeWholeState(_ body: (StateKey, [UInt8]) -> Void) {
        body(IngestAccounts.stateKey, accounts.encoded)
        for source in sources.sources {
            if let page = sources.page(of: source) { body(SourcePositions.key(of: source), page) }
        }
        var delta = fold.takeChanges()
        while let page = delta.takePage() { body(StateKey("fold/" + page.key), page.value) }
    }
}
