// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import MetricsRegistry

#if canImport(Glibc)
    internal import Glibc
#endif

/// The standard `process_*` families, read from `/proc/self` at each scrape (proc(5)).
struct ProcessMetrics: Sendable {
    private let cpu: FractionalCounter
    private let resident: Gauge
    private let virtual: Gauge
    private let openFiles: Gauge
    private let maximumFiles: Gauge

    init(_ registry: MetricsRegistry, startedAt: Int64) {
        cpu = registry.fractionalCounter(
            "process_cpu_seconds_total",
            help: "User and system CPU time spent.",
            unit: "seconds"
        )
        resident = registry.gauge("process_resident_memory_bytes", help: "Resident memory.", unit: "bytes")
        virtual = registry.gauge("process_virtual_memory_bytes", help: "Virtual memory.", unit: "bytes")
        openFiles = registry.gauge("process_open_fds", help: "Open file descriptors.")
        maximumFiles = registry.gauge("process_max_fds", help: "Limit of open file descriptors.")
        registry.gauge(
            "process_start_time_seconds",
            help: "When the process started, in seconds since 1970.",
            unit: "seconds"
        ).set(Double(startedAt) / 1e6)
    }

    func collect() {
        guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return }
        // Behind the name in parentheses: utime and stime are the 12th and 13th, vsize the 21st, rss the 22nd.
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 21 else { return }
        let ticks = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        let times = (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)
        cpu.raise(to: times / ticks)
        virtual.set(Double(fields[20]) ?? 0)
        resident.set((Double(fields[21]) ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE))))
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            openFiles.set(files.count)
        }
        var limit = rlimit()
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            maximumFiles.set(Double(limit.rlim_cur))
        }
    }
}
