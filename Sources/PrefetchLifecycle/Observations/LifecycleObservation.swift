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
