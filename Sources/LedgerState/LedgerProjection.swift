// SPDX-License-Identifier: Apache-2.0

package import CycleIndex
package import EventLedger
package import PrefetchLifecycle
package import RefreshLifecycle
package import TelemetryEvents
internal import TextOutput

/// The state folded from the ledger: the lifecycles of all apps, accounts and source positions, with the ledger position
/// they are valid for.
///
/// The live service, recovery and rebuild share it. What it holds depends on the ledger alone and on no setting, so that a
/// rebuild needs none.
package struct LedgerProjection: Sendable {
    package static let name = "lifecycle"
    /// What the keys of the folds' pages begin with in a checkpoint.
    package static let foldPrefix = "fold/"

    /// The cycles of the prefetch, and the identities of all events.
    package var fold: LifecycleFold
    /// The runs of the background refresh.
    package private(set) var refresh = RefreshFold(anonymousIsOneInstallation: false)
    package private(set) var accounts = IngestAccounts()
    /// The read position of every source.
    package private(set) var sources = SourcePositions()
    package private(set) var position = LedgerPosition.start
    /// What the console shows; nil where there is none. It is saved beside this state, with a position of its own.
    package private(set) var index: CycleIndex?
    /// The batch up to which the effects of events are estimated, as in the saved state that a rebuild is compared with.
    package var estimatesUpTo: Int64?
    /// Whether the loaded state was that of an older version, and lacked what this one saves beside.
    package private(set) var wasCompleted = false
    private let identityKey: IdentityKey
    private let limits: LifecycleLimits
    /// As the last checkpoint has it.
    private var savedHalvings = 0

    /// - Parameter index: what the console shows, for the same position.
    package init(identityKey: IdentityKey, limits: LifecycleLimits, index: CycleIndex? = nil) {
        self.identityKey = identityKey
        self.limits = limits
        self.index = index
        fold = LifecycleFold(
            key: identityKey,
            limits: limits,
            keepsClosedCycles: index != nil,
            anonymousIsOneInstallation: false
        )
    }

    /// The time of the last row, in microseconds since 1970; nil without rows.
    package var lastRow: Int64? { position == .start ? nil : fold.lastRow.microseconds }

    /// The most that the limits of the state can be halved without forgetting an identity that is remembered now.
    package var sparingHalvings: Int {
        let remembered = fold.rememberedIdentities
        // Identities are halved three times less than the others (`LifecycleFold.halveLimits(_:)`).
        return (0...LifecycleFold.maximumHalvings).last { limits.identities >> max(0, $0 - 3) >= remembered } ?? 0
    }

    /// Applies a batch of the ledger.
    ///
    /// - Parameter hashes: the hashes of its events, where they are known.
    /// - Throws: `DamagedRowError` when a part of it cannot be read; the readable parts are counted all the same.
    package mutating func apply(
        _ batch: LedgerBatch,
        _ hashes: EventHashes = EventHashes(),
        at position: LedgerPosition
    ) throws(DamagedRowError) {
        self.position = position
        let receivedAt = Timestamp(microseconds: batch.receivedAt)
        willIndex(receivedAt)
        defer { didIndex() }
        let readableReceipt = IngestReceipt(encoded: batch.receipt)
        let receipt = readableReceipt ?? IngestReceipt()
        accounts.add(receipt, accepted: UInt64(batch.count), origin: batch.origin)
        if let read = receipt.position { sources.note(read, batch: position.batch) }
        let increments = fold.increments
        defer {
            accounts.add(
                fold.takeEffects(),
                refresh.takeEffects(),
                of: UInt64(batch.count),
                increments: fold.increments &- increments
            )
            if position.batch == estimatesUpTo { estimateEffects() }
        }
        if let halvings = LimitsRow.halvings(origin: batch.origin) { halveLimits(halvings) }
        if batch.origin == EventOrigin.tick.rawValue {
            fold.tick(to: receivedAt)
            refresh.tick(to: receivedAt)
        } else {
            fold.remember(receipt.batchIdentities, receivedAt: receivedAt)
            do throws(EventRecordError) {
                try apply(batch.events.span, hashes, receivedAt: receivedAt)
            } catch {
                throw .events(error)
            }
        }
        if readableReceipt == nil { throw .receipt }
    }

    /// Folds the events of a batch, each in the fold of its app; of a damaged batch those before the damage.
    private mutating func apply(
        _ records: Span<UInt8>,
        _ hashes: EventHashes,
        receivedAt: Timestamp
    ) throws(EventRecordError) {
        let others = fold.otherEvents
        var damage: EventRecordError?
        do throws(EventRecordError) {
            if index == nil {
                try fold.apply(records, hashes, receivedAt: receivedAt)
            } else {
                try applyIndexed(records, hashes, receivedAt: receivedAt)
            }
        } catch {
            damage = error
        }
        // Both folds read the records alike, so that the second one finds the same damage.
        if fold.otherEvents != others { try refresh.apply(records, receivedAt: receivedAt) }
        if let damage { throw damage }
    }

    /// Folds events and notes what they name for the console.
    private mutating func applyIndexed(
        _ records: Span<UInt8>,
        _ hashes: EventHashes,
        receivedAt: Timestamp
    ) throws(EventRecordError) {
        // Taken out, so that the fold and the index can change at once.
        var taken: CycleIndex?
        swap(&taken, &index)
        defer { swap(&taken, &index) }
        guard var index = taken else { return }
        taken = nil
        defer { taken = index }
        try fold.apply(records, hashes, receivedAt: receivedAt) { event, schedule in
            index.note(event, schedule, in: records)
        }
    }

    private mutating func halveLimits(_ halvings: Int) {
        fold.halveLimits(halvings)
        refresh.halveLimits(fold.halvings)
    }

    /// Estimates what the events did that an older version accepted (docs/metrics.md, What accepted events did), and starts
    /// the other clock that it did not have.
    private mutating func estimateEffects() {
        fold.restartAgingClock()
        let totals = fold.totals
        accounts.estimateEffects(
            increments: fold.increments,
            recovered: LifecycleStage.allCases.reduce(0) { $0 &+ totals.recovered($1) },
            upTo: position.batch
        )
    }

    /// Whether a cycle or a run is due to close, so that a tick must be written to the ledger.
    package mutating func isTickDue(at now: Int64) -> Bool {
        let now = Timestamp(microseconds: now)
        return fold.isTickDue(at: now) || refresh.isTickDue(at: now)
    }

    /// The encoded verdicts on the cycles and runs that break a rule and that a tick received at this time closes.
    ///
    /// Closes and counts nothing.
    package mutating func verdicts(closingAt receivedAt: Int64) -> (count: Int, records: [UInt8]) {
        let receivedAt = Timestamp(microseconds: receivedAt)
        let now = fold.timeOfTick(at: receivedAt)
        var records: [UInt8] = []
        let cycles = fold.violations(closingAt: now)
        for cycle in cycles { VerdictRecord.append(CycleVerdict(cycle, closedAt: now), to: &records) }
        guard refresh.isTickDue(at: receivedAt) else { return (cycles.count, records) }
        let runs = refresh.violations(closingAt: receivedAt)
        for run in runs { VerdictRecord.append(RunVerdict(run, closedAt: now, key: identityKey), to: &records) }
        return (cycles.count + runs.count, records)
    }

    /// The most bytes that the next checkpoint takes, without the few of accounts and sources; cheap.
    package var checkpointBytes: Int { fold.checkpointBytes + refresh.checkpointBytes }

    /// By how much an event may raise ``checkpointBytes``. An event of any app adds its identity.
    package static var checkpointBytesPerEvent: Int {
        max(
            LifecycleFold.checkpointBytesPerEvent,
            RefreshFold.checkpointBytesPerEvent + LifecycleFold.checkpointBytesPerIdentity
        )
    }

    /// The changes since the last call, for a checkpoint; cheap, see `LifecycleFold`.
    ///
    /// - Parameter position: the end of the ledger, which lies behind a damaged last batch.
    package mutating func takeChanges(at position: LedgerPosition) -> ProjectionChanges {
        var small = StateChanges()
        small.put(IngestAccounts.stateKey, accounts.encoded)
        sources.takeChanges(into: &small)
        if fold.halvings != savedHalvings {
            small.put(LimitsRow.stateKey, LimitsRow.page(halvings: fold.halvings))
            savedHalvings = fold.halvings
        }
        let bytes = checkpointBytes + small.bytes
        return ProjectionChanges(at: position, small: small, folds: takeFoldChanges(), bytes: bytes)
    }

    /// The changed pages of the folds since the last call; the totals of the prefetch come first.
    package mutating func takeFoldChanges() -> StateDelta {
        var delta = fold.takeChanges()
        refresh.takeChanges(into: &delta)
        return delta
    }

    /// Restores the last checkpoint and its position; false when there is none.
    ///
    /// - Parameter observe: called with every page, also after one that cannot be restored.
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
        if accounts.lacksEffects {
            estimateEffects()
            wasCompleted = true
        }
        return true
    }

    /// Restores a page of a checkpoint; pages come in the order of their keys, before any batch is applied.
    private mutating func restore(_ key: StateKey, _ value: [UInt8]) throws(LedgerError) {
        if key == IngestAccounts.stateKey, let accounts = IngestAccounts(encoded: value) {
            self.accounts = accounts
            return
        }
        if sources.restore(key, value) { return }
        if key == LimitsRow.stateKey, value.count == 1 {
            savedHalvings = Int(value[0])
            return halveLimits(savedHalvings)
        }
        let name = String(decoding: key.bytes, as: UTF8.self)
        guard name.hasPrefix(Self.foldPrefix) else {
            throw .corrupt(detail: "saved state under the unknown name \(name)")
        }
        let page = StatePage(key: String(name.dropFirst(Self.foldPrefix.count)), value: value)
        do throws(StateError) {
            if RefreshFold.holds(page) { try refresh.restore(page) } else { try fold.restore(page) }
        } catch {
            throw .corrupt(detail: error.description)
        }
    }
}

