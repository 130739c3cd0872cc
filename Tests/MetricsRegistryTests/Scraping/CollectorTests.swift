// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import MetricsRegistry
import Synchronization
import Testing

extension OneAtATime {
    @Suite("Collectors")
    struct CollectorTests {
        private struct Failure: Error {}

        private final class Rooms: Sendable {
            private let rooms = Mutex<[String: Double]>([:])
            func set(_ new: [String: Double]) { rooms.withLock { $0 = new } }
            var samples: [(labelValues: [String], value: Double)] {
                rooms.withLock { $0.map { ([$0.key], $0.value) } }
            }
        }

        private let fixture = RegistryFixture()
        private let rooms = Rooms()

        @Test("a page has exactly the series that the function returns")
        func collectorSeries() {
            fixture.registry.gaugeFunction("temperature_celsius", help: "T.", labels: ["room"]) { [rooms] in
                rooms.samples
            }
            #expect(!fixture.page().contains("temperature_celsius"))
            rooms.set(["attic": 30, "cellar": 9])
            #expect(
                fixture.page().hasSuffix(
                    """
                    temperature_celsius{room="attic"} 30
                    temperature_celsius{room="cellar"} 9

                    """
                )
            )
            for degrees in 10...13 {
                rooms.set(["cellar": Double(degrees), "kitchen \(degrees)": 21])
                let samples = fixture.samples().filter { $0.key.hasPrefix("temperature") }
                #expect(
                    samples == [
                        #"temperature_celsius{room="cellar"}"#: "\(degrees)",
                        "temperature_celsius{room=\"kitchen \(degrees)\"}": "21",
                    ]
                )
            }
        }

        @Test("a computed counter never falls, and restarts after it disappeared")
        func collectorCounters() {
            fixture.registry.counterFunction("reads_total", help: "R.", labels: ["disk"]) { [rooms] in rooms.samples }
            for (given, shown) in [(5.0, "5"), (3, "5"), (7.5, "7.5")] {
                rooms.set(["sda": given])
                #expect(fixture.samples()[#"reads_total{disk="sda"}"#] == shown)
            }
            rooms.set([:])
            #expect(fixture.samples()[#"reads_total{disk="sda"}"#] == nil)
            rooms.set(["sda": 2])
            #expect(fixture.samples()[#"reads_total{disk="sda"}"#] == "2")
        }

        @Test("computed series beyond the limit are omitted until others disappear")
        func collectorLimit() {
            fixture.registry.gaugeFunction("n", help: "N.", labels: ["room"], maximumSeries: 3) { [rooms] in
                rooms.samples
            }
            rooms.set(Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0)", 1) }))
            #expect(fixture.samples().keys.count { $0.hasPrefix("n{") } == 3)
            rooms.set(["a": 1, "b": 1, "c": 1])
            #expect(
                fixture.samples().keys.filter { $0.hasPrefix("n{") }.sorted() == [
                    #"n{room="a"}"#, #"n{room="b"}"#, #"n{room="c"}"#,
                ]
            )
        }

        @Test("a throwing function has no series, is counted, and does not fail the page")
        func throwing() {
            let switchable = Switch()
            fixture.registry.counter("jobs_total", help: "J.").add(3)
            fixture.registry.gaugeFunction("level", help: "L.", labels: ["tank"]) {
                if !switchable.isOn { throw Failure() }
                return [(["a"], 1)]
            }
            #expect(fixture.samples()[#"level{tank="a"}"#] == "1")
            #expect(fixture.samples()[#"metrics_registry_failed_collections_total{collector="level"}"#] == "0")
            switchable.isOn = false
            let samples = fixture.samples()
            #expect(samples[#"level{tank="a"}"#] == nil)
            #expect(samples["jobs_total"] == "3")
            #expect(samples[#"metrics_registry_failed_collections_total{collector="level"}"#] == "1")
            switchable.isOn = true
            #expect(fixture.samples()[#"level{tank="a"}"#] == "1")
        }

        @Test("a hanging function delays one page up to the limit and later ones not at all", .timeLimit(.minutes(1)))
        func hanging() {
            var limits = RegistryLimits()
            limits.collectionMilliseconds = 100
            let fixture = RegistryFixture(limits: limits)
            let goOn = DispatchSemaphore(value: 0)
            let hangs = Switch()
            hangs.isOn = false
            let ended = DispatchSemaphore(value: 0)
            let runs = fixture.registry.counter("runs_total", help: "R.")
            fixture.registry.gaugeFunction("level", help: "L.", labels: ["tank"]) {
                runs.add()
                if hangs.isOn {
                    goOn.wait()
                    defer { ended.signal() }
                    return [(["b"], 2)]
                }
                return [(["a"], 1)]
            }
            fixture.registry.gaugeFunction("other", help: "O.", labels: ["tank"]) { [(["a"], 7)] }
            while fixture.samples()[#"level{tank="a"}"#] != "1" || fixture.samples()[#"other{tank="a"}"#] != "7" {}
            let before = runs.value
            hangs.isOn = true
            let clock = ContinuousClock()
            let first = clock.measure {
                let samples = fixture.samples()
                #expect(samples[#"level{tank="a"}"#] == "1")
                #expect(samples[#"other{tank="a"}"#] == "7")
            }
            #expect(first >= .milliseconds(100))
            for _ in 0..<100 { #expect(fixture.samples()[#"level{tank="a"}"#] == "1") }
            #expect(runs.value == before + 1)
            hangs.isOn = false
            goOn.signal()
            ended.wait()
            while fixture.samples()[#"level{tank="a"}"#] != "1" || runs.value == before + 1 {}
            #expect(fixture.samples()[#"level{tank="b"}"#] == nil)
        }

        @Test("an unregistered function is not called again, and its name is free")
        func unregistering() {
            let registry = fixture.registry
            let first = registry.gaugeFunction("level", help: "L.", labels: ["tank"]) { [(["a"], 1)] }
            registry.gaugeFunction("level", help: "L.", labels: ["tank"]) { [(["b"], 1)] }
            #expect(fixture.conflicts.map(\.reason) == [.repeatedFunction])
            #expect(fixture.samples()[#"level{tank="a"}"#] == "1")
            #expect(fixture.samples()[#"level{tank="b"}"#] == nil)
            first.unregister()
            first.unregister()
            #expect(!fixture.page().contains("level"))
            registry.gaugeFunction("level", help: "Another.", labels: ["basin"]) { [(["c"], 1)] }.unregister()
            registry.gaugeFunction("level", help: "L.", labels: ["tank"]) { [(["d"], 1)] }
            #expect(fixture.conflicts.count == 1)
            #expect(fixture.samples()[#"level{tank="d"}"#] == "1")
            #expect(registry.descriptors.count { $0.name == "level" } == 1)
        }

        @Test("unregistering a function without labels frees its name and what it captured")
        func unregisteringQuick() {
            weak var registry: MetricsRegistry?
            let runs = fixture.registry.counter("runs_total", help: "R.")
            do {
                let held = MetricsRegistry()
                registry = held
                let collectors = [
                    held.onCollect { runs.add(1 + held.conflictCount) },
                    held.gaugeFunction("level", help: "L.") { Double(held.conflictCount) },
                    held.counterFunction("seconds_total", help: "S.") { Double(held.conflictCount) },
                ]
                #expect(collectors.map(\.name) == ["onCollect", "level", "seconds_total"])
                #expect(text(held.exposition()).contains("\nlevel 0\n"))
                for collector in collectors { collector.unregister() }
                let page = text(held.exposition())
                #expect(!page.contains("level") && !page.contains("seconds_total"))
                held.counter("level", help: "Another.").add()
                #expect(held.conflictCount == 0)
            }
            #expect(registry == nil)
            #expect(runs.value == 1)
        }

        @Test("a collector beyond the limit is a conflict and never runs")
        func limitOfCollectors() {
            var limits = RegistryLimits.patient
            limits.families = 5
            let fixture = RegistryFixture(limits: limits)
            let runs = fixture.registry.counter("runs_total", help: "R.")
            for _ in 0..<4 { fixture.registry.onCollect { runs.add() } }
            fixture.registry.collector("fifth") { runs.add() }
            #expect(fixture.conflicts.isEmpty)
            fixture.registry.onCollect { runs.add(10) }
            fixture.registry.collector("sixth") { runs.add(10) }.unregister()
            #expect(fixture.conflicts.map(\.reason) == [.limit, .limit])
            #expect(fixture.samples()["runs_total"] == "5")
        }

        @Test("a collector sets several metrics at once until it is unregistered")
        func collector() {
            let gauge = fixture.registry.gauge("level", help: "L.")
            let runs = fixture.registry.counter("runs_total", help: "R.")
            let collector = fixture.registry.collector("tanks") {
                runs.add()
                gauge.set(Double(runs.value * 10))
                if runs.value == 2 { throw Failure() }
            }
            #expect(fixture.samples()["level"] == "10")
            #expect(fixture.samples()["level"] == "20")
            #expect(fixture.samples()["level"] == "30")
            #expect(fixture.samples()[#"metrics_registry_failed_collections_total{collector="tanks"}"#] == "1")
            collector.unregister()
            _ = fixture.samples()
            #expect(runs.value == 4)
        }

        @Test("concurrent scrapes share a collector run, and each shows its complete result")
        func collectorConcurrent() {
            fixture.registry.gaugeFunction("level", help: "L.", labels: ["tank"]) { (0..<10).map { (["\($0)"], 1) } }
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<20 { #expect(fixture.samples().keys.count { $0.hasPrefix("level{") } == 10) }
            }
        }

        @Test(
            "asynchronous pages that wait for a collector block no thread of the cooperative pool",
            .timeLimit(.minutes(1))
        )
        func asynchronousPages() async {
            let registry = RegistryFixture().registry
            let goOn = DispatchSemaphore(value: 0)
            registry.gaugeFunction("level", help: "L.", labels: ["tank"]) {
                goOn.wait()
                goOn.signal()
                return [(["a"], 1)]
            }
            await withTaskGroup { group in
                for _ in 0..<32 {
                    group.addTask { #expect(text(await registry.page()).contains("level{tank=\"a\"} 1\n")) }
                }
                group.addTask {
                    for _ in 0..<100 { await Task.yield() }
                    goOn.signal()
                }
            }
        }

        @Test("concurrent first scrapes all wait for the run that one of them starts", .timeLimit(.minutes(2)))
        func firstPages() {
            for _ in 0..<200 {
                let fixture = RegistryFixture()
                fixture.registry.gaugeFunction("level", help: "L.", labels: ["tank"]) { [(["a"], 1)] }
                let ready = Atomic(0)
                DispatchQueue.concurrentPerform(iterations: 2) { _ in
                    ready.add(1, ordering: .relaxed)
                    while ready.load(ordering: .relaxed) < 2 { sched_yield() }
                    #expect(fixture.samples()[#"level{tank="a"}"#] == "1")
                }
            }
        }

        private final class Switch: Sendable {
            private let state = Mutex(true)
            var isOn: Bool {
                get { state.withLock { $0 } }
                set { state.withLock { $0 = newValue } }
            }
        }
    }
}
