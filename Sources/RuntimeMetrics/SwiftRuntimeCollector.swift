// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry
internal import Synchronization

/// The metrics of Swift's runtime, `swift_*`: version, heap, and how long a task waits for a thread.
///
/// The heap is that of the C library, from which Swift allocates; the figures need glibc 2.33 or later. The allocator walks
/// its free memory to count it, during which no other thread allocates from there, and which takes long where that memory
/// is in many pieces. So it is asked for a thousandth of the time at most, by one scrape at a time, while others show the
/// values of the last reading; and a reading of more than 2 ms of CPU time is the process's last, whose values stay.
///
/// Each scrape enqueues a task on the cooperative pool and observes how long it took to start, for the next scrape's
/// page. While one hasn't started, no other is enqueued.
public enum SwiftRuntimeCollector {
    /// Puts the metrics of Swift's runtime on the registry's page.
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

enum SwiftVersion {
    /// The compiler's version, without its patch level, which only the toolchain's package tells.
    static var compiler: String {
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
