// SPDX-License-Identifier: Apache-2.0

// The pages of a checkpoint are part of this library's interface.
@_exported public import LifecycleState
import TelemetryEvents

extension RefreshFold {
    /// What the keys of all pages begin with, by which a ledger tells them from those of the other fold.
    public static let prefix = "refresh-"
    private static let totalsKey = "refresh-totals"
    /// The version of the layout of the pages.
    private static let stateVersion: UInt8 = 1
    private static let groupBytes = 1_024

    /// The most bytes that the pages of the next checkpoint take. O(1).
    public var checkpointBytes: Int { hasBegun ? installations.checkpointBytes + groups.count * Self.groupBytes : 0 }

    /// By how much an event may raise ``checkpointBytes``: an installation with a fact.
    public static let checkpointBytesPerEvent = RefreshInstallation.fixedBytes + RefreshInstallation.factBytes

    /// Adds the state that changed since the last call to a checkpoint; the whole state the first time, and none before the
    /// first event.
    public mutating func takeChanges(into delta: inout StateDelta) {
        guard hasBegun else { return }
        var value = StateWriter()
        value.append(Self.stateVersion)
        value.append(clock.microseconds)
        value.append(UInt32(installations.nextVictim))
        names.append(to: &value) { place, value in groups[place].totals.append(to: &value) }
        delta.append(StatePage(key: Self.totalsKey, value: value.bytes))
        installations.takeChanges(into: &delta)
    }

    /// Takes the state that changed since the last call; the whole state the first time.
    public mutating func takeChanges() -> StateDelta {
        var delta = StateDelta()
        takeChanges(into: &delta)
        return delta
    }

    /// Whether a page belongs to this fold.
    public static func holds(_ page: StatePage) -> Bool { page.key.hasPrefix(prefix) }

    /// Restores a page of the last checkpoint. Pages come in key order, before any event or tick. A ledger of a version
    /// without this fold has none, and its counts begin at 0.
    ///
    /// - Throws: `StateError` for an unreadable page.
    public mutating func restore(_ page: StatePage) throws(StateError) {
        if RefreshInstallationTable.holds(page) { return try installations.restore(page) }
        guard page.key == Self.totalsKey else {
            throw StateError(key: page.key, problem: "a name that this version does not know")
        }
        var reader = StateReader(page)
        let version: UInt8 = try reader.integer()
        guard version <= Self.stateVersion else {
            throw StateError(key: page.key, problem: "the layout of a newer version")
        }
        clock = Timestamp(microseconds: try reader.integer())
        let victim: UInt32 = try reader.integer()
        installations.nextVictim = Int(victim)
        groups = []
        try names.restore(&reader) { (name, reader) throws(StateError) in
            var group = RefreshGroup(name: name)
            try group.totals.restore(&reader)
            groups.append(group)
        }
    }
}
