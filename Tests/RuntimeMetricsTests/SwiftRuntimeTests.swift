// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeMetrics

extension OneAtATime {
    @Suite("Swift runtime metrics")
    struct SwiftRuntimeTests {
        @Test("swift_info has the compiler's version as a label")
        func swiftRuntimeVersion() {
            #expect(RuntimePage()("swift_info{version=\"\(SwiftVersion.compiler)\"}") == 1)
        }

        @Test("swift_heap_allocated_bytes shows allocated memory")
        func swiftRuntimeHeap() {
            let before = RuntimePage()("swift_heap_allocated_bytes")
            let blocks = (0..<20_000).map { _ in [UInt8](repeating: 1, count: 1_000) }
            let during = RuntimePage()
            #expect(during("swift_heap_allocated_bytes") - before > 15_000_000)
            #expect(during("swift_heap_mapped_bytes") >= during("swift_heap_allocated_bytes"))
            #expect(during("swift_heap_free_bytes") >= 0)
            #expect(blocks.count == 20_000)
        }

        @Test("swift_task_start_delay_seconds is on the page after the scrape that sampled it", .timeLimit(.minutes(1)))
        func taskDelay() async {
            let page = RuntimePage()
            while page("swift_task_start_delay_seconds_count") == 0 { await Task.yield() }
            #expect(page("swift_task_start_delay_seconds_sum") > 0)
        }
    }
}
