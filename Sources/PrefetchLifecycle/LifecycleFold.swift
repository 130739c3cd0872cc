// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// How much the fold remembers and for how long (SPEC 4.2, 4.6, 5.1).
public struct LifecycleLimits: Sendable {
    /// How long an identity is remembered at least, in microseconds.
    public var deduplicationWindow: Int64 = 7 * 86_400 * 1_000_000
    /// How many identities are remembered at most, at no more than 12 bytes each.
    public var identities = 20_000_000
    /// How many cycles are open at most, at 84 bytes each and some 10 of its indexes.
    public var openCycles = 2_000_000
    /// How long a cycle stays open after its delivery or its summary, in seconds.
    public var graceSeconds: Int64 = 15 * 60
    /// How long a cycle stays open after its notification time, in seconds.
    public var openSeconds: Int64 = 24 * 3_600
    /// How many facts of one cycle are kept at most; never more than 255.
    public var factsPerCycle = 255
    /// How many cycles of one schedule, at different notification times, are open at most.
    public var cyclesPerSchedule = 32
    /// How many installations are remembered at most, at 160 bytes each, for the rules that look beyond one cycle.
    public var installations = 500_000

    /// The documented defaults.
    public init() {}
}

/// The fold over the ledger: accepted events and the ledger's clock go in, counts and judged cycles come out.
///
/// Pure: the same batches in the same order give the same totals and the same checkpoint, whether they come live, from a
/// recovery or from a file. It never reads a clock; time comes with each batch and tick. Folding an event costs O(facts of
/// its cycle) and, in the mean, no allocation.
///
/// To deduplicate, `propose(_:)` each identity before its event enters the ledger, and `settle()` once the events of a
/// transaction are in it or are not; `apply(_:receivedAt:)` remembers those that did.
public struct LifecycleFold: Sendable {
    /// What has been counted.
    public var totals: LifecycleTotals { groups.sum }
    /// The same by platform and app version, for the optional labels (SPEC 6): 128 groups at most, the first one of events
    /// that name neither.
    public var totalsByGroup: [LifecycleGroup] { groups.groups }
    /// The latest time that the ledger has told.
    public internal(set) var clock = Timestamp(microseconds: 0)

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
    /// The time of the latest event.
    var latest = Timestamp(microseconds: 0)
    var closedCycles: [ClosedCycle] = []
    var observations = LatestObservations()
    var schedules = SampledSchedules()
    private var proposed = IdentityTable()

    /// Starts from nothing.
    ///
    /// - Parameters:
    ///   - key: the key of the hashes of identities and cycles.
    ///   - limits: how much is remembered.
    ///   - keepsClosedCycles: whether closed cycles are kept for `takeClosedCycles()`.
    ///   - deduplicates: whether the identities of applied events are remembered; a run over one input needs none.
    ///   - anonymousIsOneInstallation: whether events without an installation come from a single one, as in a device's
    ///     log. If not, the rules that look beyond one cycle leave them out.
    ///   - isReceiver: whether batches come when they were sent, so that `receivedAt` tells of clocks and of arrival; not so
    ///     in a file that is judged.
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

    /// How many cycles are open.
    public var openCycles: Int { cycles.count }
    /// The bytes that the open cycles and what finds them take.
    public var cycleBytes: Int { cycles.byteCount }
    /// How many identities are remembered.
    public var rememberedIdentities: Int { identities.count }
    /// The bytes that the remembered identities take.
    public var identityBytes: Int { identities.byteCount }

    /// Whether an event or a batch with this identity has been accepted in the last days, or proposed.
    public func isKnown(_ identity: UInt64) -> Bool {
        identities.contains(identity) || proposed.contains(identity)
    }

    /// Whether an event or a batch with this identity is new, neither accepted in the last days nor proposed before.
    public mutating func propose(_ identity: UInt64) -> Bool {
        !identities.contains(identity) && proposed.insert(identity)
    }

