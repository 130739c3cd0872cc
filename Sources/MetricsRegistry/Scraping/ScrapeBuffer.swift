// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a scrape works in, kept for the next one.
struct ScrapeBuffer: Sendable {
    var scraped = ScrapedState()
    var captures: [FamilyCapture] = []
    var page: [UInt8] = []

    /// Copies the values of the families that `names` holds (nil: of all), in place of an earlier scrape's.
    mutating func capture(_ families: [any ExposedFamily], _ format: ExpositionFormat, names: Set<String>?) {
        scraped.removeAll()
        captures.removeAll(keepingCapacity: true)
        for family in families where names?.contains(family.descriptor.name) ?? true {
            captures.append(family.capture(format, into: &scraped))
        }
    }

    /// Replaces `page` by the captured families in `format`.
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

/// The buffers that wait for a scrape.
struct ScrapeBuffers: ~Copyable {
    /// Buffers that are kept; what more scrapes at once need is given back to the system.
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
    /// Where what doesn't change comes from: an earlier scrape, or the series as they were at the time of copying.
    enum Layout: Sendable {
        case kept(any PageLayout)
        case missing(@Sendable () -> any PageLayout)
    }

    let family: any ExposedFamily
    var layout: Layout
    /// How often series had been removed at the time of copying.
    let generation: Int
    /// The words of the values.
    let values: Range<Int>
    /// The words of the times at which the series began; empty where the format doesn't tell.
    let created: Range<Int>
    /// The exemplars; none where the format has none.
    let exemplars: Range<Int>
    /// The words of native histograms: for each series the place of its `SparseRecord` within them, then the records;
    /// empty where the format or the family has none.
    let sparse: Range<Int>
    let seriesCount: Int
}

/// What a scrape needs of a family, whatever its instruments.
protocol ExposedFamily: AnyObject, Sendable {
    var descriptor: MetricDescriptor { get }

    /// Appends the state of all series, in the order of their creation.
    func capture(_ format: ExpositionFormat, into scraped: inout ScrapedState) -> FamilyCapture
    /// Keeps a layout for later scrapes.
    func keep(_ layout: any PageLayout, for format: ExpositionFormat, generation: Int)
}
