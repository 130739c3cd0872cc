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
        var addresses = InlineArray<16, MemoryAddress>(repeating: MemoryAddress())
        for place in 0..<window.count {
            if let schedule = window.hashes[place].schedule {
                addresses[place] = cycles.address(ofSchedule: schedule)
            }
        }
        for place in 0..<window.count { addresses[place].load() }
        if deduplicates {
            for place in 0..<window.count {
                if let identity = window.hashes[place].identity { identities.insert(identity) }
            }
        }
        lookUpCycles(&window)
    }

    /// Looks for the cycles of a window, and for what those need that will be opened.
    ///
    /// First by the index alone, which tells what else will be read: all of that is loaded before the first of it is needed.
    private func lookUpCycles(_ window: inout EventWindow) {
        var addresses = InlineArray<16, MemoryAddress>(repeating: MemoryAddress())
        // The first event of each cycle that will be opened, and the names by which that would be remembered, two each.
        var opening = InlineArray<16, Int>(repeating: 0)
        var names = InlineArray<32, UInt64>(repeating: 0)
        var count = 0
        var latest: UInt64?
        for place in 0..<window.count {
            window.hashes[place].lookup = EventWindow.CycleLookup()
            guard let schedule = window.hashes[place].schedule else { continue }
            if let slot = cycles.candidate(schedule: schedule) {
                window.hashes[place].lookup.slot = slot
                addresses[place] = cycles.address(ofCycle: slot)
            } else if schedule != latest, let due = window.events[place].due,
                let address = CycleAddress(window.events[place], schedule: schedule)
            {
                addresses[place] = cycles.address(ofInstallation: address.installation, due: due)
                if let (own, other) = closedNames(of: address) {
                    (names[2 &* count], names[2 &* count &+ 1]) = (own, other)
                }
                opening[count] = place
                count &+= 1
            }
            latest = schedule
        }
        for place in 0..<window.count { addresses[place].load(lines: 2) }
        if deduplicates { identities.load(names.span.extracting(first: 2 &* count)) }

        // Also checked where it is used; here the processor waits for the cycles of the window together.
        for place in 0..<window.count {
            guard let schedule = window.hashes[place].schedule, let slot = window.hashes[place].lookup.slot,
                !cycles.isWhole(slot, schedule: schedule)
            else { continue }
            window.hashes[place].lookup.slot = nil
        }
        for index in 0..<count {
            let place = opening[index]
            guard let address = CycleAddress(window.events[place], schedule: window.hashes[place].schedule) else {
                continue
            }
            window.hashes[place].lookup.timed = cycles.lookUpTimed(address)
        }
        guard deduplicates else { return }
        let known = identities.places(of: names.span.extracting(first: 2 &* count))
        for index in 0..<count {
            let wasClosed = known &>> UInt32(2 &* index) & 3 != 0
            window.hashes[opening[index]].lookup.wasClosed = (wasClosed, closings: closings)
        }
    }
}
