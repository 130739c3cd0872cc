// SPDX-License-Identifier: Apache-2.0

import LifecycleState
public import TelemetryEvents

/// Turns accepted events of the background refresh and the ledger's clock into counts and judged runs.
///
/// Like the fold of the prefetch it is pure: the same batches in the same order give the same totals and the same
/// checkpoint, and it never reads a clock. It keeps no identities: those of both apps are remembered by the fold of the
/// prefetch, through which every event of the ledger passes. An event that is given twice counts once, though.
///
/// What happens in a moment (a check, a skip, a schedule, a notification) counts at once. The outcome of a run counts a few
/// seconds after its end, and its violations when it closes. Whatever the order of arrival, the totals are the same once
/// all runs are closed. Folding an event costs O(facts of its installation) and, on average, no allocation.
public struct RefreshFold: Sendable {
    /// The sums of all runs.
    public var totals: RefreshTotals { groups.dropFirst().reduce(into: groups[0].totals) { $0.add($1.totals) } }
    /// The sums by platform and app version, for the optional labels (docs/metrics.md): at most 128 groups. The first one
    /// holds events that name neither.
    public internal(set) var groups = [RefreshGroup(name: .unknown)]
    /// Increases whenever the groups may have changed, so that a reader can skip unchanged ones.
    public private(set) var revision: UInt64 = 0
    /// The latest time of any batch or tick, since a tick last set it back (`tick(to:)`).
    public internal(set) var clock = Timestamp(microseconds: 0)

    /// The limits in force, after they were halved.
    private(set) var limits: RefreshLifecycleLimits
    private let unhalvedLimits: RefreshLifecycleLimits
    let terms: RefreshTerms
    private let anonymousIsOneInstallation: Bool
    private let isReceiver: Bool
    /// The installations whose facts changed in the current batch.
    private var touched: [Int] = []
    var names = EventGroups()
    var installations = RefreshInstallationTable()
    private var closedRuns: ClosedRuns
    private var effects = RefreshEffects()

    /// Creates an empty fold.
    ///
    /// - Parameters:
    ///   - limits: how much state is kept.
    ///   - keepsClosedRuns: whether to keep closed runs for `takeClosedRuns()`.
    ///   - anonymousIsOneInstallation: whether events without an installation come from a single one, as in a device's
    ///     log. If not, they are counted one by one, without runs.
    ///   - isReceiver: whether ticks close runs; false for files, whose runs all stay open up to `finish()`.
    public init(
        limits: RefreshLifecycleLimits = RefreshLifecycleLimits(),
        keepsClosedRuns: Bool = false,
        anonymousIsOneInstallation: Bool = true,
        isReceiver: Bool = true
    ) {
        self.limits = limits
        unhalvedLimits = limits
        closedRuns = ClosedRuns(kept: keepsClosedRuns ? .all : .none)
        self.anonymousIsOneInstallation = anonymousIsOneInstallation
        self.isReceiver = isReceiver
        terms = RefreshTerms(limits)
    }

    /// The runs whose outcome is not counted yet.
    public var openRuns: Int { installations.openRuns }
    /// The number of known installations.
    public var knownInstallations: Int { installations.count }

    /// Halves the limits of installations and facts from here on, as those of the prefetch are because the disk is small.
    ///
    /// State beyond the new limits is evicted one by one.
    public mutating func halveLimits(_ halvings: Int) {
        limits.installations = unhalvedLimits.installations >> max(halvings, 0)
        limits.facts = unhalvedLimits.facts >> max(halvings, 0)
    }

    /// Folds the events of a batch; those of other apps are passed over.
    ///
    /// - Throws: `EventRecordError` for malformed records; the events before them are folded.
    public mutating func apply(_ records: Span<UInt8>, receivedAt: Timestamp) throws(EventRecordError) {
        clock = max(clock, receivedAt)
        revision &+= 1
        defer { updateTouched() }
        var cursor = EventCursor()
        var event = Event(kind: .refreshStarted, timestamp: receivedAt)
        while try cursor.next(into: &event, in: records) {
            if event.kind.app == .aiq { fold(event, in: records) }
        }
    }

