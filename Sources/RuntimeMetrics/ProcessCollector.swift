// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry

/// The standard `process_*` metrics, as Prometheus' own libraries have them.
///
/// They are read from `/proc/self` at each scrape (proc(5)), with the files kept open, in some 10 microseconds of CPU
/// time. The kernel takes longer than that for the two of the network, which are those of the network namespace; they
/// are read once a second at most. A scrape doesn't wait for another that reads: it shows the values of the last reading.
public enum ProcessCollector {
    /// Puts the metrics of this process on the registry's page; none elsewhere than on Linux with glibc.
    public static func add(to registry: MetricsRegistry) {
        #if canImport(Glibc)
            let families = ProcessFamilies(registry)
            let readings = SharedReadings()
            readings.use { families.collect(&$0) }
            registry.onCollect { readings.use { families.collect(&$0) } }
        #endif
    }
}
