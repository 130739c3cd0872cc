// SPDX-License-Identifier: Apache-2.0

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
