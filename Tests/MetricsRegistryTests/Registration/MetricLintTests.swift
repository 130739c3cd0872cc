// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Naming lint")
struct MetricLintTests {
    @Test(
        "the lint finds a deviation from the naming conventions",
        arguments: [
            (MetricDescriptor(name: "jobs", help: "J.", kind: .counter), "should end in _total"),
            (MetricDescriptor(name: "jobs_total", help: "J.", kind: .gauge), "only a counter's name ends in _total"),
            (MetricDescriptor(name: "jobs_total", help: "", kind: .counter), "has no help"),
            (MetricDescriptor(name: "wait_ms", help: "W.", kind: .gauge), "use the base unit seconds"),
            (MetricDescriptor(name: "wait_minutes_total", help: "W.", kind: .counter), "use the base unit seconds"),
            (MetricDescriptor(name: "cache_kilobytes", help: "C.", kind: .gauge), "use the base unit bytes"),
            (MetricDescriptor(name: "used_percent", help: "U.", kind: .gauge), "use the base unit ratio"),
            (MetricDescriptor(name: "jobs_gauge", help: "J.", kind: .gauge), "has the type gauge in its name"),
            (MetricDescriptor(name: "jobs_count", help: "J.", kind: .gauge), "belongs to the samples of a histogram"),
            (MetricDescriptor(name: "openJobs", help: "J.", kind: .gauge), "is in camelCase"),
            (MetricDescriptor(name: "job:rate", help: "J.", kind: .gauge), "colons are for recording rules"),
            (MetricDescriptor(name: "wait", help: "W.", unit: "seconds", kind: .gauge), "its name should end in it"),
            (MetricDescriptor(name: "a", help: "A.", kind: .gauge, labelNames: ["jobName"]), "label jobName"),
            (MetricDescriptor(name: "a", help: "A.", kind: .gauge, labelNames: ["quantile"]), "label quantile"),
        ]
    )
    func metricLintFound(descriptor: MetricDescriptor, complaint: String) {
        let findings = MetricLint.findings(in: [descriptor])
        #expect(findings.count == 1)
        #expect(findings.first?.text.contains(complaint) == true)
        #expect(findings.first?.description.hasPrefix("\(descriptor.name): ") == true)
    }

    @Test("the lint accepts conventional names, including the registry's own")
    func metricLintSilent() {
        let fixture = RegistryFixture()
        let registry = fixture.registry
        _ = registry.counter("prefetch_success_total", help: "S.")
        _ = registry.fractionalCounter("process_cpu_seconds_total", help: "C.", unit: "seconds")
        _ = registry.gauge("process_resident_memory_bytes", help: "M.", unit: "bytes")
        _ = registry.histogram("fetch_duration_seconds", help: "D.", unit: "seconds", buckets: [1])
        _ = registry.gauge("build_info", help: "B.", labels: ["version"])
        #expect(MetricLint.findings(in: registry.descriptors).isEmpty)
    }
}
