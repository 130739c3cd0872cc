// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// Turns accepted events and the ledger's clock into counts and judged cycles.
///
/// The fold is pure: the same batches in the same order give the same totals and the same checkpoint, whether they come
/// live, from a recovery or from a file. It never reads a clock; each batch and tick carries its time. Folding an event
/// costs O(facts of its cycle) and, on average, no allocation.
///
/// To deduplicate, call `propose(_:)` with each identity before its event enters the ledger, and `clearProposals()` once
/// the transaction has committed or failed. `apply(_:receivedAt:)` remembers the identities of committed events.
public struct LifecycleFold: Sendable {
    /// The sum of all groups.
    public var totals: LifecycleTotals { groups.sum }
    /// The totals by platform and app version, for the optional labels (docs/metrics.md): at most 128 groups. The first
    /// group holds events that name neither.
    public var totalsByGroup: [LifecycleGroup] { groups.groups }
    /// The latest time of any batch or tick, since a tick last set it back (`tick(to:)`).
    public internal(set) var clock = Timestamp(microseconds: 0)
    /// What the events did since the last `takeEffects()`.
    var effects = EffectTally()
    /// How often the limits of the state are halved, because its disk is small.
    public private(set) var halvings = 0

    let key: IdentityKey
    let limits: LifecycleLimits
    let keepsClosedCycles: Bool
    let deduplicates: Bool
    let anonymousIsOneInstallation: Bool
    let isReceiver: Bool
    var groups = LifecycleGroups()
    var identities: RememberedIdentities
    var cycles: CycleTable
    var installations: InstallationTable
    var windows = RollingWindows()
    /// The latest event time.
    var latest = Timestamp(microseconds: 0)
    var closedCycles: [ClosedCycle] = []
    var observations = LatestObservations()
    var schedules = SampledSchedules()
    private var proposed = IdentityTable()
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
    /// less those of identities, which take less space and keep events from being counted twice.
    ///
    /// The ledger records it, because what is evicted depends on it. State beyond the new limits is evicted one by one.
    public mutating func halveLimits(_ halvings: Int) {
        self.halvings = min(max(halvings, 0), Self.maximumHalvings)
        installations.limit(to: limits.installations >> self.halvings)
        identities.limit(to: limits.identities >> max(0, self.halvings - 3))
    }

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
        identities.contains(identity) || proposed.contains(identity) || identities.containsWithoutReason(identity)
    }

    /// Proposes an identity; false for a duplicate of an accepted or a proposed one.
    public mutating func propose(_ identity: UInt64) -> Bool {
        !identities.contains(identity) && !identities.containsWithoutReason(identity) && proposed.insert(identity)
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
    /// - Throws: `EventRecordError` for malformed records; the events before them are folded.
    public mutating func apply(_ records: Span<UInt8>, receivedAt: Timestamp) throws(EventRecordError) {
        advance(to: receivedAt)
        defer { observations.keepNoted(from: records, at: clock) }
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: receivedAt)
        while try cursor.next(into: &event, in: records) {
            if !isReceiver { event.clockSkew = nil }
            guard deduplicates else {
                fold(event, schedule: key.schedule(of: event, in: records), in: records)
                continue
            }
            let hashes = key.hashes(of: event, in: records)
            identities.insert(hashes.identity)
            let schedule =
                continuesEarlierVersion ? openSchedule(of: event, hashes.schedule, in: records) : hashes.schedule
            fold(event, schedule: schedule, in: records)
        }
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
    }

    /// The cycles closed since the last call, in closing order.
    public mutating func takeClosedCycles() -> [ClosedCycle] {
        defer { closedCycles = [] }
        return closedCycles
    }

    private mutating func advance(to now: Timestamp) {
        cycles.rebuildIndexes()
        clock = max(clock, now)
        windows.advance(to: clock)
        groups[0].evictedIdentities += identities.advance(to: now)
    }

    func seconds(_ time: Timestamp) -> UInt32 {
        UInt32(clamping: time.microseconds / 1_000_000)
    }
}

