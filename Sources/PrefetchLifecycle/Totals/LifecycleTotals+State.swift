// SPDX-License-Identifier: Apache-2.0

/// Every member, in the order in which a checkpoint stores them.
extension LifecycleTotals {
    private static var counts: [WritableKeyPath<LifecycleTotals, UInt64>] {
        [
            \.scheduled, \.executed, \.success, \.used, \.failureNetwork, \.failureAuth, \.failureSystem,
            \.failureOther, \.impliedSuccess, \.impliedUsed, \.expired, \.missedWindow, \.fallbacks, \.leadCapped,
            \.retries, \.driftExceeded, \.cacheFailures, \.evictedCycles, \.evictedInstallations, \.evictedIdentities,
        ]
    }

    private static var families: [WritableKeyPath<LifecycleTotals, [UInt64]>] {
        [
            \.outcomes, \.violations, \.delivered, \.pluginErrors, \.recovered, \.snapshots, \.contentChecks,
            \.scheduleChecks, \.unchecked,
        ]
    }

    private static var histograms: [WritableKeyPath<LifecycleTotals, TimeHistogram>] {
        [\.fetchDuration, \.startDelay, \.contentAge, \.drift, \.clockSkew, \.arrivalLag]
    }

    func append(to writer: inout StateWriter) {
        for count in Self.counts { writer.append(self[keyPath: count]) }
        for family in Self.families { for count in self[keyPath: family] { writer.append(count) } }
        for histogram in Self.histograms {
            for count in self[keyPath: histogram].counts { writer.append(count) }
            writer.append(self[keyPath: histogram].microseconds)
        }
        for time in latest { writer.append(time) }
    }

    mutating func restore(_ reader: inout StateReader) throws(StateError) {
        for count in Self.counts { self[keyPath: count] = try reader.word() }
        for family in Self.families {
            for index in self[keyPath: family].indices { self[keyPath: family][index] = try reader.word() }
        }
        for histogram in Self.histograms {
            for bucket in self[keyPath: histogram].counts.indices {
                self[keyPath: histogram].counts[bucket] = try reader.word()
            }
            self[keyPath: histogram].microseconds = try reader.word()
        }
        for stage in latest.indices { latest[stage] = try reader.integer() }
    }

    /// Adds what was counted elsewhere.
    mutating func add(_ other: LifecycleTotals) {
        for count in Self.counts { self[keyPath: count] += other[keyPath: count] }
        for family in Self.families {
            for index in self[keyPath: family].indices { self[keyPath: family][index] += other[keyPath: family][index] }
        }
        for histogram in Self.histograms { self[keyPath: histogram].add(other[keyPath: histogram]) }
        for stage in latest.indices { latest[stage] = max(latest[stage], other.latest[stage]) }
    }
}
