// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry
internal import Synchronization

/// The metrics of Swift's runtime, `swift_*`: version, heap, and how long a task waits for a thread.
///
/// The heap is that of the C library, from which Swift allocates. The allocator walks its free memory to count it, which
/// takes long where that is in many pieces: it is asked so rarely that this takes a thousandth of the time at most.
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
            heap.collect()
            probe.start()
        }
    }
}
