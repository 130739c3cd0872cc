// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// Something that was counted, with the schedule that it was counted of: what an exemplar is made from.
public struct LifecycleObservation: Hashable, Sendable {
    /// Where it was counted.
    public enum Place: Hashable, Sendable {
        /// Among the failures with one reason.
        case failure(FailureReason)
        /// In a histogram.
        case time(TimeHistogram.Measure)
    }

    /// Where it was counted.
    public let place: Place
    /// The place of the group that it was counted in, in `LifecycleFold.totalsByGroup`.
    public let group: Int
    /// What was counted: a length of time in seconds, or 1.
    public let value: Double
    /// When it was counted, by the ledger's clock.
    public let countedAt: Timestamp
    /// The id of the schedule, as its events had it.
    public let scheduleId: String
}

extension LifecycleFold {
    /// The latest observation of every bucket and reason since the last call, of those whose schedule's id is known: that of
    /// the event, or of a closing cycle that was sampled. They are no part of what is counted, and of no checkpoint.
    public mutating func takeObservations() -> [LifecycleObservation] {
        observations.take()
    }

    /// Notes what an event told by itself.
    @inline(__always)
    mutating func note(_ time: CountedTime?, of event: borrowing Event, in group: Int) {
        guard let time, isReceiver, let place = ObservedPlace(time.measure, bucket: time.bucket) else { return }
        observations.note(place, time.microseconds, in: group, scheduleId: event.scheduleId)
    }

    /// Notes the failures that an event let its cycle count, and samples the schedule of a cycle that begins.
    @inline(__always)
    mutating func note(
        _ counted: StageTally,
        by event: borrowing Event,
        at slot: Int,
        in group: Int,
        _ bytes: Span<UInt8>
    ) {
        guard isReceiver else { return }
        switch event.kind {
        case .prefetchScheduled, .prefetchExecuted:
            schedules.sample(cycles[slot].schedule, event.scheduleId, in: bytes)
        default: break
        }
        if counted.hasFailures { noteFailures(counted, by: event, in: group) }
    }

    private mutating func noteFailures(_ counted: StageTally, by event: borrowing Event, in group: Int) {
        for reason in FailureReason.allCases where counted.failures(reason) > 0 {
            observations.note(ObservedPlace(reason), 0, in: group, scheduleId: event.scheduleId)
        }
    }

    /// Keeps what was counted of a cycle when it was closed.
    mutating func keep(_ counted: StageTally, _ judgement: Judgement?, atEndOf cycle: Cycle) {
        guard isReceiver, let id = schedules.take(cycle.schedule) else { return }
        let group = Int(cycle.group)
        for reason in FailureReason.allCases where counted.failures(reason) > 0 {
            observations.keep(ObservedPlace(reason), 0, in: group, id: id, at: clock)
        }
        judgement?.eachTime { measure, microseconds in
            let bucket = TimeHistogram.bucket(of: microseconds, measure)
            guard let place = ObservedPlace(measure, bucket: bucket) else { return }
            observations.keep(place, microseconds, in: group, id: id, at: clock)
        }
    }
}

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

/// One of the places whose latest observation is remembered: a bucket of a histogram of cycles, or a reason of failures.
struct ObservedPlace {
    static let count = 64
    /// Each histogram has so many places, which is more than it has buckets.
    private static let placesOfMeasure = 15
    private static let measures: [TimeHistogram.Measure] = [.fetchDuration, .startDelay, .contentAge, .drift]

    let index: Int

    @inline(__always) var bit: UInt64 { 1 &<< UInt64(truncatingIfNeeded: index) }

    /// A bucket; nil for a histogram that is not of cycles.
    init?(_ measure: TimeHistogram.Measure, bucket: Int) {
        guard measure.rawValue < Self.measures.count, bucket < Self.placesOfMeasure else { return nil }
        index = Int(measure.rawValue) * Self.placesOfMeasure + bucket
    }

    init(_ reason: FailureReason) {
        index = Self.measures.count * Self.placesOfMeasure + Int(reason.rawValue)
    }

    /// What each place stands for.
    static let meaning: [LifecycleObservation.Place?] = {
        var meaning = [LifecycleObservation.Place?](repeating: nil, count: count)
        for measure in measures {
            for bucket in 0..<placesOfMeasure {
                if let place = Self(measure, bucket: bucket) { meaning[place.index] = .time(measure) }
            }
        }
        for reason in FailureReason.allCases { meaning[Self(reason).index] = .failure(reason) }
        return meaning
    }()
}

/// The ids of some of the open cycles' schedules: cycles know the hash alone, and an observation that is made when a cycle
/// closes is to name its schedule.
///
/// A schedule that is sampled stays so until a cycle of it closes, and only then another one takes its place. So of many
/// cycles that are open for long a few are named, rather than only those that close soon.
struct SampledSchedules: Sendable {
    /// A power of two. With ids of 128 bytes they take some 200 KB.
    private static let count = 1_024

    private var hashes = [UInt64](repeating: 0, count: count)
    private var ids = [[UInt8]](repeating: [], count: count)

    /// Samples a schedule, unless another is at its place.
    @inline(__always)
    mutating func sample(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>) {
        let place = Self.place(of: hash)
        if hashes[place] == 0, hash != 0, !id.isEmpty { keep(hash, id, in: bytes, at: place) }
    }

    private mutating func keep(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>, at place: Int) {
        hashes[place] = hash
        ids[place] = id.map { bytes[$0] }
    }

    /// The id of a schedule, which is sampled no more; nil where it was not.
    mutating func take(_ hash: UInt64) -> [UInt8]? {
        let place = Self.place(of: hash)
        guard hash != 0, hashes[place] == hash else { return nil }
        hashes[place] = 0
        defer { ids[place] = [] }
        return ids[place]
    }

    private static func place(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (count - 1) }
}
