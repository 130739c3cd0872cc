// SPDX-License-Identifier: Apache-2.0

public import MetricsRegistry
internal import Synchronization

/// The standard `process_*` metrics, as in the Prometheus client libraries.
///
/// Each scrape reads them from `/proc/self` (proc(5)), whose files stay open, in about 10 microseconds of CPU time.
/// The two network metrics, which cover the network namespace, take the kernel longer and are read at most once a
/// second. Concurrent scrapes do not wait for each other's readings: they show the values of the last one.
public enum ProcessCollector {
    /// Adds the metrics of this process to the registry; none except on Linux with glibc.
    public static func add(to registry: MetricsRegistry) {
        #if canImport(Glibc)
            let families = ProcessFamilies(registry)
            let readings = SharedReadings()
            readings.use { families.collect(&$0) }
            registry.onCollect { readings.use { families.collect(&$0) } }
        #endif
    }
}

#if canImport(Glibc)
    /// The `process_*` families.
    private struct ProcessFamilies: Sendable {
        private let processor: FractionalCounter
        private let resident: Gauge
        private let virtual: Gauge
        private let virtualLimit: Gauge
        private let openFiles: Gauge
        private let fileLimit: Gauge
        private let threads: Gauge
        private let started: Gauge
        private let received: Counter
        private let sent: Counter

        init(_ registry: MetricsRegistry) {
            processor = registry.fractionalCounter(
                "process_cpu_seconds_total",
                help: "User and system CPU time spent.",
                unit: "seconds"
            )
            resident = registry.gauge("process_resident_memory_bytes", help: "Resident memory.", unit: "bytes")
            virtual = registry.gauge("process_virtual_memory_bytes", help: "Virtual memory.", unit: "bytes")
            virtualLimit = registry.gauge(
                "process_virtual_memory_max_bytes",
                help: "Limit of virtual memory; 2 to the power of 64 where there is none.",
                unit: "bytes"
            )
            openFiles = registry.gauge("process_open_fds", help: "Open file descriptors.")
            fileLimit = registry.gauge("process_max_fds", help: "Limit of open file descriptors.")
            threads = registry.gauge("process_threads", help: "Threads of the operating system.")
            started = registry.gauge(
                "process_start_time_seconds",
                help: "When the process started, in seconds since 1970.",
                unit: "seconds"
            )
            received = registry.counter(
                "process_network_receive_bytes_total",
                help: "Bytes received over IP in the network namespace of the process.",
                unit: "bytes"
            )
            sent = registry.counter(
                "process_network_transmit_bytes_total",
                help: "Bytes sent over IP in the network namespace of the process.",
                unit: "bytes"
            )
        }

        /// Sets the values that can be read; the others are unchanged.
        func collect(_ readings: inout ProcessReadings) {
            if let seconds = readings.processorSeconds() { processor.raise(to: seconds) }
            if let status = readings.status() {
                virtual.set(status.virtualBytes)
                resident.set(Double(status.residentPages) * ProcessReadings.pageBytes)
                threads.set(status.threads)
                if let start = readings.startSeconds(status) { started.set(start) }
            }
            if let count = readings.openDescriptors() { openFiles.set(count) }
            if let limit = readings.descriptorLimit() { fileLimit.set(limit) }
            if let limit = readings.virtualMemoryLimit() { virtualLimit.set(limit) }
            if let traffic = readings.networkTraffic() {
                received.restore(to: traffic.received)
                sent.restore(to: traffic.sent)
            }
        }
    }

    /// Readings that one scrape at a time uses, without blocking others.
    final class SharedReadings: Sendable {
        private let readings = Mutex(ProcessReadings())

        /// Runs `body`, unless another thread is using the readings.
        func use(_ body: (inout ProcessReadings) -> Void) {
            _ = readings.withLockIfAvailable { body(&$0) }
        }
    }
#endif
