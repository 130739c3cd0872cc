// SPDX-License-Identifier: Apache-2.0

/// The hashes of consecutive events, as `IdentityKey.hashes(of:in:)` makes them: made where events are decoded, so that
/// nothing behind that makes them again.
public struct EventHashes: Sendable {
    /// The identity of each event, for deduplication.
    public private(set) var identities: [UInt64] = []
    /// The hash of each event's schedule, which its cycle is found by; 0 without one.
    public private(set) var schedules: [UInt64] = []

    /// The hashes of no event.
    public init() {}

    /// The number of events.
    public var count: Int { identities.count }

    /// Appends those of another event.
    @inline(__always)
    public mutating func append(_ hashes: (identity: UInt64, schedule: UInt64?)) {
        identities.append(hashes.identity)
        schedules.append(hashes.schedule ?? 0)
    }

    /// Appends some of others.
    package mutating func append(contentsOf others: EventHashes, _ places: Range<Int>) {
        identities.append(contentsOf: others.identities[places])
        schedules.append(contentsOf: others.schedules[places])
    }

    mutating func append(contentsOf others: EventHashes) {
        identities.append(contentsOf: others.identities)
        schedules.append(contentsOf: others.schedules)
    }

    mutating func reserveCapacity(_ count: Int) {
        identities.reserveCapacity(count)
        schedules.reserveCapacity(count)
    }

    /// The hashes but for some.
    ///
    /// - Parameter places: the places of those events, in ascending order.
    public func without(_ places: [Int]) -> EventHashes {
        guard !places.isEmpty else { return self }
        var kept = EventHashes()
        kept.reserveCapacity(count)
        var dropped = places[...]
        for place in identities.indices {
            if dropped.first == place {
                dropped.removeFirst()
            } else {
                kept.identities.append(identities[place])
                kept.schedules.append(schedules[place])
            }
        }
        return kept
    }
}
