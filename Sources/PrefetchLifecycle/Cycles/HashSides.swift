// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Which two hashes are compared (SPEC 5.4), seen from one of them.
struct HashSides {
    let own: Fact.Stage
    let other: Fact.Stage
    /// What a cycle is told when they match.
    let passed: Cycle.Flags

    init?(_ stage: Fact.Stage) {
        own = stage
        switch stage {
        case .scheduleHashScheduled: (other, passed) = (.scheduleHashExecuted, .scheduleMatches)
        case .scheduleHashExecuted: (other, passed) = (.scheduleHashScheduled, .scheduleMatches)
        case .contentHashCached: (other, passed) = (.contentHashUsed, .contentMatches)
        case .contentHashUsed: (other, passed) = (.contentHashCached, .contentMatches)
        default: return nil
        }
    }

    /// Nil for an event without a hash that is compared.
    init?(_ event: borrowing Event) {
        switch event.kind {
        case .prefetchScheduled where !event.scheduleHash.isEmpty: self.init(.scheduleHashScheduled)
        case .prefetchExecuted where !event.scheduleHash.isEmpty: self.init(.scheduleHashExecuted)
        case .prefetchSuccess where !event.contentHash.isEmpty: self.init(.contentHashCached)
        case .contentCached where !event.contentHash.isEmpty: self.init(.contentHashCached)
        case .prefetchUsedForNotification where !event.contentHash.isEmpty: self.init(.contentHashUsed)
        default: return nil
        }
    }
}

extension Fact {
    /// The fact that an event has a hash: 42 bits of FNV-1a of its digits, in any letter case.
    init(_ sides: HashSides, _ event: borrowing Event, _ bytes: Span<UInt8>) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in sides.isOfSchedule ? event.scheduleHash : event.contentHash {
            hash = (hash ^ UInt64(bytes[index] | 0x20)) &* 0x100_0000_01B3
        }
        self.init(sides.own, value: (hash ^ hash >> 42) % Fact.values)
    }
}

extension HashSides {
    var isOfSchedule: Bool { passed == .scheduleMatches }
}
