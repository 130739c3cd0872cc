// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// Turns accepted events and the ledger's clock into counts and judged cycles.
///
/// The fold is pure: the same batches in the same order give the same totals and the same checkpoint, whether they come
/// live, from a recovery or from a file. It never reads a clock; each batch and tick carries its time. Folding an event
/// costs O(facts of its cycle) and, on average, no allocation.
///
/// To deduplicate, call `propose(_:)` with the identities of events before they enter the ledger, and `clearProposals()`
/// once the transaction has committed or failed. `apply(_:_:receivedAt:)` remembers the identities of committed events.
public struct LifecycleFold: Sendable {
    /// The sum of all groups.
    public var totals: LifecycleTotals { groups.sum }
    /// The totals by platform and app version, for the optional labels (docs/metrics.md): at most 128 groups. The first
    /// group holds events that name neither.
    public var totalsByGroup: [LifecycleGroup] { groups.groups }
    /// The latest time of any batch or tick, since a tick last set it back (`tick(to:)`).
    public internal(set) var clock = Timestamp(microseconds: 0)
    /// How many events of other apps it passed over. Their identities are remembered, so that one ledger needs one memory
    /// of them; whoever sees this grow gives the batch to their fold. Not part of a checkpoint.
    public private(set) var otherEvents: UInt64 = 0
    /// What the events did since the last `takeEffects()`.
    var effects = EffectTally()
    /// How often the limits of the state are halved, because its disk is small.
    public private(set) var halvings = 0

    let key: IdentityKey
    let limits: LifecycleLimits
    /// Whether closed cycles are kept for `takeClosedCycles()`.
    package var keepsClosedCycles: Bool
    let deduplicates: Bool
    let anonymousIsOneInstallation: Bool
    let isReceiver: Bool
    /// Whether the events of a file that do not tell it are those of a simulator.
    public var assumedSimulator: Bool?
    var groups = LifecycleGroups()
    var identities: RememberedIdentities
    var cycles: CycleTable
    var installations: InstallationTable
    var windows = RollingWindows()
    /// The latest event time.
    package internal(set) var latest = Timestamp(microseconds: 0)
    var closedCycles: [ClosedCycle] = []
    var observations = LatestObservations()
    var schedules = SampledSchedules()
    private var proposed = IdentityTable()
    /// The names of cycles that are closed and not remembered yet.
    var closedNames: [UInt64] = []
    /// Increases whenever cycles close: what was looked up at another number may be out of date.
    var closings: UInt64 = 0
    /// In a run over one input, the identities of events that count by themselves.
    private var counted = IdentityTable()
    /// The same of events with a status, a duration or an age that counts beside their cycle.
    private var measured = IdentityTable()
    /// The most of each; what is repeated behind them counts again.
    private static let countedLimit = 65_536
    /// The version of the layout of the checkpoint that is being restored.
    var restoredVersion: UInt8 = 1
    /// Whether the checkpoint says how it is laid out.
    var isLayoutSaved = false

    /// Creates an empty fold.
    ///
    /// - Parameters:
    ///   - key: the key that hashes identities and cycles.
    ///   - limits: how much state is kept.
    ///   - keepsClosedCycles: whether to keep closed cycles for `takeClosedCycles()`.
    ///   - deduplicates: whether to remember the identities of applied events; a run over one input needs none.
    ///   - anonymousIsOneInstallation: whether events without an installation come from a single one, as in a device's
    ///     log. If not, the rules across cycles skip them.
    ///   - isReceiver: whether `receivedAt` is the real arrival time, so that clock skew and arrival lag can be measured;
    ///     false for a file that is validated.
    public init(
        key: IdentityKey,
        limits: LifecycleLimits = LifecycleLimits(),
        keepsClosedCycles: Bool = false,
        deduplicates: Bool = true,
        anonymousIsOneInstallation: Bool = true,
        isReceiver: Bool = true
    ) {
        self.key = key
        self.limits = limits
        self.keepsClosedCycles = keepsClosedCycles
        self.deduplicates = deduplicates
        self.anonymousIsOneInstallation = anonymousIsOneInstallation
        self.isReceiver = isReceiver
        identities = RememberedIdentities(window: limits.deduplicationWindow, limit: limits.identities)
        cycles = CycleTable(key: key)
        installations = InstallationTable(limit: limits.installations)
    }

    /// Halves the limits of the state from here on: `halvings` times those of cycles and installations, and three times
    /// fewer that of identities, which take less space and keep events from being counted twice.
    ///
    /// The ledger records it, because what is evicted depends on it. State beyond the new limits is evicted one by one.
    public mutating func halveLimits(_ halvings: Int) {
        self.halvings = min(max(halvings, 0), Self.maximumHalvings)
        installations.limit(to: limits.installations >> self.halvings)
        identities.limit(to: identityLimit)
    }

