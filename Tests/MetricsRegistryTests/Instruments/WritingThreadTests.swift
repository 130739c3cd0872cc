// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MetricsRegistry
import Testing

extension OneAtATime {
    @Suite("Writing threads")
    struct WritingThreadTests {
        private let fixture = RegistryFixture()

        @Test("tasks that resume on other threads lose no additions")
        func writingThreadTasks() async {
            let counter = fixture.registry.counter("jobs_total", help: "J.")
            let family = fixture.registry.counter("hits_total", help: "H.", labels: ["path"])
            let histogram = fixture.registry.histogram("size", help: "S.", buckets: [1, 2])
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<2_000 {
                            counter.add()
                            family.with("/") { $0.add() }
                            histogram.observe(1)
                            await Task.yield()
                            counter.add()
                            family.with("/") { $0.add() }
                            histogram.observe(2)
                        }
                    }
                }
            }
            #expect(counter.value == 32_000)
            #expect(family.with("/").value == 32_000)
            #expect(histogram.bucketCounts == [16_000, 16_000, 0])
            #expect(histogram.sum == 48_000)
        }

        @Test("a counter shared by threads is restored and saturates")
        func writingThreadRestoring() {
            let counter = fixture.registry.counter("jobs_total", help: "J.")
            DispatchQueue.concurrentPerform(iterations: 8) { _ in for _ in 0..<1_000 { counter.add() } }
            #expect(counter.value == 8_000)
            counter.restore(to: 7_000)
            #expect(counter.value == 8_000)
            counter.restore(to: 10_000)
            #expect(counter.value == 10_000)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in counter.add() }
            #expect(counter.value == 10_008)
            counter.restore(to: .max)
            DispatchQueue.concurrentPerform(iterations: 8) { _ in counter.add(5) }
            #expect(counter.value == .max)
            #expect(fixture.samples()["jobs_total"] == "18446744073709551615")
        }

        @Test("additions of short-lived threads add up")
        func shortLived() {
            let counter = fixture.registry.counter("jobs_total", help: "J.")
            for _ in 0..<50 {
                let done = DispatchSemaphore(value: 0)
                for _ in 0..<2 {
                    DispatchQueue(label: "short").async {
                        for _ in 0..<100 { counter.add() }
                        done.signal()
                    }
                }
                done.wait()
                done.wait()
            }
            #expect(counter.value == 10_000)
        }
    }
}
