// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import PrefetchLifecycle
internal import TelemetryEvents

extension Exemplar {
    /// The name of the only label.
    private static let label = "schedule_id"

    /// What was counted, with its schedule (SPEC 7), at the time when it was: that is when the counter moved. Nil where
    /// the id is longer than exemplars may be.
    init?(_ observation: LifecycleObservation) {
        do throws(ExemplarError) {
            self = try Exemplar(
                labels: [(Self.label, observation.scheduleId)],
                value: observation.value,
                timestamp: observation.countedAt.microseconds
            )
        } catch {
            return nil
        }
    }
}