// MARK: The console

extension LedgerProjection {
    /// What is counted now, for the console.
    package var consoleCounts: ConsoleCounts {
        let received = accounts.received.values.reduce(0, &+)
        return ConsoleCounts(
            fold.totalsByGroup,
            refresh.totals,
            received: received,
            accepted: accounts.accepted,
            duplicates: accounts.duplicates,
            rejected: accounts.rejected.reduce(0, &+)
        )
    }

    /// Puts what was counted into the index's slots of time, so that the index is whole.
    ///
    /// - Parameter counts: what is counted now; nil where that is yet to be looked up.
    package mutating func updateIndex(_ counts: ConsoleCounts? = nil) {
        guard index != nil else { return }
        let counts = counts ?? consoleCounts
        index?.counts.take(counts)
    }

    /// What the index has saved is saved.
    package mutating func savedIndex() { index?.saved() }

    /// Puts the growth until now into the slot of its time, before a batch of another minute.
    private mutating func willIndex(_ receivedAt: Timestamp) {
        guard let counts = index?.counts, isIndexing, counts.isNewMinute(receivedAt.microseconds) else { return }
        let counted = consoleCounts
        index?.counts.take(counted, next: receivedAt.microseconds)
    }

    /// Whether the index has yet to get what the batch at the current position closes: it may be ahead of the state that a
    /// recovery began with.
    private var isIndexing: Bool { index.map { $0.position.batch < position.batch } ?? false }

