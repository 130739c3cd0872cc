// SPDX-License-Identifier: Apache-2.0

internal import CycleIndex
internal import EventLedger
internal import LedgerState
internal import PrefetchLifecycle
internal import Synchronization
internal import TelemetryEvents

/// What the ledger's writer hands to the console: a snapshot of the projection a few times a second, and the newest events
/// while somebody watches them. Neither waits for the other.
final class ConsoleFeed: Sendable {
    /// The projection as of one position of the ledger.
    struct Snapshot: Sendable {
        let position: LedgerPosition
        /// The ledger's clock.
        let clock: Timestamp
        let cycles: CycleView
        /// The counts since the ledger began.
        let counts: ConsoleCounts
        /// The counts of the last day.
        let recent: RecentCounts
        let accounts: IngestAccounts
        let openCycles: Int
        let rememberedIdentities: Int
        /// How many cycles may be open now, and how many identities be remembered.
        let openCycleLimit: Int
        let identityLimit: Int
    }

    let live: LiveEvents
    private let pauseMicroseconds: Int64
    private let latest = Mutex<Snapshot?>(nil)

    /// - Parameters:
    ///   - lastSequence: the number of the ledger's last event.
    ///   - pauseMicroseconds: the least time between two snapshots, of which one costs the writer some ten microseconds.
    init(after lastSequence: UInt64 = 0, pauseMicroseconds: Int64 = 200_000) {
        live = LiveEvents(after: lastSequence)
        self.pauseMicroseconds = pauseMicroseconds
    }

    /// The latest snapshot; nil before the first.
    var snapshot: Snapshot? { latest.withLock { $0 } }

    /// The end of the feed on the writer's thread.
    struct Writer {
        private let feed: ConsoleFeed
        private var published: LedgerPosition?
        private var nextAt = Int64.min

        init(_ feed: ConsoleFeed) {
            self.feed = feed
        }

        /// Hands on a committed batch.
        func committed(_ batch: LedgerBatch, at placement: CommitPlacement) {
            feed.live.add(batch, at: placement)
        }

        /// Publishes the projection where it has changed, at most a few times a second. The writer's ticks publish the rest.
        ///
        /// - Parameter now: microseconds of a clock that is never set.
        mutating func publish(_ projection: inout LedgerProjection, at now: Int64) {
            guard published != projection.position, now >= nextAt, projection.index != nil else { return }
            nextAt = now + feed.pauseMicroseconds
            published = projection.position
            let counts = projection.consoleCounts
            projection.updateIndex(counts)
            guard let index = projection.index else { return }
            let snapshot = Snapshot(
                position: projection.position,
                clock: projection.fold.clock,
                cycles: index.view,
                counts: counts,
                recent: index.counts,
                accounts: projection.accounts,
                openCycles: projection.fold.openCycles,
                rememberedIdentities: projection.fold.rememberedIdentities,
                openCycleLimit: projection.fold.openCycleLimit,
                identityLimit: projection.fold.identityLimit
            )
            feed.latest.withLock { $0 = snapshot }
        }
    }
}