extension LifecycleFold {
    /// Folds an event into its cycle and its installation.
    private mutating func fold(_ event: borrowing Event, schedule: UInt64?, in bytes: Span<UInt8>) {
        let installation = event.installation?.fingerprint ?? 0
        let named = groups.place(of: event, in: bytes)
        let earlier = groups.increments(of: named ?? 0)
        let isTimed = installations.hasWarps ? !isWarped(event) : true
        var isToldAgain = false
        if event.kind == .contentCacheFailed { isToldAgain = isStorageToldAgain(event, installation) }
        let time = groups[named ?? 0].count(
            event,
            in: bytes,
            receivedAt: isReceiver ? clock : nil,
            isTimed: isTimed,
            isToldAgain: isToldAgain
        )
        var increments = groups.increments(of: named ?? 0) &- earlier
        observe(time, of: event, in: named ?? 0)
        if let address = CycleAddress(event, schedule: schedule, installation: installation),
            let (found, change) = slot(for: event, at: address)
        {
            var slot = found
            var terms = closingTerms
            let group = group(of: slot, named)
            if change.isNewPass { takeNearer(to: slot, terms, in: group) }
            if change.hasWaited { countWaiting(at: slot, terms, in: group) }
            var openHalf = isReceiver ? cycles.half(at: slot) : nil
            var half = openHalf
            if isReceiver, cycles.mayBelongElsewhere(event, slot) {
                half = .undated
                terms.waiting = installations.waiting(.undated, of: installation)
            } else if let half {
                terms.waiting = installations.waiting(half, of: installation)
                terms.waiting.formIntersection(cycles.stagesOfHalf(at: slot))
            }
            let waiting = waitingStages(like: event, at: slot, terms)
            var before = groups.tally(of: group)
            var start = groups.increments(of: group)
            if !cycles.apply(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group]) {
                evict(slot)
                slot = open(address, base: event.timestamp)
                openHalf = isReceiver ? cycles.half(at: slot) : nil
                cycles.update(slot) { $0.group = UInt8(group) }
                before = groups.tally(of: group)
                start = groups.increments(of: group)
                _ = cycles.apply(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group])
            }
            if let half { countHalf(half, at: slot, isOpen: openHalf != nil) }
            let counted = groups.tally(of: group) - before
            observe(counted, by: event, at: slot, in: group, bytes)
            reconcile(counted, by: event, at: slot, in: group)
            increments &+= groups.increments(of: group) &- start
            note(event, increments, at: slot, waiting: waiting, terms)
            updateInstallation(installation, with: event, due: cycles[slot].due, in: bytes)
            if event.kind == .prefetchScheduled {
                updateTask(of: slot)
                resumeJudging(slot)
            }
        } else {
            note(event, increments)
            updateInstallation(installation, with: event, due: nil, in: bytes)
        }
        switch event.kind {
        case .notificationDenied, .permissionGranted: recordPermission(event, installation)
        case .schedulePersisted, .cacheCleared, .apiCall: recordContent(event, schedule: schedule, installation)
        default: break
        }
        if event.tellsHistory { recordHistory(event, of: installation, schedule: schedule, in: bytes) }
        if !event.clientCounters.isEmpty { apply(snapshot: event, of: installation, in: named ?? 0, bytes) }
    }

    /// The group that a cycle counts in: the one its events named last.
    private mutating func group(of slot: Int, _ named: Int?) -> Int {
        guard let named else { return Int(cycles[slot].group) }
        if cycles[slot].group != UInt8(named) { cycles.update(slot) { $0.group = UInt8(named) } }
        return named
    }

    var closingTerms: ClosingTerms {
        ClosingTerms(
            clockSeconds: seconds(clock),
            graceSeconds: UInt32(clamping: limits.closingGraceSeconds),
            openSeconds: UInt32(clamping: limits.openAfterNotificationSeconds),
            countsByArrival: isReceiver
        )
    }

    /// Stage counts are bytes, so 255 facts are the most.
    private var factLimit: Int { min(limits.factsPerCycle, 255) }

    /// What an event changes about the names of its cycle.
    private struct NameChange {
        /// It is a pass of a schedule with other ones, which is known from now on.
        var isNewPass = false
        /// It has both names from now on, and stages of it may have waited for that.
        var hasWaited = false
    }

    /// The cycle of an event, completed by the event's address; opens one where needed. Nil for an event that belongs to no
    /// cycle and opens none.
    private mutating func slot(for event: borrowing Event, at address: CycleAddress) -> (Int, NameChange)? {
        let opens = event.opensCycle
        while true {
            switch cycles.match(address, at: event.timestamp, limit: limits.cyclesPerSchedule) {
            case .found(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                return (slot, NameChange())
            case .learnsDue(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                if let due = address.due { cycles.learn(due: due, at: slot) }
                let hasWaited = closeHalf(.undated, at: slot)
                return (addressChanged(slot), NameChange(hasWaited: hasWaited))
            case .learnsSchedule(let slot):
                guard evictUnlessWithinReach(event, slot) else { continue }
                cycles.learn(schedule: address.schedule, at: slot)
                let hasWaited = closeHalf(.timed, at: slot)
                return (addressChanged(slot), NameChange(isNewPass: true, hasWaited: hasWaited))
            case .learnsScheduleEvicting(_, let oldest):
                evict(oldest)
            case .joins(let slot, let other):
                guard evictUnlessWithinReach(event, slot) else { continue }
                guard let joined = join(slot, with: other) else {
                    evict(other)
                    continue
                }
                _ = closeHalf(.undated, at: joined)
                _ = closeHalf(.timed, at: joined)
                return (addressChanged(joined), NameChange(isNewPass: true))
            case .none(let isFirst):
                guard address.hasBoth || opens else { return nil }
                return (open(address, base: event.timestamp), NameChange(isNewPass: !isFirst))
            case .noneEvicting(let slot):
                guard address.hasBoth || opens else { return nil }
                evict(slot)
                return (open(address, base: event.timestamp), NameChange(isNewPass: true))
            }
        }
    }

    /// Notes that a cycle is no longer known by this name alone, unless it still is; returns whether stages of it may have
    /// waited, and wait no more.
    private mutating func closeHalf(_ half: CycleHalf, at slot: Int) -> Bool {
        guard isReceiver, cycles.half(at: slot) != half else { return false }
        defer { groups[0].evictedInstallations = installations.evicted }
        return installations.update(cycles[slot].installation) { installation in
            defer { installation.halves.close(half) }
            return installation.halves.mayWait
        }
    }

    /// Notes what a cycle known by one name has counted.
    ///
    /// - Parameter isOpen: whether it is noted that there is such a cycle.
    private mutating func countHalf(_ half: CycleHalf, at slot: Int, isOpen: Bool) {
        guard isOpen || cycles.half(at: slot) == half else { return }
        let stages = cycles.countedStagesOfHalf(at: slot)
        guard !stages.isEmpty || !isOpen else { return }
        installations.update(cycles[slot].installation) { installation in
            if !isOpen { installation.halves.open(half) }
            installation.halves.count(stages, of: half)
        }
        groups[0].evictedInstallations = installations.evicted
    }

    /// Counts what waited until the cycle had both names.
    private mutating func countWaiting(at slot: Int, _ terms: ClosingTerms, in group: Int) {
        let before = groups.tally(of: group)
        var terms = terms
        terms.waiting = installations.waiting(.undated, of: cycles[slot].installation)
        cycles.countWaiting(at: slot, terms, into: &groups[group])
        reconcile(groups.tally(of: group) - before, byStageAt: slot, in: group)
    }

    /// Moves to a pass what is nearer to it than to the other passes of its schedule.
    private mutating func takeNearer(to slot: Int, _ terms: ClosingTerms, in group: Int) {
        let before = groups.tally(of: group)
        var terms = terms
        if isReceiver { terms.waiting = installations.waiting(.undated, of: cycles[slot].installation) }
        let wasHalf = cycles.half(at: slot) != nil
        let givers = cycles.takeNearer(to: slot, limit: factLimit, terms, into: &groups[group])
        guard !givers.isEmpty else { return }
        reconcile(groups.tally(of: group) - before, byStageAt: slot, from: givers.map(\.slot), in: group)
        for giver in givers where giver.wasHalf { _ = closeHalf(.undated, at: giver.slot) }
        if isReceiver, !wasHalf, let half = cycles.half(at: slot) { countHalf(half, at: slot, isOpen: false) }
        for slot in givers.map(\.slot) + [slot] { updateTask(of: slot) }
    }

    /// Joins two cycles and counts what their union adds; nil when they cannot be joined.
    mutating func join(_ slot: Int, with other: Int) -> Int? {
        let group = Int(cycles[slot].group)
        let before = groups.tally(of: group)
        var terms = closingTerms
        if isReceiver { terms.waiting = installations.waiting(.undated, of: cycles[slot].installation) }
        guard let (joined, waited) = cycles.join(slot, with: other, limit: factLimit, terms, into: &groups[group])
        else { return nil }
        reconcile(groups.tally(of: group) - before, byStageAt: joined, waited, in: group)
        if !isReceiver { takeBackRepeated(at: joined) }
        return joined
    }

    /// Takes back in a run over files what two halves counted of the same, before a client's counters are compared with it.
    private mutating func takeBackRepeated(at slot: Int) {
        guard let (correction, cycle) = cycles.correct(at: slot) else { return }
        apply(correction, of: cycle, at: slot)
    }

    /// Evicts a cycle whose base is too far from an event to store the event's time; returns whether it stays.
    private mutating func evictUnlessWithinReach(_ event: borrowing Event, _ slot: Int) -> Bool {
        if Fact.isRepresentable(event.timestamp, from: cycles[slot].base) { return true }
        evict(slot)
        return false
    }

    /// The slot to evict: the oldest of 16 samples spread over the table; each eviction moves the samples on.
    private var evictionCandidate: Int {
        let start = Int(groups[0].evictedCycles % UInt64(cycles.count))
        let step = max(1, cycles.count / 16)
        return (0..<min(16, cycles.count)).map { (start + $0 * step) % cycles.count }
            .min { cycles[$0].base < cycles[$1].base } ?? start
    }

    private mutating func open(_ address: CycleAddress, base: Timestamp) -> Int {
        if cycles.count >= min(limits.openCycles >> halvings, SlotIndex.slotLimit), cycles.count > 0 {
            evict(evictionCandidate)
        }
        let slot = cycles.open(address, base: base)
        if wasClosed(cycles[slot]) { cycles.update(slot) { _ = $0.flags.insert(.isReopened) } }
        if isReceiver, let half = cycles[slot].half {
            installations.update(address.installation) { $0.halves.open(half) }
            groups[0].evictedInstallations = installations.evicted
        }
        return slot
    }

    /// Judges a reopened cycle again where it is a new one: scheduled after an earlier one of its schedule closed.
    private mutating func resumeJudging(_ slot: Int) {
        let cycle = cycles[slot]
        guard cycle.flags.contains(.isReopened), cycle.due == nil, !wasClosed(cycle, isScheduled: true) else { return }
        cycles.update(slot) { _ = $0.flags.remove(.isReopened) }
    }

    /// Checks again whether a cycle was closed before, once its address is more complete.
    private mutating func addressChanged(_ slot: Int) -> Int {
        let wasClosed = wasClosed(cycles[slot])
        cycles.update(slot) { cycle in
            if wasClosed { cycle.flags.insert(.isReopened) } else { cycle.flags.remove(.isReopened) }
        }
        updateTask(of: slot)
        return slot
    }
}
