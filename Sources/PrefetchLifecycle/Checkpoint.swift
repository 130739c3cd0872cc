// SPDX-License-Identifier: Apache-2.0

// The pages of a checkpoint are part of this library's interface.
@_exported public import LifecycleState
public import TelemetryEvents

extension LifecycleFold {
    private static let totalsKey = "totals"
    /// The page that tells how the others are laid out; its name comes before theirs.
    package static let layoutKey = "about"
    /// The version of the layout of cycles, installations and totals. Version 1 had no page that says so; version 2 had 17
    /// rules and no state of the rules across cycles that version 3 has; versions 4 and 5 have other identities. Version 6
    /// tells each status 304 from others; before, a cycle had the bit of `Cycle.Details.isShownCounted` for it.
    static let stateVersion: UInt8 = 6
    /// The first version with the identities of today.
    private static let identitiesVersion: UInt8 = 5

    /// The size of the totals of one group, about twice what they take.
    private static let groupBytes = 4_096

    /// By how much an event may raise ``checkpointBytes``: a cycle, an installation and two identities.
    public static let checkpointBytesPerEvent =
        CyclePage.shortCycleBytes + InstallationTable.bytesPerEvent
        + RollingWindows.bytesPerEvent + 2 * checkpointBytesPerIdentity

    /// By how much an identity raises ``checkpointBytes``; an event of another app adds no more.
    public static let checkpointBytesPerIdentity = 8

    /// The most bytes that the pages of the next checkpoint take: all cycles and installations, because any event may
    /// change any page, and the identities that no checkpoint holds yet. O(1).
    public var checkpointBytes: Int {
        cycles.checkpointBytes + installations.checkpointBytes + windows.checkpointBytes + identities.checkpointBytes
            + totalsByGroup.count * Self.groupBytes
    }

    /// Takes the state that changed since the last call, for a checkpoint; the whole state the first time.
    ///
    /// O(changed pages): pages are retained, and copied one by one only where the fold changes them before they are
    /// encoded.
    public mutating func takeChanges() -> StateDelta {
        var delta = StateDelta()
        var value = StateWriter()
        value.append(clock.microseconds)
        value.append(latest.microseconds)
        groups.append(to: &value)
        value.append((identities.clock.now ?? clock).microseconds)
        value.append(identities.clock.row.microseconds)
        delta.append(StatePage(key: Self.totalsKey, value: value.bytes))
        if !isLayoutSaved {
            isLayoutSaved = true
            var layout = StateWriter()
            layout.append(Self.stateVersion)
            layout.append(identities.lastWithoutReasons.map { Int64($0) } ?? -1)
            layout.append(identities.lastWithoutHashes.map { Int64($0) } ?? -1)
            delta.append(StatePage(key: Self.layoutKey, value: layout.bytes))
        }
        identities.takeChanges(into: &delta)
        cycles.takeChanges(into: &delta)
        installations.takeChanges(into: &delta)
        windows.takeChanges(into: &delta)
        return delta
    }

    /// Restores a page of the last checkpoint. Pages come in key order, before any event or tick.
    ///
    /// - Throws: `StateError` for an unreadable page.
    public mutating func restore(_ page: StatePage) throws(StateError) {
        if page.key == Self.layoutKey {
            var reader = StateReader(page)
            restoredVersion = try reader.integer()
            guard restoredVersion <= Self.stateVersion else {
                throw StateError(key: page.key, problem: "the layout of a newer version")
            }
            identities.lastWithoutReasons = UInt32(exactly: try reader.integer() as Int64)
            if restoredVersion > 3 { identities.lastWithoutHashes = UInt32(exactly: try reader.integer() as Int64) }
            isLayoutSaved = restoredVersion == Self.stateVersion
        } else if page.key.hasPrefix(IdentityPage.prefix) {
            let identityPage = try IdentityPage(page)
            identities.restore(identityPage)
            if restoredVersion < 2 { identities.lastWithoutReasons = identityPage.generation }
            if restoredVersion < Self.identitiesVersion { identities.lastWithoutHashes = identityPage.generation }
        } else if page.key.hasPrefix(CyclePage.prefix) {
            try cycles.restore(page, version: restoredVersion)
        } else if page.key.hasPrefix(InstallationTable.prefix) {
            try installations.restore(page, version: restoredVersion)
        } else if page.key.hasPrefix(RollingWindows.prefix) {
            try windows.restore(page)
        } else if page.key == Self.totalsKey {
            var reader = StateReader(page)
            clock = Timestamp(microseconds: try reader.integer())
            latest = Timestamp(microseconds: try reader.integer())
            try groups.restore(&reader, version: restoredVersion)
            installations.evicted = groups[0].evictedInstallations
            try restoreAgingClock(&reader)
        } else {
            throw StateError(key: page.key, problem: "a name that this version does not know")
        }
    }

    /// A checkpoint of an older version ends before the clock of the identities, which then begins with the fold's.
    private mutating func restoreAgingClock(_ reader: inout StateReader) throws(StateError) {
        guard reader.remaining > 0 else {
            if clock.microseconds != 0 { restartAgingClock() }
            return
        }
        let now = Timestamp(microseconds: try reader.integer())
        let row = Timestamp(microseconds: try reader.integer())
        guard row.microseconds != 0 else { return }
        identities.restore(identities.clock.restored(now: now, row: row))
    }
}

// MARK: Earlier versions

extension LifecycleFold {
    /// Whether it continues the checkpoint of an earlier version, which remembered other identities and read some events
    /// in another way.
    public var continuesEarlierVersion: Bool { identities.lastWithoutHashes != nil }

    /// Notes that an earlier version accepted the events so far, after they were folded again.
    public mutating func keepEarlierIdentities() { identities.keepEarlierIdentities() }

    /// Whether identities that an earlier version remembered may still be known.
    public var remembersEarlierIdentities: Bool { identities.remembersEarlierIdentities }

    /// Whether an earlier version accepted an event, under its identity or under that of the pseudonyms of its ids.
    ///
    /// - Parameters:
    ///   - event: the event as that version took it.
    ///   - bytes: the bytes that the event was read from.
    public func isKnownEarlier(_ event: borrowing Event, in bytes: Span<UInt8>) -> Bool {
        if identities.containsEarlier(key.identity(of: event, in: bytes)) { return true }
        guard let hashes = key.hashesOfPseudonyms(of: event, in: bytes) else { return false }
        return identities.containsEarlier(hashes.identity)
    }

    /// The schedule of an event, or that of its id's pseudonym if an earlier version opened the cycle under that.
    ///
    /// - Parameter schedule: the schedule's hash.
    func openSchedule(of event: borrowing Event, _ schedule: UInt64?, in bytes: Span<UInt8>) -> UInt64? {
        guard let schedule, let replaced = key.hashesOfPseudonyms(of: event, in: bytes)?.schedule,
            !cycles.has(schedule: schedule), cycles.has(schedule: replaced)
        else { return schedule }
        return replaced
    }
}