    /// Moves the clock without events, and counts and closes what is due.
    ///
    /// A tick is also what sets the clock back: batches only ever advance it, so after a false clock ahead nothing would
    /// close until the true one has caught up. Closes the runs of as many installations as have `factsPerTick` facts;
    /// `isTickDue(at:)` says whether another tick is needed for the rest. Before the first event it does nothing.
    public mutating func tick(to now: Timestamp) {
        guard hasBegun else { return }
        if isAhead(of: now) { setBack(to: now) }
        clock = max(clock, now)
        revision &+= 1
        let second = seconds(clock)
        var facts = 0
        for slot in installations.due(at: second, limit: Self.closingsPerTick) {
            facts += installations[slot].facts.count
            close(slot, at: second)
            if facts >= Self.factsPerTick { return }
        }
    }

    /// Whether it had an event. Before that it has no state, so that the checkpoints of a ledger without such events have
    /// no page of it.
    var hasBegun: Bool { clock.microseconds != 0 }

    /// Whether something is due, so that a tick must be written to the ledger.
    public mutating func isTickDue(at now: Timestamp) -> Bool {
        guard hasBegun else { return false }
        return isAhead(of: now) || !installations.due(at: seconds(timeOfTick(at: now)), limit: 1).isEmpty
    }

    /// The runs with violations among those that `tick(to:)` would close at this time. Closes and counts nothing.
    public func violations(closingAt now: Timestamp) -> [ClosedRun] {
        var fold = self
        fold.closedRuns = ClosedRuns(kept: .violating)
        fold.tick(to: now)
        return fold.takeClosedRuns()
    }

    /// Closes every run at the end of the input, judged at the time of the latest event of its installation.
    public mutating func finish() {
        revision &+= 1
        for slot in 0..<installations.count { close(slot, at: nil) }
        installations.removeAll()
    }

    /// The runs closed since the last call, in closing order.
    public mutating func takeClosedRuns() -> [ClosedRun] {
        defer { closedRuns.runs = [] }
        return closedRuns.runs
    }

    /// What the events applied since the last call did. Not part of a checkpoint.
    public mutating func takeEffects() -> RefreshEffects {
        defer { effects = RefreshEffects() }
        return effects
    }

    // MARK: Time

    /// The most installations that one tick closes runs of, and the facts after which it stops, each of which may be a run
    /// with a verdict: they keep the writer's pause to a few milliseconds and the row of a tick to a few MiB.
    ///
    /// Ledger rows depend on them: replaying a tick must close the same runs, so they cannot change between versions.
    static let closingsPerTick = 2_048
    static let factsPerTick = 16_384

    /// How far the ledger's clock may be ahead of a tick, which is more than clocks are slewed by: 5 minutes. Ledger rows
    /// depend on it.
    private static let toleratedLeadMicroseconds: Int64 = 5 * 60 * 1_000_000

    private func isAhead(of now: Timestamp) -> Bool {
        clock.microseconds &- now.microseconds > Self.toleratedLeadMicroseconds
    }

    private func timeOfTick(at now: Timestamp) -> Timestamp { isAhead(of: now) ? now : max(clock, now) }

    private mutating func setBack(to now: Timestamp) {
        clock = now
        installations.limitDue(to: seconds(now), terms)
    }

    private func seconds(_ time: Timestamp) -> UInt32 { UInt32(clamping: time.microseconds / 1_000_000) }

    // MARK: Events

    private mutating func fold(_ event: borrowing Event, in bytes: Span<UInt8>) {
        guard let fact = RefreshFact(event) else { return }
        let named = group(of: event, in: bytes)
        let fingerprint = event.installation?.fingerprint ?? 0
        guard fingerprint != 0 || anonymousIsOneInstallation else { return countAlone(fact, in: named ?? 0) }
        let slot = installations.slot(of: fingerprint) ?? add(fingerprint)
        if let named { installations.setGroup(named, of: slot) }
        if isReceiver, installations[slot].facts.count >= terms.factLimit {
            let group = group(of: slot)
            let evicted = installations.evictOldest(slot, terms, into: &groups[group].totals, &closedRuns)
            groups[0].totals.evictedRuns += UInt64(evicted)
        }
        let group = group(of: slot)
        let effect = installations.insert(fact, at: slot, into: &groups[group].totals)
        if isReceiver, touched.last != slot { touched.append(slot) }
        effects.add(effect)
        if installations.factCount > limits.facts { evictRuns(of: nextVictim()) }
    }

    /// The group of an event; nil for an event that names neither platform nor version.
    private mutating func group(of event: borrowing Event, in bytes: Span<UInt8>) -> Int? {
        let place = names.place(of: event, in: bytes)
        if names.groups.count > groups.count { groups.append(RefreshGroup(name: names.groups[groups.count])) }
        return place
    }