    /// How many cycles may be open.
    public var openCycleLimit: Int { min(limits.openCycles >> halvings, SlotIndex.slotLimit) }

    /// How many identities may be remembered: their limit is halved three times fewer than the others.
    public var identityLimit: Int { limits.identities >> max(0, halvings - 3) }

    /// The most that limits are halved.
    public static let maximumHalvings = 15

    /// The number of open cycles.
    public var openCycles: Int { cycles.count }
    /// What the apps told of their pending notifications.
    public var pendingNotifications: PendingNotifications { windows.sums }
    /// The memory of the open cycles and their indexes, in bytes.
    public var cycleBytes: Int { cycles.byteCount }
    /// The number of remembered identities.
    public var rememberedIdentities: Int { identities.count }
    /// The time of the last batch or tick as its row has it, which a clock that was set back makes earlier than `clock`.
    public var lastRow: Timestamp { identities.clock.row }
    /// Lets the clock by which identities grow old begin with `clock`, as after a checkpoint of a version that had none.
    public mutating func restartAgingClock() {
        identities.restore(identities.clock.restored(now: clock, row: clock))
    }
    /// The memory of the remembered identities, in bytes.
    public var identityBytes: Int { identities.byteCount }

    /// Whether an event or a batch with this identity was accepted within the deduplication window, or is proposed.
    public func isKnown(_ identity: UInt64) -> Bool {
        identities.contains(identity) || proposed.contains(identity) || identities.containsFormer(identity)
    }

    /// Proposes an identity; false for a duplicate of an accepted or a proposed one.
    public mutating func propose(_ identity: UInt64) -> Bool {
        !identities.contains(identity) && !identities.containsFormer(identity) && proposed.insert(identity)
    }

    /// Proposes the identities of a batch in order; returns the places of those that are duplicates, in ascending order.
    ///
    /// What looking for a few of them will read is loaded while those before are looked for.
    public mutating func propose(_ batch: [UInt64]) -> [Int] {
        var duplicates: [Int] = []
        identities.load(batch.span.extracting(first: EventWindow.size))
        var start = 0
        while start < batch.count {
            let window = start..<min(start + EventWindow.size, batch.count)
            identities.load(batch.span.extracting(window.upperBound...).extracting(first: EventWindow.size))
            let known = identities.places(of: batch.span.extracting(window))
            for place in window {
                let isKnown = known &>> UInt32(place &- start) & 1 != 0 || identities.containsFormer(batch[place])
                if isKnown || !proposed.insert(batch[place]) { duplicates.append(place) }
            }
            start = window.upperBound
        }
        return duplicates
    }

    /// Drops all proposals, after their transaction was applied or has failed.
    public mutating func clearProposals() {
        proposed.removeAll()
    }

    /// Whether a cycle is due to close, so that a tick must be written to the ledger.
    public mutating func isTickDue(at now: Timestamp) -> Bool {
        isAhead(of: now) || windows.isDue(at: timeOfTick(at: now))
            || !cycles.due(at: seconds(timeOfTick(at: now)), limit: 1).isEmpty
    }

    /// Folds the events of a batch.
    ///
    /// - Parameter hashes: their hashes, by the fold's key; made of the records where there are none.
    /// - Throws: `EventRecordError` for malformed records; the events before them are folded.
    public mutating func apply(
        _ records: Span<UInt8>,
        _ hashes: EventHashes = EventHashes(),
        receivedAt: Timestamp
    ) throws(EventRecordError) {
        try apply(records, hashes, receivedAt: receivedAt) { _, _ in }
    }

    /// Folds the events of a batch, and says which they are.
    ///
    /// - Parameter note: is told each event before it is folded, and the hash of its schedule; other apps' events have none.
    /// - Throws: `EventRecordError` for malformed records; the events before them are folded.
    @inline(__always)
    package mutating func apply(
        _ records: Span<UInt8>,
        _ hashes: EventHashes,
        receivedAt: Timestamp,
        noting note: (borrowing Event, _ schedule: UInt64?) -> Void
    ) throws(EventRecordError) {
        advance(to: receivedAt)
        defer {
            observations.keepNoted(from: records, at: clock)
            countEvictions()
        }
        var cursor = EventCursor()
        var window = EventWindow()
        var damage: EventRecordError?
        var first = 0
        repeat {
            do throws(EventRecordError) {
                try window.fill(from: &cursor, in: records)
            } catch {
                damage = error
            }
            prepare(&window, records, hashes, from: first)
            first &+= window.count
            let events = window.events.span
            for place in 0..<window.count { fold(events[place], window.hashes[place], records, noting: note) }
        } while window.count == EventWindow.size && damage == nil
        if let damage { throw damage }
    }

