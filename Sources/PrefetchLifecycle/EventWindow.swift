// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The next few events of a batch, decoded together with their hashes.
///
/// Folding an event reads memory at random: its cycle, the index that finds it, and the place of its identity. One after
/// the other each of these would be waited for; with the hashes of a whole window known they are loaded side by side.
struct EventWindow {
    static let size = 16

    /// What folding an event looks up.
    struct Hashes {
        /// Nil where it is not known yet, and seldom needed.
        var identity: UInt64?
        var schedule: UInt64?
        var lookup = CycleLookup()
    }

    /// What was looked up about the cycle of an event before the window was folded.
    struct CycleLookup {
        /// The cycle that it probably belongs to.
        var slot: Int?
        /// Where no cycle of its schedule was open: whether one with its names was closed before, at a number of
        /// `LifecycleFold.closings`.
        var wasClosed: (Bool, closings: UInt64)?
        /// Where no cycle of its schedule was open: the cycle of its notification time.
        var timed: TimedLookup?
    }

    private(set) var count = 0
    var events: InlineArray<16, Event>
    var hashes = InlineArray<16, Hashes>(repeating: Hashes())

    init() {
        events = InlineArray(repeating: Event(kind: .pluginStarted, timestamp: .earliestAccepted))
    }

    /// Decodes the next events in the place of those before.
    ///
    /// - Throws: `EventRecordError` for a malformed record; the window holds the events before it then.
    mutating func fill(from cursor: inout EventCursor, in records: Span<UInt8>) throws(EventRecordError) {
        count = 0
        while count < Self.size, try cursor.next(into: &events[count], in: records) { count += 1 }
    }
}

extension LifecycleFold {
    /// Hashes the events of a window, remembers their identities and looks for their cycles.
    ///
    /// - Parameters:
    ///   - known: the hashes of the batch, or of its first events.
    ///   - first: the place of the first event in the batch.
    mutating func prepare(
        _ window: inout EventWindow,
        _ records: Span<UInt8>,
        _ known: EventHashes,
        from first: Int
    ) {
        for place in 0..<window.count {
            if !isReceiver {
                window.events[place].clockSkew = nil
                if let assumedSimulator, window.events[place].kind == .prefetchScheduleFailed {
                    window.events[place].isSimulator = window.events[place].isSimulator ?? assumedSimulator
                }
            }
            if first &+ place < known.count {
                let schedule = known.schedules[first &+ place]
                window.hashes[place].identity = known.identities[first &+ place]
                window.hashes[place].schedule = schedule == 0 ? nil : schedule
                assert(schedule == key.schedule(of: window.events[place], in: records) ?? 0, "another event's hashes")
            } else if deduplicates {
                let hashes = key.hashes(of: window.events[place], in: records)
                window.hashes[place].identity = hashes.identity
                window.hashes[place].schedule = hashes.schedule
            } else {
                window.hashes[place].identity = nil
                window.hashes[place].schedule = key.schedule(of: window.events[place], in: records)
            }
            if window.events[place].kind.app != .dnp { window.hashes[place].schedule = nil }
        }
        if deduplicates {
            for place in 0..<window.count {
                if let identity = window.hashes[place].identity { identities.insert(identity) }
            }
        }
        lookUpCycles(&window)
    }

    /// Looks for the cycles of a window, and for what those need that will be opened.
    private func lookUpCycles(_ window: inout EventWindow) {
        var latest: UInt64?
        // The names by which the cycles of so many events would be remembered, two each.
        var names = InlineArray<32, UInt64>(repeating: 0)
        var opening = InlineArray<16, Int>(repeating: 0)
        var count = 0
        for place in 0..<window.count {
            var lookup = EventWindow.CycleLookup()
            if let schedule = window.hashes[place].schedule {
                lookup.slot = cycles.candidate(schedule: schedule)
                // The first of the events that open a cycle; the others of the window will find it.
                if lookup.slot == nil, schedule != latest,
                    let address = CycleAddress(window.events[place], schedule: schedule)
                {
                    lookup.timed = cycles.lookUpTimed(address)
                    if let (own, other) = closedNames(of: address) {
                        (names[2 &* count], names[2 &* count &+ 1]) = (own, other)
                        opening[count] = place
                        count &+= 1
                    }
                }
                latest = schedule
            }
            window.hashes[place].lookup = lookup
        }
        let known = identities.places(of: names.span.extracting(first: 2 &* count))
        for index in 0..<count {
            let wasClosed = known &>> UInt32(2 &* index) & 3 != 0
            window.hashes[opening[index]].lookup.wasClosed = (wasClosed, closings: closings)
        }
    }
}
