// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The latest observation of every bucket and reason since they were last taken; those of all groups share the places.
///
/// An observation is noted without its schedule's id, which is copied once the batch has been folded: noting costs a few
/// stores and, but for an id that is longer than any before it, no allocation.
struct LatestObservations: Sendable {
    private struct Note: Sendable {
        var group = 0
        var microseconds: Int64 = 0
        /// In the batch that is being folded.
        var scheduleId: Event.Text = 0..<0
    }

    private var notes = [Note](repeating: Note(), count: ObservedPlace.count)
    private var ids = [[UInt8]](repeating: [], count: ObservedPlace.count)
    private var times = [Timestamp](repeating: Timestamp(microseconds: 0), count: ObservedPlace.count)
    /// By the bit of their place: those noted in the batch that is being folded, and those that have their id.
    private var noted: UInt64 = 0
    private var kept: UInt64 = 0

    /// Notes what an event of the batch that is being folded let count; nothing where it names no schedule.
    mutating func note(_ place: ObservedPlace, _ microseconds: Int64, in group: Int, scheduleId: Event.Text) {
        guard !scheduleId.isEmpty else { return }
        notes[place.index] = Note(group: group, microseconds: microseconds, scheduleId: scheduleId)
        noted |= place.bit
    }

    /// Keeps what was counted of a schedule whose id is known otherwise.
    mutating func keep(_ place: ObservedPlace, _ microseconds: Int64, in group: Int, id: [UInt8], at time: Timestamp) {
        notes[place.index] = Note(group: group, microseconds: microseconds)
        ids[place.index] = id
        times[place.index] = time
        noted &= ~place.bit
        kept |= place.bit
    }

    /// Copies the ids out of the batch that was folded.
    mutating func keepNoted(from bytes: Span<UInt8>, at time: Timestamp) {
        while noted != 0 {
            let place = noted.trailingZeroBitCount
            ids[place].removeAll(keepingCapacity: true)
            for index in notes[place].scheduleId { ids[place].append(bytes[index]) }
            times[place] = time
            noted &= noted - 1
            kept |= 1 << UInt64(place)
        }
    }

    /// What was kept since the last call.
    mutating func take() -> [LifecycleObservation] {
        var observations: [LifecycleObservation] = []
        while kept != 0 {
            let index = kept.trailingZeroBitCount
            kept &= kept - 1
            guard let place = ObservedPlace.meaning[index] else { continue }
            observations.append(
                LifecycleObservation(
                    place: place,
                    group: notes[index].group,
                    value: place.value(of: notes[index].microseconds),
                    countedAt: times[index],
                    scheduleId: String(decoding: ids[index], as: UTF8.self)
                )
            )
        }
        return observations
    }
}

extension LifecycleObservation.Place {
    fileprivate func value(of microseconds: Int64) -> Double {
        switch self {
        case .failure: 1
        case .time: Double(TimeHistogram.counted(microseconds)) / 1e6
        }
    }
}
