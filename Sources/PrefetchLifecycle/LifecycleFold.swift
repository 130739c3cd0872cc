// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

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