    /// Forgets what was proposed: it has been applied, or its transaction has failed.
    public mutating func settle() {
        proposed.removeAll()
    }

    /// Whether time alone would close a cycle now, so that a tick belongs into the ledger.
    public mutating func isTickDue(at now: Timestamp) -> Bool {
        !cycles.due(at: seconds(max(clock, now)), limit: 1).isEmpty
    }

    /// Folds the events of a batch.
    ///
    /// - Throws: `EventRecordError` for bytes that are no records; the events before them are folded.
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
            fold(event, schedule: hashes.schedule, in: records)
        }
    }

    /// Remembers identities of batches that were accepted.
    public mutating func remember(_ batchIdentities: [UInt64], receivedAt: Timestamp) {
        advance(to: receivedAt)
        for identity in batchIdentities { identities.insert(identity) }
    }

    /// Lets time pass without events: cycles whose time has come close, old identities are forgotten.
    ///
    /// Closes a few thousand cycles at most; `isTickDue(at:)` says whether another tick is needed for the rest.
    public mutating func tick(to now: Timestamp) {
        advance(to: now)
        closeDue(at: seconds(clock))
    }

    /// The cycles that were closed since the last call, in the order in which they were closed.
    public mutating func takeClosedCycles() -> [ClosedCycle] {
        defer { closedCycles = [] }
        return closedCycles
    }

    private mutating func advance(to now: Timestamp) {
        cycles.indexRestored()
        clock = max(clock, now)
        groups[0].evictedIdentities += identities.advance(to: clock)
    }

    func seconds(_ time: Timestamp) -> UInt32 {
        UInt32(clamping: time.microseconds / 1_000_000)
    }
}

