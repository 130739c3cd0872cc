// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@Suite("Prometheus' own checker")
struct PromtoolTests {
    /// Needs `promtool` (Debian: package prometheus); without it the test fails.
    @Test("promtool has nothing to say about a page of every kind", .timeLimit(.minutes(1)))
    func silent() throws {
        let fixture = RegistryFixture()
        let registry = fixture.registry
        let hits = registry.counter("hits_total", help: "Hits, \"quoted\" \\ and\nbroken.", labels: ["value"])
        for hostile in HostileText.all { hits.with(hostile.text).add(3) }
        _ = registry.counter("failures_total", help: "Failures.", label: "reason", of: Reason.self)
        registry.fractionalCounter("busy_seconds_total", help: "Busy.", unit: "seconds").add(0.1 + 0.2)
        let temperatures = registry.gauge("temperature_celsius", help: "Temperatures.", labels: ["room"])
        for (index, value) in [.nan, .infinity, -.infinity, 1e-7, -1e300].enumerated() {
            temperatures.with("\(index)").set(value)
        }
        let delays = registry.histogram("delay_seconds", help: "D.", labels: ["way"], buckets: [0.00001, 60, 5e6])
        delays.with("in").observe(61)
        delays.with("out").observe(0)
        let (status, output) = try Promtool.check(registry.exposition())
        #expect(output == "")
        #expect(status == 0)
    }

    @Test("promtool does speak about a page that is wrong", .timeLimit(.minutes(1)))
    func notSilent() throws {
        let (status, output) = try Promtool.check(Array("# TYPE hits counter\nhits 1\n".utf8))
        #expect(output.contains("hits"))
        #expect(status != 0)
    }

    @Test(
        "promtool reads a page of hostile names, helps and values, whatever it thinks of the names",
        .timeLimit(.minutes(1))
    )
    func hostile() throws {
        for escaping in [NameEscaping.underscores, .dots, .values] {
            let fixture = RegistryFixture()
            var filler = PageFiller(fixture, seed: 12)
            for _ in 0..<100 { try filler.addFamily() }
            let page = fixture.registry.exposition(ExpositionFormat(.text004, escaping: escaping))
            let (status, output) = try Promtool.check(page)
            #expect(status == 3, "\(output.prefix(1_000))")
            #expect(!output.contains("error while linting"))
        }
    }
}
