// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

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
