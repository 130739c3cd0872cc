// SPDX-License-Identifier: Apache-2.0

/// What a scrape works in, kept for the next one.
struct ScrapeBuffer: Sendable {
    /// One family as a scrape copied it.
    struct Capture: Sendable {
        let family: any ExposedFamily
        /// Where the family's values begin in `words`.
        let firstWord: Int
        /// The series that existed at the time of copying.
        let seriesCount: Int
    }

    var words = ScrapedWords()
    var captures: [Capture] = []
    var page: [UInt8] = []

    /// Copies the values of the families that `names` holds (nil: of all), in place of an earlier scrape's.
    mutating func capture(_ families: [any ExposedFamily], names: Set<String>?) {
        words.removeAll()
        captures.removeAll(keepingCapacity: true)
        for family in families where names?.contains(family.descriptor.name) ?? true {
            let firstWord = words.count
            let seriesCount = family.copy(into: &words)
            captures.append(Capture(family: family, firstWord: firstWord, seriesCount: seriesCount))
        }
    }

    /// Replaces `page` by the captured families as Prometheus text 0.0.4.
    func renderText(over page: inout [UInt8]) {
        var earlier: [UInt8] = []
        swap(&earlier, &page)
        var writer = PageWriter(reusing: consume earlier)
        for capture in captures {
            let layout = capture.family.textLayout(covering: capture.seriesCount)
            words.withWords(from: capture.firstWord) { words in
                layout.render(words, seriesCount: capture.seriesCount, to: &writer)
            }
        }
        page = writer.finish()
    }
}