    /// Folds one event of a window.
    @inline(__always)
    private mutating func fold(
        _ event: borrowing Event,
        _ hashes: EventWindow.Hashes,
        _ records: Span<UInt8>,
        noting note: (borrowing Event, _ schedule: UInt64?) -> Void
    ) {
        note(event, hashes.schedule)
        if event.kind.app != .dnp {
            otherEvents &+= 1
            return
        }
        var schedule = hashes.schedule
        var lookup = hashes.lookup
        var isRepeated = false
        if !deduplicates {
            if event.kind.countsByItself {
                if !Self.isFirst(identity(of: event, hashes, in: records), in: &counted) { return }
            } else if event.countsBesideItsCycle {
                isRepeated = !Self.isFirst(identity(of: event, hashes, in: records), in: &measured)
            }
        } else if continuesEarlierVersion {
            schedule = openSchedule(of: event, schedule, in: records)
            // The notification time is the same.
            if schedule != hashes.schedule { lookup.wasClosed = nil }
        }
        fold(event, schedule: schedule, lookup, isRepeated: isRepeated, in: records)
    }

    private func identity(
        of event: borrowing Event,
        _ hashes: EventWindow.Hashes,
        in records: Span<UInt8>
    ) -> UInt64 {
        if let identity = hashes.identity { return identity }
        return key.identity(of: event, in: records)
    }

    /// Whether an event of which something counts that no cycle tells from a repetition is the first one of its identity,
    /// where identities are not remembered.
    private static func isFirst(_ identity: UInt64, in known: inout IdentityTable) -> Bool {
        guard known.count < countedLimit else { return !known.contains(identity) }
        return known.insert(identity)
    }

    /// Remembers the identities of accepted batches.
    public mutating func remember(_ batchIdentities: [UInt64], receivedAt: Timestamp) {
        advance(to: receivedAt)
        for identity in batchIdentities { identities.insert(identity) }
    }

    /// Moves the clock without events: closes the cycles that are due and forgets old identities.
    ///
    /// A tick is also what sets the clock back: batches only ever advance it, so after a false clock ahead nothing would
    /// close until the true one has caught up.
    ///
    /// Closes at most `closingsPerTick` cycles; `isTickDue(at:)` says whether another tick is needed for the rest.
    public mutating func tick(to now: Timestamp) {
        if isAhead(of: now) { setBack(to: now) }
        advance(to: now)
        closeDue(at: seconds(clock))
        countEvictions()
    }

    /// The cycles closed since the last call, in closing order.
    public mutating func takeClosedCycles() -> [ClosedCycle] {
        defer { closedCycles = [] }
        return closedCycles
    }

    private mutating func advance(to now: Timestamp) {
        cycles.rebuildIndexes()
        clock = max(clock, now)
        if isReceiver { windows.advance(to: clock) }
        groups[0].evictedIdentities += identities.advance(to: now)
    }

    /// Takes over how many installations were evicted. Once for a batch or a tick is enough: nothing reads the total in
    /// between.
    mutating func countEvictions() {
        guard groups[0].evictedInstallations != installations.evicted else { return }
        groups[0].evictedInstallations = installations.evicted
    }

    func seconds(_ time: Timestamp) -> UInt32 {
        UInt32(clamping: time.microseconds / 1_000_000)
    }
}

extension Event {
    /// Whether something of it counts beside its cycle: a status, a duration or an age.
    fileprivate var countsBesideItsCycle: Bool {
        switch kind {
        case .prefetchSuccess, .prefetchFailure: duration != nil || status == 304
        case .prefetchUsedForNotification: age != nil
        default: false
        }
    }
}

extension EventKind {
    /// Whether it counts by itself, so that no cycle tells it from its repetitions.
    fileprivate var countsByItself: Bool {
        switch self {
        case .notificationDenied, .prefetchScheduleFailed, .pluginError, .apiCall, .contentCacheFailed, .leadCapped:
            true
        default: false
        }
    }
}

/// How much state the fold keeps and for how long (docs/lifecycle.md, docs/reliability.md).
public struct LifecycleLimits: Sendable {
    /// The shortest time an identity is remembered, in microseconds: seven days.
    public var deduplicationWindow: Int64 = 7 * 86_400 * 1_000_000
    /// The most identities remembered, at up to 12 bytes each.
    public var identities = 20_000_000
    /// The most cycles open at once, at 92 bytes each plus about 10 bytes of indexes.
    public var openCycles = 2_000_000
    /// How long a cycle stays open after its delivery or its summary: 15 minutes, so that late events still join it.
    public var closingGraceSeconds: Int64 = 15 * 60
    /// How long a cycle without a delivery or a summary stays open after its notification time: 24 hours.
    public var openAfterNotificationSeconds: Int64 = 24 * 3_600
    /// The most facts kept of one cycle; capped at 255.
    public var factsPerCycle = 255
    /// The most open cycles of one schedule, each with its own notification time.
    public var cyclesPerSchedule = 32
    /// The most installations remembered for the rules across cycles, at about 260 bytes each.
    public var installations = 500_000

    /// The documented defaults.
    public init() {}
}
