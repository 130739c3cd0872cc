// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry

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
