// SPDX-License-Identifier: Apache-2.0

/// The `Histogram` message of one series: its buckets of fixed bounds, its native buckets, or both.
///
/// The count is that of the native buckets where there are some, else that of the others. Beside native buckets, the
/// others may be some observations behind: those are counted in the bucket of +Inf then, and are in their own with the
/// next scrape.
struct ProtobufHistogram {
    private let bounds: HistogramBounds
    private let scrape: ProtobufScrape
    private let series: Int
    private let firstWord: Int

    init(_ scrape: ProtobufScrape, _ bounds: HistogramBounds, series: Int) {
        self.bounds = bounds
        self.scrape = scrape
        self.series = series
        firstWord = scrape.values.lowerBound + series * (bounds.count + 2)
    }

    /// Bytes that the message takes at most, besides exemplars.
    func room(_ words: Span<UInt64>) -> Int {
        let fixed = 10 * (1 + ByteCursor.varintRoom) + ByteCursor.timestampRoom
        let native = record(words).map { SparseFields($0).room } ?? 0
        return fixed + (bounds.count + 1) * (2 * (1 + ByteCursor.varintRoom) + 9) + native
    }

    func write(_ words: Span<UInt64>, to cursor: inout ByteCursor) {
        let record = record(words)
        let count = record?.count ?? buckets(words)
        cursor.write(tag: 0x3A) { message in
            message.write(tag: 0x08, varint: count)
            message.write(tag: 0x11, fixed: words[firstWord + bounds.count + 1])
            if !bounds.isNativeOnly { writeBuckets(words, count, to: &message) }
            if let record { SparseFields(record).write(words, to: &message) }
            message.write(tag: 0x7A, created: words.extracting(scrape.created), ofSeries: series)
            if record != nil { writeRecentExemplars(to: &message) }
        }
    }

    private func record(_ words: Span<UInt64>) -> SparseRecord? {
        if scrape.sparse.isEmpty { return nil }
        let start = scrape.sparse.lowerBound
        return SparseRecord(words, at: start + Int(truncatingIfNeeded: words[start + series]))
    }

    private func buckets(_ words: Span<UInt64>) -> UInt64 {
        var count: UInt64 = 0
        for bucket in 0...bounds.count { count = count.addingUpToMaximum(words[firstWord + bucket]) }
        return count
    }

    private func writeBuckets(_ words: Span<UInt64>, _ count: UInt64, to message: inout ByteCursor) {
        var exemplars = scrape.exemplars(ofSeries: series)
        var below: UInt64 = 0
        for place in 0...bounds.count {
            below = below.addingUpToMaximum(words[firstWord + place])
            let isLast = place == bounds.count
            message.write(tag: 0x1A) { bucket in
                bucket.write(tag: 0x08, varint: isLast ? count : min(below, count))
                bucket.write(tag: 0x11, fixed: (isLast ? .infinity : bounds.values[place]).bitPattern)
                if let next = exemplars.first, scrape[next].place == place {
                    bucket.write(tag: 0x1A, scrape[next].exemplar)
                    exemplars.removeFirst()
                }
            }
        }
    }

    private func writeRecentExemplars(to message: inout ByteCursor) {
        for exemplar in scrape.exemplars(ofSeries: series) where scrape[exemplar].place == ScrapedExemplar.recent {
            // Field 16 is the first whose tag takes two bytes.
            message.write(0x82)
            message.write(tag: 0x01, scrape[exemplar].exemplar)
        }
    }
}
