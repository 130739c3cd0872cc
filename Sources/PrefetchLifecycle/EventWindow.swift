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
        var identity: UInt64 = 0
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
