// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeMetrics

@Suite("The runtime's metrics", .serialized)
struct SwiftRuntimeTests {
    @Test("the compiler's version is a label")
    func version() {
        #expect(RuntimePage()("swift_info{version=\"\(SwiftVersion.compiler)\"}") == 1)
    }

    @Test("heap that is taken shows, and is given back")
    func heap() {
        let before = RuntimePage()("swift_heap_allocated_bytes")
        let blocks = (0..<20_000).map { _ in [UInt8](repeating: 1, count: 1_000) }
        let during = RuntimePage()
        #expect(during("swift_heap_allocated_bytes") - before > 15_000_000)
        #expect(during("swift_heap_mapped_bytes") >= during("swift_heap_allocated_bytes"))
        #expect(during("swift_heap_free_bytes") >= 0)
        #expect(blocks.count == 20_000)
    }

    @Test("a task's way to a thread is on the page after the scrape that sent it", .timeLimit(.minutes(1)))
    func taskDelay() async {
        let page = RuntimePage()
        while page("swift_task_start_delay_seconds_count") == 0 { await Task.yield() }
        #expect(page("swift_task_start_delay_seconds_sum") > 0)
    }
}
