// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The working memory of a scrape, reused by the next one.
struct ScrapeBuffer: Sendable {
    var scraped = ScrapedState()
    var captures: [FamilyCapture] = []
    var page: [UInt8] = []

    /// Copies the values of the families in `names` (nil: of all), replacing those of an earlier scrape.
    mutating func capture(_ families: [any ExposedFamily], _ format: ExpositionFormat, names: Set<String>?) {
        scraped.removeAll()
        captures.removeAll(keepingCapacity: true)
        for family in families where names?.contains(family.descriptor.name) ?? true {
            captures.append(family.capture(format, into: &scraped))
        }
    }

    /// Replaces `page` with the captured families in `format`.
    func render(_ format: ExpositionFormat, over page: inout [UInt8]) {
        var earlier: [UInt8] = []
        swap(&earlier, &page)
        var writer = PageWriter(reusing: consume earlier)
        scraped.words.withWords { words in
            for capture in captures {
                layout(of: capture, format).render(capture, words, scraped.exemplars, to: &writer)
            }
        }
        writer.write(format.epilogue)
        page = writer.finish()
    }

    private func layout(of capture: FamilyCapture, _ format: ExpositionFormat) -> any PageLayout {
        switch capture.layout {
        case .kept(let layout): return layout
        case .missing(let make):
            let layout = make()
            capture.family.keep(layout, for: format, generation: capture.generation)
            return layout
        }
    }
}

/// The idle scrape buffers.
struct ScrapeBufferPool: ~Copyable {
    /// The number of idle buffers kept; more concurrent scrapes free theirs.
    private static var kept: Int { 4 }

    private let waiting = Mutex<[ScrapeBuffer]>([])

    func borrow<Result>(_ body: (inout ScrapeBuffer) -> Result) -> Result {
        var buffer = waiting.withLock { $0.popLast() } ?? ScrapeBuffer()
        let result = body(&buffer)
        waiting.withLock { waiting in
            if waiting.count < Self.kept { waiting.append(buffer) }
        }
        return result
    }
}

/// One family as a scrape copied it.
struct FamilyCapture: Sendable {
    /// The constant part of the page: kept by an earlier scrape, or built from the series at the time of copying.
    enum Layout: Sendable {
        case kept(any PageLayout)
        case missing(@Sendable () -> any PageLayout)
    }

    let family: any ExposedFamily
    var layout: Layout
    /// The number of removals of series at the time of copying.
    let generation: Int
    /// The words of the values.
    let values: Range<Int>
    /// The words of the creation times; empty if the format has none.
    let created: Range<Int>
    /// The exemplars; empty if the format has none.
    let exemplars: Range<Int>
    /// The words of native histograms: for each series the offset of its `SparseRecord`, then the records; empty if
    /// the format or the family has none.
    let sparse: Range<Int>
    let seriesCount: Int
}

/// What a scrape needs from a family of any instrument.
protocol ExposedFamily: AnyObject, Sendable {
    var descriptor: MetricDescriptor { get }

    /// Appends the state of all series in order of creation.
    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture
    /// Keeps a layout for later scrapes.
    func keep(_ layout: any PageLayout, for format: ExpositionFormat, generation: Int)
}