    /// The group that the runs of an installation count in.
    private func group(of slot: Int) -> Int { min(Int(installations[slot].group), groups.count - 1) }

    private mutating func updateTouched() {
        let second = seconds(clock)
        for slot in touched { installations.update(slot, terms, arrivedAt: second) }
        touched.removeAll(keepingCapacity: true)
    }

    /// Counts an event of one of many installations that are not told apart, and judges what it shows by itself.
    private mutating func countAlone(_ fact: RefreshFact, in group: Int) {
        var run = RefreshRun(fact, at: 0)
        run.add(fact, at: 0)
        if fact.momentKey != nil { groups[group].totals.count(fact) }
        if fact.isEnd {
            groups[group].totals.count(run.outcome)
            if let duration = run.duration { groups[group].totals.duration.observe(duration) }
        }
        // Of a start alone nothing says whether its run ended.
        if fact.kind != .started {
            groups[group].totals.count(RefreshVerdict(run, after: RefreshPast(isDenied: true), known: .min))
        }
        effects.add(fact.momentKey != nil || fact.isEnd ? .counted : .informational)
    }

    private mutating func add(_ fingerprint: UInt64) -> Int {
        guard installations.count >= max(limits.installations, 1) else {
            return installations.append(RefreshInstallation(fingerprint: fingerprint))
        }
        let slot = nextVictim()
        evictRuns(of: slot)
        groups[0].totals.evictedInstallations += 1
        installations.replace(slot, by: fingerprint)
        return slot
    }

    private mutating func nextVictim() -> Int {
        let slot = installations.nextVictim % installations.count
        installations.nextVictim = (slot + 1) % installations.count
        return slot
    }

    private mutating func evictRuns(of slot: Int) {
        let group = group(of: slot)
        let evicted = installations.evict(slot, terms, into: &groups[group].totals, &closedRuns)
        groups[0].totals.evictedRuns += UInt64(evicted)
    }

    private mutating func close(_ slot: Int, at second: UInt32?) {
        let group = group(of: slot)
        installations.close(slot, at: second, terms, into: &groups[group].totals, &closedRuns)
    }
}

/// The closed runs that somebody wants to see.
struct ClosedRuns: Sendable {
    enum Kept: Sendable { case none, violating, all }

    let kept: Kept
    var runs: [ClosedRun] = []

    mutating func add(
        _ run: RefreshRun,
        _ verdict: RefreshVerdict,
        after past: RefreshPast,
        of installation: UInt64
    ) {
        guard kept == .all || kept == .violating && verdict.broken != 0 else { return }
        runs.append(run.closed(verdict, after: past, of: installation))
    }
}

/// How many accepted events of the background refresh had each effect (docs/metrics.md, What accepted events did).
public struct RefreshEffects: Equatable, Sendable {
    enum Effect { case counted, repeated, informational }

    /// They made a counter grow, or will when their run counts.
    public private(set) var counted: UInt64 = 0
    /// They tell of a moment or of an end that is known.
    public private(set) var repeated: UInt64 = 0
    /// They tell of nothing that a counter counts.
    public private(set) var informational: UInt64 = 0

    /// No event.
    public init() {}

    /// All events.
    public var total: UInt64 { counted + repeated + informational }

    mutating func add(_ effect: Effect) {
        switch effect {
        case .counted: counted += 1
        case .repeated: repeated += 1
        case .informational: informational += 1
        }
    }
}

/// How much state the fold of the background refresh keeps and for how long (docs/lifecycle.md).
public struct RefreshLifecycleLimits: Sendable {
    /// How long the outcome of a run that has ended waits for an earlier end, which may arrive after it: 2 seconds.
    public var settlingSeconds: Int64 = 2
    /// How long a run stays open after the latest arrival of its installation, so that late events still join it: 15
    /// minutes.
    public var closingGraceSeconds: Int64 = 15 * 60
    /// How long the facts of judged runs are kept after the latest event, so that a line and an analytics event that come
    /// one long after the other still count once: 6 hours.
    public var keptSeconds: Int64 = 6 * 3_600
    /// The most facts of one installation in the service, at 16 bytes each; at least 16 and at most 65,535. Past it the
    /// older half of its runs is closed.
    public var factsPerInstallation = 512
    /// The most installations, at about 100 bytes each and their facts. Past it the one that was added first is closed.
    public var installations = 200_000
    /// The most facts of all installations. Past it the installation that was added first closes its runs.
    public var facts = 4_000_000

    /// The documented defaults.
    public init() {}
}