    private mutating func didIndex() {
        guard index != nil else { return }
        let closed = fold.takeClosedCycles()
        if isIndexing {
            let (groups, clock, halvings, position) = (fold.totalsByGroup, fold.clock, fold.halvings, position)
            index?.add(closed, closedAt: clock, groups: groups.map(\.name), at: position, halvings: halvings)
        } else if index?.position.batch == position.batch {
            updateIndex()
        }
    }

    /// The same state with an index that is kept from here on; nil for none.
    package func indexed(by index: CycleIndex?) -> LedgerProjection {
        var projection = self
        projection.index = index
        projection.fold.keepsClosedCycles = index != nil
        projection.beginIndex(now: lastRow ?? 0)
        return projection
    }

    /// Brings the index to the loaded state, where it is not ahead of it.
    ///
    /// - Parameter now: the time, in microseconds since 1970.
    package mutating func beginIndex(now: Int64) {
        guard let reached = index?.position.batch, reached <= position.batch else { return }
        if reached < position.batch { index?.restartCounts(at: position, since: now) }
        updateIndex()
    }
}

/// A row of the ledger of which a part cannot be read: it is damaged, or was written by a newer version.
package enum DamagedRowError: Error, CustomStringConvertible {
    /// The receipt: the events are counted; duplicates, rejections, lines and the source's position are not.
    case receipt
    /// The events: those before the damage are counted.
    case events(EventRecordError)

    package var description: String {
        switch self {
        case .receipt: "its receipt cannot be read"
        case .events(let error): error.description
        }
    }
}
