// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import LifecycleState
package import PrefetchLifecycle
package import TelemetryEvents

/// The newest closed cycles and the counts of the last day, for the console: a projection of the ledger with pages and a
/// position of its own.
///
/// Cycles come in the order in which the fold closes them, which is the same in a recovery and in a rebuild. Of them the
/// newest ``limit`` are kept, a segment of which is a page. What is lost of it by damage is lost to the console alone.
package struct CycleIndex: Sendable {
    /// The name of the projection.
    package static let name = "console"
    /// The most cycles that are kept.
    package static let defaultLimit = 100_000
    /// The fewest, on the smallest of disks.
    private static let minimumLimit = CycleSegment.capacity

    private static let openKey: StateKey = "open"
    private static let groupsKey: StateKey = "groups"
    private static let countsKey: StateKey = "counts"

    /// What it is true for; what the fold closes up to here is in it already.
    package private(set) var position: LedgerPosition
    /// The counts over time.
    package var counts: RecentCounts
    private var names: CycleNames
    private var segments: [CycleSegment] = []
    private var open: OpenSegment
    private var groups: [EventGroup] = []
    private var droppedKeys: [StateKey] = []
    private var savedGroups = 0
    private var limit: Int
    private let largestLimit: Int

    /// An empty index, which begins at a position of the ledger.
    ///
    /// - Parameter since: the ledger's clock, in microseconds since 1970.
    package init(at position: LedgerPosition, since: Int64, limit: Int = defaultLimit) {
        self.position = position
        self.limit = limit
        largestLimit = limit
        counts = RecentCounts(since: since)
        names = CycleNames()
        open = OpenSegment(first: 1)
    }

    /// The number of the newest cycle; 0 without one.
    package var newest: UInt64 { open.first + UInt64(open.count) - 1 }
    /// How many cycles are kept.
    package var cycleCount: Int { segments.count * CycleSegment.capacity + open.count }

    // MARK: Folding

    /// Notes what an event names.
    ///
    /// - Parameters:
    ///   - event: the event, before it is folded.
    ///   - schedule: the hash of its schedule; nil without an id.
    ///   - bytes: the bytes that the event was read from.
    @inline(__always)
    package mutating func note(_ event: borrowing Event, _ schedule: UInt64?, in bytes: Span<UInt8>) {
        names.note(event, schedule, in: bytes)
    }

    /// Remembers what the events of a schedule name.
    mutating func remember(_ name: CycleName, of schedule: UInt64) { names.remember(name, of: schedule) }

    /// Adds the cycles that a batch or a tick has closed, and moves on to its position.
    ///
    /// - Parameters:
    ///   - closed: the cycles in the order of closing.
    ///   - closedAt: the ledger's clock.
    ///   - groups: the groups of the fold, by their place.
    ///   - halvings: how often the limits of the state are halved.
    package mutating func add(
        _ closed: [ClosedCycle],
        closedAt: Timestamp,
        groups: @autoclosure () -> [EventGroup],
        at position: LedgerPosition,
        halvings: Int
    ) {
        self.position = position
        limit = max(largestLimit >> halvings, min(Self.minimumLimit, largestLimit))
        names.halveLimit(halvings)
        guard !closed.isEmpty else { return }
        if let place = closed.lazy.map({ $0.group }).max(), place >= self.groups.count { self.groups = groups() }
        for cycle in closed {
            let name = names.name(schedule: cycle.schedule, installation: cycle.installation)
            open.add { CycleRecord.append(cycle, name, closedAt: closedAt, to: &$0) }
            if open.isFull { seal() }
        }
        drop()
    }

    private mutating func seal() {
        segments.append(CycleSegment(open))
        open = OpenSegment(first: open.first + UInt64(open.count))
    }

    private mutating func drop() {
        while cycleCount - CycleSegment.capacity >= limit, let oldest = segments.first {
            segments.removeFirst()
            if oldest.unsavedPage == nil { droppedKeys.append(oldest.key) }
        }
    }

    // MARK: Reading

    /// What a search looks through, which stays as it is.
    package var view: CycleView {
        CycleView(segments: segments, open: open.bytes, groups: groups, newest: newest, count: cycleCount, limit: limit)
    }

    // MARK: Checkpoints

    /// The full segments that are not saved.
    private var unsavedSegments: [CycleSegment] { segments.reversed().prefix { $0.unsavedPage != nil }.reversed() }

    /// What the next checkpoint takes, about.
    package var unsavedBytes: Int {
        unsavedSegments.reduce(open.bytes.count + names.unsavedBytes) { $0 + ($1.unsavedPage?.count ?? 0) }
    }

    /// The pages that changed since the last ``saved()``.
    package var changes: StateChanges {
        var changes = StateChanges()
        for key in droppedKeys { changes.remove(key) }
        for segment in unsavedSegments {
            if let page = segment.unsavedPage { changes.put(segment.key, page) }
        }
        names.put(into: &changes)
        changes.put(Self.openKey, open.bytes)
        if groups.count != savedGroups { changes.put(Self.groupsKey, Self.encoded(groups)) }
        changes.put(Self.countsKey, counts.encoded)
        return changes
    }

    /// What ``changes`` gave is saved.
    package mutating func saved() {
        for segment in unsavedSegments { segment.saved() }
        droppedKeys = []
        names.saved()
        savedGroups = groups.count
    }

    /// Begins anew what it counts over time, since it has missed what came before.
    package mutating func restartCounts(at position: LedgerPosition, since: Int64) {
        self.position = position
        counts = RecentCounts(since: since)
    }

    /// Loads the saved index; nil where there is none, or where it cannot be read.
    package init?(_ reader: LedgerReader, limit: Int = defaultLimit) throws(LedgerError) {
        self.init(at: .start, since: 0, limit: limit)
        var hasCounts = false
        var isSound = true
        let saved = try reader.loadState(Self.name) { key, value in
            switch key {
            case Self.openKey:
                if let restored = OpenSegment(value) { open = restored } else { isSound = false }
            case Self.groupsKey: groups = Self.groups(value)
            case Self.countsKey:
                if let restored = RecentCounts(encoded: value) {
                    counts = restored
                    hasCounts = true
                }
            default:
                if key.bytes.starts(with: Array(CycleNames.prefix.utf8)) {
                    names.restore(key, value)
                } else if let segment = CycleSegment(saved: value), segment.key == key {
                    segments.append(segment)
                } else {
                    isSound = false
                }
            }
        }
        names.restored()
        savedGroups = groups.count
        guard let saved, isSound, hasCounts else { return nil }
        position = saved.position
        drop()
    }

    private static func encoded(_ groups: [EventGroup]) -> [UInt8] {
        groups.reduce(into: []) { bytes, group in
            for text in [group.platform, group.appVersion] {
                let utf8 = text.utf8.prefix(255)
                bytes.append(UInt8(utf8.count))
                bytes += utf8
            }
        }
    }

    private static func groups(_ bytes: [UInt8]) -> [EventGroup] {
        var texts: [String] = []
        var rest = bytes[...]
        while let count = rest.popFirst(), rest.count >= Int(count) {
            texts.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
            rest = rest.dropFirst(Int(count))
        }
        return stride(from: 0, to: texts.count - 1, by: 2).map {
            EventGroup(platform: texts[$0], appVersion: texts[$0 + 1])
        }
    }
}
