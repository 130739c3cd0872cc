// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry
internal import Synchronization

/// The standard `process_*` metrics, as Prometheus' own libraries have them.
///
/// They are read from `/proc/self` at each scrape (proc(5)), with the files kept open, in some 10 microseconds of CPU
/// time. The kernel takes longer than that for the two of the network, which are those of the network namespace; they
/// are read once a second at most.
public enum ProcessCollector {
    /// Puts the metrics of this process on the registry's page.
    public static func add(to registry: MetricsRegistry) {
        let families = ProcessFamilies(registry)
        let readings = SharedReadings()
        registry.onCollect { readings.readings.withLock { families.collect(&$0) } }
    }
}

private final class SharedReadings: Sendable {
    let readings = Mutex(ProcessReadings())
}
