// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Counters")
struct CounterTests {
    private let fixture = RegistryFixture()

    @Test("a counter adds its amount, by default one")
    func counterAdding() {
        let counter = fixture.registry.counter("jobs_total", help: "Jobs.")
        counter.add()
        counter.add(41)
        #expect(counter.value == 42)
        #expect(fixture.samples()["jobs_total"] == "42")
    }

    @Test("a counter saturates instead of wrapping around")
    func counterSaturation() {
        let counter = fixture.registry.counter("jobs_total", help: "Jobs.")
        counter.add(.max)
        counter.add(5)
        #expect(counter.value == .max)
        #expect(fixture.samples()["jobs_total"] == "18446744073709551615")
    }

    @Test("restoring a counter raises it, never lowers it, and adopts its creation time")
    func counterRestoring() {
        let counter = fixture.registry.counter("jobs_total", help: "Jobs.")
        #expect(counter.created == RegistryFixture.start)
        counter.restore(to: 100, created: 1_600_000_000_000_000)
        #expect(counter.value == 100)
        #expect(counter.created == 1_600_000_000_000_000)
        counter.restore(to: 99)
        #expect(counter.value == 100)
        #expect(counter.created == 1_600_000_000_000_000)
        counter.restore(to: .max - 3)
        #expect(counter.value == UInt64.max - 3)
        counter.restore(to: 1)
        #expect(counter.value == UInt64.max - 3)
    }

    @Test("a series is created at the time of its first lookup")
    func counterCreation() {
        let family = fixture.registry.counter("jobs_total", help: "Jobs.", labels: ["queue"])
        fixture.setClock(RegistryFixture.start + 7)
        #expect(family.with("a").created == RegistryFixture.start + 7)
        fixture.setClock(RegistryFixture.start + 9)
        #expect(family.with("a").created == RegistryFixture.start + 7)
    }

    @Test("a fractional counter adds fractions, and ignores and counts negative and non-finite amounts")
    func counterFractions() {
        let counter = fixture.registry.fractionalCounter("busy_seconds_total", help: "Busy.", unit: "seconds")
        counter.add(0.25)
        counter.add(1.5)
        counter.add(-1)
        counter.add(.nan)
        counter.add(.infinity)
        #expect(counter.value == 1.75)
        #expect(fixture.samples()["busy_seconds_total"] == "1.75")
        #expect(fixture.samples()["metrics_registry_ignored_values_total"] == "3")
    }

    @Test("a fractional counter saturates at the largest number")
    func largestFraction() {
        let counter = fixture.registry.fractionalCounter("busy_seconds_total", help: "Busy.")
        for _ in 1...3 { counter.add(1e308) }
        #expect(counter.value == .greatestFiniteMagnitude)
        #expect(fixture.samples()["busy_seconds_total"] == "1.7976931348623157e+308")
    }

    @Test("a fractional counter only rises to a total kept elsewhere")
    func counterFollowing() {
        let counter = fixture.registry.fractionalCounter("process_cpu_seconds_total", help: "CPU.")
        counter.raise(to: 2.5)
        counter.raise(to: 2.25)
        counter.raise(to: .nan)
        #expect(counter.value == 2.5)
        counter.restore(to: 3, created: 5)
        #expect(counter.value == 3)
        #expect(counter.created == 5)
    }

    @Test("a gauge is set, raised and lowered")
    func counterGauge() {
        let gauge = fixture.registry.gauge("open_cycles", help: "Open.")
        gauge.set(10)
        gauge.add(2.5)
        gauge.add(-5)
        #expect(gauge.value == 7.5)
        #expect(fixture.samples()["open_cycles"] == "7.5")
        gauge.set(Int64(-3))
        #expect(fixture.samples()["open_cycles"] == "-3")
    }

    @Test("a counter loses no additions of concurrent threads")
    func counterContention() async {
        let counter = fixture.registry.counter("jobs_total", help: "Jobs.")
        let seconds = fixture.registry.fractionalCounter("busy_seconds_total", help: "Busy.")
        let histogram = fixture.registry.histogram("wait_seconds", help: "Wait.", buckets: [1, 2])
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.add()
                        seconds.add(0.5)
                        histogram.observe(1.5)
                    }
                }
            }
        }
        #expect(counter.value == 40_000)
        #expect(seconds.value == 20_000)
        #expect(histogram.bucketCounts == [0, 40_000, 0])
        #expect(histogram.sum == 60_000)
    }
}
