// SPDX-License-Identifier: Apache-2.0

import MetricsRegistry
import Testing

@testable import Collector
@testable import Gzip

@Suite("A compressed page")
struct CompressedPageTests {
    /// Families of some lines each, as text.
    static func page(families: Int, lines: Int, changed: Int? = nil, value: String = "2") -> [UInt8] {
        var text = ""
        for family in 0..<families {
            text += "# HELP app_\(family)_total Requests.\n# TYPE app_\(family)_total counter\n"
            for line in 0..<lines {
                let shown = family == changed && line == lines / 2 ? value : "1"
                text += "app_\(family)_total{route=\"/v1/route/\(line)\"} \(shown)\n"
            }
        }
        return Array(text.utf8)
    }

    static func compressed(_ page: [UInt8], after earlier: CompressedPage = .init()) throws -> CompressedPage {
        let deflater = try #require(PageDeflater())
        let compressed = CompressedPage(page.span, after: earlier, with: deflater)
        return try #require(compressed)
    }

    static func inflated(_ member: [UInt8]) throws -> [UInt8] {
        try GzipDecoder.decode(member.span, maximumBytes: 64 << 20, maximumRatio: 2_000)
    }

    /// A page by its name: the bytes themselves would be written out by the test library as arguments.
    enum Page: CaseIterable {
        case empty, oneSample, oneSmallFamily, someFamilies, manyFamilies, oneLargeFamily, zeros, noLines

        var bytes: [UInt8] {
            switch self {
            case .empty: []
            case .oneSample: Array("a 1\n".utf8)
            case .oneSmallFamily: CompressedPageTests.page(families: 1, lines: 2)
            case .someFamilies: CompressedPageTests.page(families: 3, lines: 400)
            case .manyFamilies: CompressedPageTests.page(families: 30, lines: 400)
            case .oneLargeFamily: CompressedPageTests.page(families: 1, lines: 6_000)
            case .zeros: [UInt8](repeating: 0, count: 3 * PageCut.maximumBytes + 1)
            case .noLines: (0..<150_000).map { UInt8(truncatingIfNeeded: $0 * $0) }
            }
        }
    }

    @Test("a compressed page is the page when it is inflated, whatever its size", arguments: Page.allCases)
    func compressedPageRoundTrip(of kind: Page) throws {
        let page = kind.bytes
        let compressed = try Self.compressed(page)
        #expect(try Self.inflated(compressed.member) == page)
        #expect(compressed.chunks.allSatisfy { (1...PageCut.maximumBytes).contains($0.source.count) })
        #expect(compressed.chunks.dropLast().allSatisfy { $0.source.count >= PageCut.minimumBytes })
    }

    @Test("a compressed page takes over every piece of an equal page, and comes to the same bytes")
    func nothingChanged() throws {
        let page = Self.page(families: 30, lines: 400)
        let first = try Self.compressed(page)
        let second = try Self.compressed(page, after: first)
        #expect(first.deflated == first.chunks.count && first.deflated > 10)
        #expect(second.deflated == 0)
        #expect(second.member == first.member)
    }

    @Test(
        "a compressed page deflates one piece anew where one family changed, also when it grew or shrank",
        arguments: [
            "2", "3", "123456789", "", "+Inf",
        ]
    )
    func oneChange(value: String) throws {
        let first = try Self.compressed(Self.page(families: 30, lines: 400, changed: 11))
        let page = Self.page(families: 30, lines: 400, changed: 11, value: value)
        let second = try Self.compressed(page, after: first)
        #expect(second.deflated == (value == "2" ? 0 : 1))
        #expect(try Self.inflated(second.member) == page)
        #expect(second.member == (try Self.compressed(page)).member, "what was before makes no difference")
    }

    @Test("a compressed page finds its pieces again behind a family that came or went")
    func moved() throws {
        let page = Self.page(families: 30, lines: 400)
        let more = Self.page(families: 1, lines: 700) + page
        let first = try Self.compressed(page)
        let second = try Self.compressed(more, after: first)
        #expect(second.deflated <= 2)
        #expect(try Self.inflated(second.member) == more)
        let third = try Self.compressed(page, after: second)
        #expect(third.deflated <= 1)
        #expect(third.member == first.member)
    }

    @Test("a compressed page is cut at the heads of families, and at the ends of lines where a family is large")
    func cuts() {
        let page = Self.page(families: 3, lines: 4_000)
        var start = 0
        while start < page.count {
            let end = PageCut.end(from: start, in: page.span)
            #expect(end > start && end <= page.count)
            #expect(page[end - 1] == UInt8(ascii: "\n"))
            start = end
        }
    }
}

@Suite("The compressor of pages")
struct PageCompressorTests {
    @Test("the page compressor never remembers more than it may, and the latest pages rather than others")
    func pageCompressorBounded() throws {
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

    @Test("the page compressor remembers no page that is larger than all it may, and none that is not whole")
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

    @Test("the page compressor compresses many pages at once, each to itself")
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
