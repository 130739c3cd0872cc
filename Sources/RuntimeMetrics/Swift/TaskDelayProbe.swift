// SPDX-License-Identifier: Apache-2.0

internal import MetricsRegistry
internal import Synchronization

/// Measures how long a task waits for a thread of the cooperative pool.
final class TaskDelayProbe: Sendable {
    private let delays: Histogram
    private let isWaiting = Atomic(false)

    init(_ registry: MetricsRegistry) {
        delays = registry.histogram(
            "swift_task_start_delay_seconds",
            help: "Time from enqueueing a task to its start on the cooperative pool, sampled once a scrape.",
            unit: "seconds",
            buckets: [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1, 10]
        )
    }

    /// Enqueues a task, unless one waits already.
    func start() {
        guard !isWaiting.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let enqueued = ContinuousClock.now
        Task.detached { [self] in
            delays.observe((ContinuousClock.now - enqueued) / .seconds(1))
            isWaiting.store(false, ordering: .releasing)
        }
    }
}