extension LifecycleFold {
    /// Folds an event into its cycle and its installation.
    mutating func fold(_ event: borrowing Event, schedule: UInt64?, in bytes: Span<UInt8>) {
        let installation = event.installation?.fingerprint ?? 0
        let told = groups.place(of: event, in: bytes)
        let time = groups[told ?? 0].count(event, in: bytes, receivedAt: isReceiver ? clock : nil)
        note(time, of: event, in: told ?? 0)
        if let address = CycleAddress(event, schedule: schedule, installation: installation),
            var slot = slot(for: event, at: address)
        {
            let terms = closingTerms
            let group = group(of: slot, told)
            var before = groups.tally(of: group)
            if !cycles.tell(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group]) {
                closeEarly(slot)
                slot = open(address, base: event.timestamp)
                cycles.update(slot) { $0.group = UInt8(group) }
                before = groups.tally(of: group)
                _ = cycles.tell(event, in: bytes, at: slot, terms, limit: factLimit, into: &groups[group])
            }
            let counted = groups.tally(of: group) - before
            note(counted, by: event, at: slot, in: group, bytes)
            settle(counted, by: event, at: slot, in: group)
            note(event, of: installation, due: cycles[slot].due)
            if event.kind == .prefetchScheduled {
                noteTask(of: slot, by: event)
                beginAnew(slot)
            }
        } else {
            note(event, of: installation, due: nil)
        }
        if event.kind == .notificationDenied { noteDenial(event, installation) }
        if !event.clientCounters.isEmpty { apply(snapshot: event, of: installation, in: told ?? 0, bytes) }
    }

    /// The group that a cycle counts in: the one that an event told last, where one did.
    private mutating func group(of slot: Int, _ told: Int?) -> Int {
        guard let told else { return Int(cycles[slot].group) }
        if cycles[slot].group != UInt8(told) { cycles.update(slot) { $0.group = UInt8(told) } }
        return told
    }

    private var closingTerms: ClosingTerms {
        ClosingTerms(
            clock: seconds(clock),
            grace: UInt32(clamping: limits.graceSeconds),
            open: UInt32(clamping: limits.openSeconds)
        )
    }

    private var factLimit: Int { min(limits.factsPerCycle, 255) }

    /// The cycle that an event belongs to, which knows all that the event says of its address; nil for an event that
    /// belongs to none and tells nothing of one.
    private mutating func slot(for event: borrowing Event, at address: CycleAddress) -> Int? {
        let opens = event.opensCycle
        while true {
            switch cycles.place(of: address, at: event.timestamp, limit: limits.cyclesPerSchedule) {
            case .known(let slot):
                guard isWithinReach(event, slot) else { continue }
                return slot
            case .learnsDue(let slot):
                guard isWithinReach(event, slot) else { continue }
                if let due = address.due { cycles.learn(due: due, at: slot) }
                return told(slot)
            case .learnsSchedule(let slot):
                guard isWithinReach(event, slot) else { continue }
                cycles.learn(schedule: address.schedule, at: slot)
                return told(slot)
            case .learnsScheduleWithout(_, let oldest):
                closeEarly(oldest)
            case .joins(let slot, let other):
                guard isWithinReach(event, slot) else { continue }
                guard let joined = join(slot, with: other, at: event.timestamp) else {
                    closeEarly(other)
                    continue
                }
                return told(joined)
            case .none:
                guard address.hasBoth || opens else { return nil }
                return open(address, base: event.timestamp)
            case .noneWithout(let slot):
                guard address.hasBoth || opens else { return nil }
                closeEarly(slot)
                return open(address, base: event.timestamp)
            }
        }
    }

    /// Joins two cycles and counts what they tell together; nil when they have to stay apart.
    private mutating func join(_ slot: Int, with other: Int, at time: Timestamp) -> Int? {
        let group = Int(cycles[slot].group)
        let before = groups.tally(of: group)
        let joined = cycles.join(slot, with: other, limit: factLimit, into: &groups[group])
        if let joined {
            settle(groups.tally(of: group) - before, of: cycles[joined].installation, at: time, in: group)
        }
        return joined
    }

    /// Whether an event is near enough to a cycle to be told relative to it; if not, the cycle is closed.
    private mutating func isWithinReach(_ event: borrowing Event, _ slot: Int) -> Bool {
        if Fact.canTell(event.timestamp, from: cycles[slot].base) { return true }
        closeEarly(slot)
        return false
    }

    /// The slot of an old cycle: the one that began first of some that lie apart, others each time.
    private var oldOne: Int {
        let start = Int(groups[0].evictedCycles % UInt64(cycles.count))
        let step = max(1, cycles.count / 16)
        return (0..<min(16, cycles.count)).map { (start + $0 * step) % cycles.count }
            .min { cycles[$0].base < cycles[$1].base } ?? start
    }

    private mutating func open(_ address: CycleAddress, base: Timestamp) -> Int {
        if cycles.count >= min(limits.openCycles, CycleIndex.slotLimit), cycles.count > 0 {
            closeEarly(oldOne)
        }
        let slot = cycles.open(address, base: base)
        if wasClosed(cycles[slot]) { cycles.update(slot) { _ = $0.flags.insert(.isReopened) } }
        return slot
    }

    /// Judges a cycle after all that is scheduled after an earlier one of its schedule was closed.
    private mutating func beginAnew(_ slot: Int) {
        let cycle = cycles[slot]
        guard cycle.flags.contains(.isReopened), cycle.due == nil, !wasClosed(cycle, isScheduled: true) else { return }
        cycles.update(slot) { _ = $0.flags.remove(.isReopened) }
    }

    /// Looks again at a cycle that has learnt more of its address.
    private mutating func told(_ slot: Int) -> Int {
        let wasClosed = wasClosed(cycles[slot])
        cycles.update(slot) { cycle in
            if wasClosed { cycle.flags.insert(.isReopened) } else { cycle.flags.remove(.isReopened) }
        }
        noteTask(of: slot)
        return slot
    }
}
