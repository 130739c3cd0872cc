// SPDX-License-Identifier: Apache-2.0

/// Reduces a history that fails to the few events and fields that make it fail (Zeller and Hildebrandt, "Simplifying and
/// isolating failure-inducing input", 2002).
struct Shrinking {
    /// The most histories that are tried.
    private static let trials = 4_000

    private let fails: ([ToldEvent]) -> Bool
    private var trials = 0

    /// - Parameter fails: whether a history still fails.
    init(while fails: @escaping ([ToldEvent]) -> Bool) {
        self.fails = fails
    }

    /// A part of a failing history that still fails, from which no event and no field can be dropped.
    mutating func shrunk(_ history: [ToldEvent]) -> [ToldEvent] {
        var events = history
        var size = -1
        // Dropping a field may let another event be dropped.
        while size != events.reduce(0, { $0 + $1.json.utf8.count }) {
            size = events.reduce(0) { $0 + $1.json.utf8.count }
            events = withFewerEvents(events)
            events = withFewerFields(events)
            events = withTheSameInstallation(events)
        }
        return events
    }

    /// Drops runs of events: halves first, single events last.
    private mutating func withFewerEvents(_ history: [ToldEvent]) -> [ToldEvent] {
        var events = history
        var length = max(1, events.count / 2)
        while true {
            var start = 0
            while start < events.count {
                var rest = events
                rest.removeSubrange(start..<min(start + length, events.count))
                if stillFails(rest) { events = rest } else { start += length }
            }
            if length == 1 { return events }
            length /= 2
        }
    }

    private mutating func withFewerFields(_ history: [ToldEvent]) -> [ToldEvent] {
        var events = history
        for place in events.indices {
            for drop in ToldEvent.droppableFields {
                var simpler = events
                drop(&simpler[place])
                if simpler != events, stillFails(simpler) { events = simpler }
            }
            for counter in (events[place].telemetry ?? [:]).keys.sorted() {
                var simpler = events
                simpler[place].telemetry?[counter] = nil
                if stillFails(simpler) { events = simpler }
            }
        }
        return events
    }

    /// Events of one device read better without its name; all of them have to lose it together.
    private mutating func withTheSameInstallation(_ history: [ToldEvent]) -> [ToldEvent] {
        let anonymous = history.map { $0.with { $0.installation = nil } }
        return anonymous != history && stillFails(anonymous) ? anonymous : history
    }

    private mutating func stillFails(_ events: [ToldEvent]) -> Bool {
        guard !events.isEmpty, trials < Self.trials else { return false }
        trials += 1
        return fails(events)
    }
}
