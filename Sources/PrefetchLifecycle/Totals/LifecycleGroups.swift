// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import TelemetryEvents

/// The totals of one platform and app version, for the optional labels (docs/metrics.md).
public struct LifecycleGroup: Sendable {
    /// The platform and the version.
    public let name: EventGroup
    /// The totals of its events.
    public internal(set) var totals = LifecycleTotals()
    /// Whether its alarms are exact: those of Android.
    let isExact: Bool
    /// Increases whenever the totals may have changed, so that a reader can skip unchanged groups.
    public internal(set) var revision: UInt64 = 0

    init(_ name: EventGroup) {
        self.name = name
        isExact = name.platform == "android"
    }
}

/// The groups seen so far with their totals.
struct LifecycleGroups: Sendable {
    private var names = EventGroups()
    private(set) var groups = [LifecycleGroup(.unknown)]

    var count: Int { groups.count }

    /// How far a delivery of a group may be from its time, in microseconds.
    func toleratedDrift(of place: Int) -> Int64 { Self.toleratedDrift(isExact: groups[place].isExact) }

    subscript(place: Int) -> LifecycleTotals {
        _read { yield groups[place].totals }
        _modify {
            groups[place].revision &+= 1
            yield &groups[place].totals
        }
    }

    /// The sum over all groups.
    var sum: LifecycleTotals {
        var sum = groups[0].totals
        for group in groups.dropFirst() { sum.add(group.totals) }
        return sum
    }

    /// The group of an event; nil for an event that names neither platform nor version.
    mutating func place(of event: borrowing Event, in bytes: Span<UInt8>) -> Int? {
        let place = names.place(of: event, in: bytes)
        if names.groups.count > groups.count { groups.append(LifecycleGroup(names.groups[groups.count])) }
        return place
    }

    /// Adds the totals of groups of another list, by their names.
    mutating func add(_ others: [LifecycleGroup]) {
        for other in others {
            let place = names.place(of: other.name)
            if names.groups.count > groups.count { groups.append(LifecycleGroup(names.groups[groups.count])) }
            self[place].add(other.totals)
        }
    }

    /// How far a delivery on a platform may be from its time, in microseconds.
    static func toleratedDrift(of platform: Event.Text, in bytes: Span<UInt8>) -> Int64 {
        toleratedDrift(isExact: EventGroups.isAndroid(platform, in: bytes))
    }

    private static func toleratedDrift(isExact: Bool) -> Int64 {
        isExact ? LifecycleRules.exactDriftMicroseconds : LifecycleRules.toleratedDriftMicroseconds
    }
}

/// What folds with the events of different installations count together.
package struct LifecycleSums: Sendable {
    /// The totals by platform and app version.
    package let groups: [LifecycleGroup]
    /// The sum of all groups.
    package let totals: LifecycleTotals
    /// What the apps told of their pending notifications.
    package private(set) var pending = PendingNotifications()

    /// The sums of folds. O(groups).
    package init(of folds: [LifecycleFold]) {
        var groups = LifecycleGroups()
        for fold in folds {
            groups.add(fold.totalsByGroup)
            pending += fold.pendingNotifications
        }
        self.groups = groups.groups
        totals = groups.sum
    }
}

extension LifecycleGroups {
    /// - Parameter version: the version of the checkpoint's layout.
    func append(to writer: inout StateWriter, version: UInt8 = LifecycleFold.stateVersion) {
        names.append(to: &writer) { place, writer in groups[place].totals.append(to: &writer, version: version) }
    }

    /// - Parameter version: the version of the checkpoint's layout.
    mutating func restore(_ reader: inout StateReader, version: UInt8) throws(StateError) {
        groups = []
        try names.restore(&reader) { (name, reader) throws(StateError) in
            var group = LifecycleGroup(name)
            try group.totals.restore(&reader, version: version)
            groups.append(group)
        }
    }
}
