// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry
internal import Synchronization

/// The `swift_*` metrics of the Swift runtime: version, heap, and how long a task waits for a thread.
///
/// The heap is that of the C library, from which Swift allocates; its figures need glibc 2.33 or later. To count free
/// memory the allocator walks it, blocking other allocations, which takes long if the memory is fragmented. So it is
/// read at most a thousandth of the time, by one scrape at a time, while others show the last values. After a reading
/// of more than 2 ms of CPU time it is never read again.
///
/// Each scrape enqueues a task on the cooperative pool and observes its delay, for the page of the next scrape. While
/// one has not started, no other is enqueued.
public enum SwiftRuntimeCollector {
    /// Adds the metrics of the Swift runtime to the registry.
    public static func add(to registry: MetricsRegistry) {
        registry.gauge(
            "swift_info",
            help: "1, with the version of the Swift compiler that built the program as a label.",
            labels: ["version"]
        ).with(SwiftVersion.compiler).set(1)
        let heap = HeapFamilies(registry)
        let probe = TaskDelayProbe(registry)
        registry.onCollect {
            heap?.collect()
            probe.start()
        }
    }
}

package enum SwiftVersion {
    /// The compiler's version without its patch level, which only the toolchain's package knows.
    package static var compiler: String {
        #if compiler(>=6.6)
            "6.6 or later"
        #elseif compiler(>=6.5)
            "6.5"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}

/// Measures how long a task waits for a thread of the cooperative pool.
final class TaskDelayProbe: Sendable {
    private let delays: Histogram
    private let isPending = Atomic(false)

    init(_ registry: MetricsRegistry) {
        delays = registry.histogram(
            "swift_task_start_delay_seconds",
            help: "Time from enqueueing a task to its start on the cooperative pool, sampled once a scrape.",
            unit: "seconds",
            buckets: [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.1, 1, 10]
        )
    }

    /// Enqueues a task, unless one is waiting.
    func start() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let enqueued = ContinuousClock.now
        Task.detached { [self] in
            delays.observe((ContinuousClock.now - enqueued) / .seconds(1))
            isPending.store(false, ordering: .releasing)
        }
    }
}
