// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@testable import Collector

@Suite("The compressor of pages")
struct PageCompressorTests {
    @Test("never remembers more than it may, and the latest pages rather than others")
    func bounded() throws {
        let page = CompressedPageTests.page(families: 10, lines: 400)
        let one = try CompressedPageTests.compressed(page).bytes
        let compressor = PageCompressor(maximumBytes: one * 2)
        for format in [ExpositionFormat.text004, .text100, .openMetrics, .protobuf, .text004] {
            let member = compressor.compress(page.span, as: format) ?? []
            #expect(try CompressedPageTests.inflated(member) == page)
            #expect(compressor.bytes <= one * 2)
        }
        #expect(compressor.bytes == one * 2)
    }

    @Test("remembers no page that is larger than all it may, and none that is not whole")
    func notRemembered() {
        let page = CompressedPageTests.page(families: 10, lines: 400)
        let small = PageCompressor(maximumBytes: 1_000)
        let first = small.compress(page.span, as: .text004)
        #expect(first != nil)
        #expect(small.bytes == 0)
        let compressor = PageCompressor()
        let second = compressor.compress(page.span, as: nil)
        #expect(second != nil)
        #expect(compressor.bytes == 0)
    }

    @Test("compresses many pages at once, each to itself")
    func atOnce() async throws {
        let compressor = PageCompressor()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let page = CompressedPageTests.page(
                        families: 12,
                        lines: 300,
                        changed: index % 12,
                        value: "\(index)"
                    )
                    let member = compressor.compress(page.span, as: .text004) ?? []
                    return try CompressedPageTests.inflated(member) == page
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
