// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

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
