// SPDX-License-Identifier: Apache-2.0

public import TelemetryEvents

/// A counted value with its schedule, the source of an exemplar.
public struct LifecycleObservation: Hashable, Sendable {
    /// The metric that counted it.
    public enum Place: Hashable, Sendable {
        /// The failures with one reason.
        case failure(FailureReason)
        /// A histogram.
        case time(TimeHistogram.Measure)
    }

    /// The metric that counted it.
    public let place: Place
    /// The index of its group in `LifecycleFold.totalsByGroup`.
    public let group: Int
    /// The counted value: a duration in seconds, or 1.
    public let value: Double
    /// The time of counting, by the ledger's clock.
    public let countedAt: Timestamp
    /// The id of the schedule, as sent.
    public let scheduleId: String
}

extension LifecycleFold {
    /// The latest observation of every bucket and reason since the last call, where the id of the schedule is known.
    ///
    /// The id is that of the event, or of a sampled cycle that closed. Observations are not part of a checkpoint.
    public mutating func takeObservations() -> [LifecycleObservation] {
        observations.take()
    }

    /// Observes a duration that an event carried.
    @inline(__always)
    mutating func observe(_ time: CountedTime?, of event: borrowing Event, in group: Int) {
        guard let time, isReceiver, let place = ObservedPlace(time.measure, bucket: time.bucket) else { return }
        observations.note(place, time.microseconds, in: group, scheduleId: event.scheduleId)
    }

    /// Observes the failures that an event made its cycle count, and samples the schedule of a cycle that begins.
    @inline(__always)
    mutating func observe(
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
        if counted.hasFailures { observeFailures(counted, by: event, in: group) }
    }

    private mutating func observeFailures(_ counted: StageTally, by event: borrowing Event, in group: Int) {
        for reason in FailureReason.allCases where counted.failures(reason) > 0 {
            observations.note(ObservedPlace(reason), 0, in: group, scheduleId: event.scheduleId)
        }
    }

    /// Observes the failures that a cycle counted when it closed.
    ///
    /// - Parameter id: the id of its schedule.
    mutating func observe(_ counted: StageTally, atEndOf id: [UInt8], in group: Int) {
        for reason in FailureReason.allCases where counted.failures(reason) > 0 {
            observations.keep(ObservedPlace(reason), 0, in: group, id: id, at: clock)
        }
    }

    /// Observes the durations that counted when a cycle closed.
    mutating func observeTimes(of evaluation: CycleEvaluation, _ id: [UInt8], in group: Int) {
        evaluation.eachTime { measure, microseconds in
            let bucket = TimeHistogram.bucket(of: microseconds, measure)
            guard let place = ObservedPlace(measure, bucket: bucket) else { return }
            observations.keep(place, microseconds, in: group, id: id, at: clock)
        }
    }
}

/// The latest observation of every bucket and reason since they were last taken, shared by all groups.
///
/// An observation is noted without the id of its schedule, which is copied after the batch was folded. Noting costs a few
/// stores, and allocates only for an id longer than any before it.
struct LatestObservations: Sendable {
    private struct Note: Sendable {
        var group = 0
        var microseconds: Int64 = 0
        /// A range in the batch that is being folded.
        var scheduleId: Event.Text = 0..<0
    }

    private var notes = [Note](repeating: Note(), count: ObservedPlace.count)
    private var ids = [[UInt8]](repeating: [], count: ObservedPlace.count)
    private var times = [Timestamp](repeating: Timestamp(microseconds: 0), count: ObservedPlace.count)
    /// The bits of the places noted in the current batch, whose ids are not copied yet.
    private var noted: UInt64 = 0
    /// The bits of the places whose ids are copied.
    private var kept: UInt64 = 0

    /// Notes an observation of an event in the current batch; ignores an event without a schedule id.
    fileprivate mutating func note(_ place: ObservedPlace, _ microseconds: Int64, in group: Int, scheduleId: Event.Text)
    {
        guard !scheduleId.isEmpty else { return }
        notes[place.index] = Note(group: group, microseconds: microseconds, scheduleId: scheduleId)
        noted |= place.bit
    }

    /// Keeps an observation of a sampled schedule.
    fileprivate mutating func keep(
        _ place: ObservedPlace,
        _ microseconds: Int64,
        in group: Int,
        id: [UInt8],
        at time: Timestamp
    ) {
        notes[place.index] = Note(group: group, microseconds: microseconds)
        ids[place.index] = id
        times[place.index] = time
        noted &= ~place.bit
        kept |= place.bit
    }

    /// Copies the ids of the noted observations out of the folded batch.
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

    /// Takes the kept observations.
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

/// A place whose latest observation is remembered: a bucket of a cycle histogram, or a failure reason.
private struct ObservedPlace {
    static let count = 64
    /// The places of one histogram, which is more than its buckets.
    private static let placesOfMeasure = 15
    private static let measures: [TimeHistogram.Measure] = [.fetchDuration, .startDelay, .contentAge, .drift]

    let index: Int

    @inline(__always) var bit: UInt64 { 1 &<< UInt64(truncatingIfNeeded: index) }

    /// A bucket; nil for a histogram that is not about cycles.
    init?(_ measure: TimeHistogram.Measure, bucket: Int) {
        guard measure.rawValue < Self.measures.count, bucket < Self.placesOfMeasure else { return nil }
        index = Int(measure.rawValue) * Self.placesOfMeasure + bucket
    }

    init(_ reason: FailureReason) {
        index = Self.measures.count * Self.placesOfMeasure + Int(reason.rawValue)
    }

    /// The meaning of each place.
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

/// The ids of some open schedules, so that an observation at the close of a cycle can name its schedule; cycles store only
/// a hash.
///
/// A sampled schedule stays until one of its cycles closes. So long-lived cycles are sampled too, not only short ones.
struct SampledSchedules: Sendable {
    /// A power of two. With ids of 128 bytes the samples take about 200 KB.
    private static let count = 1_024

    private var hashes = [UInt64](repeating: 0, count: count)
    private var ids = [[UInt8]](repeating: [], count: count)

    /// Samples a schedule, unless its place is taken.
    @inline(__always)
    mutating func sample(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>) {
        let place = Self.place(of: hash)
        if hashes[place] == 0, hash != 0, !id.isEmpty { keep(hash, id, in: bytes, at: place) }
    }

    private mutating func keep(_ hash: UInt64, _ id: Event.Text, in bytes: Span<UInt8>, at place: Int) {
        hashes[place] = hash
        ids[place] = id.map { bytes[$0] }
    }

    /// Takes the id of a sampled schedule; nil for one that is not sampled.
    mutating func take(_ hash: UInt64) -> [UInt8]? {
        let place = Self.place(of: hash)
        guard hash != 0, hashes[place] == hash else { return nil }
        hashes[place] = 0
        defer { ids[place] = [] }
        return ids[place]
    }

    private static func place(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (count - 1) }
}
