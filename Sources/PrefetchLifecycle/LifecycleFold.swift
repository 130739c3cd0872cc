// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// The fold over the ledger: accepted events and the ledger's clock go in, counts come out.
///
/// Pure: the same batches in the same order give the same totals and the same checkpoint, whether they come live, from a
/// recovery or from a file. It never reads a clock; time comes with each batch and tick. Folding an event costs O(facts of
/// its cycle) and, in the mean, no allocation.
///
/// To deduplicate, `propose(_:)` each identity before its event enters the ledger, and `settle()` once the events of a
/// transaction are in it or are not; `apply(_:receivedAt:)` remembers those that did.
public struct LifecycleFold: Sendable {
    /// What has been counted.
    public private(set) var totals = LifecycleTotals()
    /// The latest time that the ledger has told.
    public private(set) var clock = Timestamp(microseconds: 0)

    private let key: IdentityKey
    private let limits: LifecycleLimits
    private var identities: RememberedIdentities
    private var cycles = CycleTable()
    private var proposed = IdentityTable()

    private let keepsClosedCycles: Bool
    private let deduplicates: Bool
    private var closedCycles: [ClosedCycle] = []

    /// Starts from nothing.
    ///
    /// - Parameters:
    ///   - key: the key of the hashes of identities and cycles.
    ///   - limits: how much is remembered.
    ///   - keepsClosedCycles: whether closed cycles are kept for `takeClosedCycles()`.
    ///   - deduplicates: whether the identities of applied events are remembered; a run over one input needs none.
    public init(
        key: IdentityKey,
        limits: LifecycleLimits = LifecycleLimits(),
        keepsClosedCycles: Bool = false,
        deduplicates: Bool = true
    ) {
        self.key = key
        self.limits = limits
        self.keepsClosedCycles = keepsClosedCycles
        self.deduplicates = deduplicates
        identities = RememberedIdentities(window: limits.deduplicationWindow, limit: limits.identities)
    }

    /// How many cycles are open.
    public var openCycles: Int { cycles.count }
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
    public func isTickDue(at now: Timestamp) -> Bool {
        cycles.isAnyDue(at: seconds(max(clock, now)))
    }

    /// Folds the events of a batch.
    ///
    /// - Throws: `EventRecordError` for bytes that are no records; the events before them are folded.
    public mutating func apply(_ records: Span<UInt8>, receivedAt: Timestamp) throws(EventRecordError) {
        advance(to: receivedAt)
        var cursor = EventCursor()
        var event = Event(kind: .pluginStarted, timestamp: receivedAt)
        while try cursor.next(into: &event, in: records) {
            let hashes = key.hashes(of: event, in: records)
            if deduplicates { identities.insert(hashes.identity) }
            if let cycle = hashes.cycle { fold(event, into: cycle) }
        }
    }

    /// Remembers identities of batches that were accepted.
    public mutating func remember(_ batchIdentities: [UInt64], receivedAt: Timestamp) {
        advance(to: receivedAt)
        for identity in batchIdentities { identities.insert(identity) }
    }

    /// Lets time pass without events: cycles whose time has come close, old identities are forgotten.
    public mutating func tick(to now: Timestamp) {
        advance(to: now)
        cycles.closeDue(at: seconds(clock), into: &totals)
    }

    /// Closes every cycle: the input has ended.
    public mutating func finish() {
        cycles.closeDue(at: .max, into: &totals)
    }

    /// The cycles that were closed since the last call, in the order in which they were closed.
    public mutating func takeClosedCycles() -> [ClosedCycle] {
        defer { closedCycles = [] }
        return closedCycles
    }

    private mutating func advance(to now: Timestamp) {
        clock = max(clock, now)
        totals.evictedIdentities += identities.advance(to: clock)
    }

    private mutating func fold(_ event: Event, into cycleKey: UInt64) {
        var known = cycles.slot(of: cycleKey)
        if let slot = known, !Fact.canTell(event.timestamp, from: cycles.base(at: slot)) {
            cycles.closeEarly(slot, into: &totals)
            known = nil
        }
        let fact = Fact(event, base: known.map { cycles.base(at: $0) } ?? event.timestamp)
        guard known != nil || fact != nil else { return }
        var slot = known ?? open(cycleKey, base: event.timestamp)
        if let fact, !cycles.add(fact, at: slot, limit: limits.factsPerCycle, into: &totals) {
            cycles.closeEarly(slot, into: &totals)
            slot = open(cycleKey, base: event.timestamp)
            if let first = Fact(event, base: event.timestamp) {
                _ = cycles.add(first, at: slot, limit: limits.factsPerCycle, into: &totals)
            }
        }
        postpone(slot, by: event)
    }

    private mutating func open(_ key: UInt64, base: Timestamp) -> Int {
        if cycles.count >= limits.openCycles { cycles.evict(into: &totals) }
        return cycles.open(Cycle(key: key, base: base, closesAt: 0))
    }

    /// Moves the time at which a cycle closes (SPEC 5.1).
    private mutating func postpone(_ slot: Int, by event: Event) {
        let ends = event.kind == .notificationDelivered || event.kind == .prefetchCycleComplete
        let grace = seconds(clock) &+ UInt32(clamping: limits.graceSeconds)
        let open = seconds(event.scheduledFor ?? clock) &+ UInt32(clamping: limits.openSeconds)
        cycles.update(slot) { cycle in
            cycle.isEnding = cycle.isEnding || ends
            cycle.closesAt = cycle.isEnding ? grace : max(cycle.closesAt, open, grace)
        }
    }

    private func seconds(_ time: Timestamp) -> UInt32 {
        UInt32(clamping: time.microseconds / 1_000_000)
    }
}

extension LifecycleFold {
    private static let totalsKey = "totals"

    /// What has changed since the last call, for a checkpoint: the whole state the first time.
    public mutating func takeChanges() -> StateDelta {
        var delta = StateDelta()
        var value = StateWriter()
        value.append(clock.microseconds)
        for member in LifecycleTotals.members { value.append(totals[keyPath: member]) }
        delta.upserts.append(StatePage(key: Self.totalsKey, value: value.bytes))
        identities.takeChanges(into: &delta)
        cycles.takeChanges(into: &delta)
        return delta
    }

    /// Takes in a page of the last checkpoint. Pages come in the order of their keys, before anything is folded.
    ///
    /// - Throws: `StateError` for a page that cannot be read.
    public mutating func restore(_ page: StatePage) throws(StateError) {
        if page.key.hasPrefix(IdentityPage.prefix) {
            identities.restore(try IdentityPage(page))
        } else if page.key.hasPrefix(CyclePage.prefix) {
            try cycles.restore(page)
        } else if page.key == Self.totalsKey {
            var reader = StateReader(page)
            clock = Timestamp(microseconds: try reader.integer())
            for member in LifecycleTotals.members where reader.remaining > 0 {
                totals[keyPath: member] = try reader.word()
            }
        } else {
            throw StateError(key: page.key, problem: "a name that this version does not know")
        }
    }
}
