// SPDX-License-Identifier: Apache-2.0

/// The `Histogram` message of one series: its fixed buckets, its native buckets, or both.
///
/// The count is that of the native buckets if there are any, otherwise that of the others. Beside native buckets, the
/// others may be some observations behind: these count in the +Inf bucket then, and in their own at the next scrape.
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

    /// The maximum bytes of the message, besides exemplars.
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

/// The fields that make a `Histogram` message a native one.
///
/// The populated buckets of a side are spans of consecutive buckets with the difference of each count from the
/// previous one. A gap of one or two buckets is bridged by empty ones, as in client_golang, since another span would
/// take more bytes.
struct SparseFields {
    private static var bridgedGap: Int { 2 }

    private let record: SparseRecord

    init(_ record: SparseRecord) {
        self.record = record
    }

    /// The maximum bytes of the fields: a bucket with those that bridge the gap before it, or with a span.
    var room: Int {
        let buckets = (record.negative.count + record.positive.count) / 2
        let each = (1 + Self.bridgedGap) * (1 + ByteCursor.varintRoom) + 4 + 2 * ByteCursor.varintRoom
        return buckets * each + 4 * (1 + ByteCursor.varintRoom)
    }

    func write(_ words: Span<UInt64>, to message: inout ByteCursor) {
        message.write(0x28)
        message.write(zigzag: Int64(record.schema))
        message.write(tag: 0x31, fixed: record.zeroThreshold.bitPattern)
        message.write(tag: 0x38, varint: record.zeroCount)
        write(record.negative, words, spanTag: 0x4A, deltaTag: 0x50, to: &message)
        write(record.positive, words, spanTag: 0x62, deltaTag: 0x68, to: &message)
        if isUnrecognisable { Self.writeSpan(tag: 0x62, offset: 0, length: 0, to: &message) }
    }

    /// Whether a reader would take this for a classic histogram; an empty span marks it as native.
    private var isUnrecognisable: Bool {
        record.negative.isEmpty && record.positive.isEmpty && record.zeroThreshold == 0 && record.zeroCount == 0
    }

    private func write(
        _ run: Range<Int>,
        _ words: Span<UInt64>,
        spanTag: UInt8,
        deltaTag: UInt8,
        to message: inout ByteCursor
    ) {
        if run.isEmpty { return }
        var (offset, length, next) = (key(words, run.lowerBound), 0, key(words, run.lowerBound))
        for place in stride(from: run.lowerBound, to: run.upperBound, by: 2) {
            let gap = key(words, place) - next
            if gap > Self.bridgedGap {
                Self.writeSpan(tag: spanTag, offset: offset, length: length, to: &message)
                (offset, length) = (gap, 1)
            } else {
                length += gap + 1
            }
            next = key(words, place) + 1
        }
        Self.writeSpan(tag: spanTag, offset: offset, length: length, to: &message)
        writeDeltas(run, words, tag: deltaTag, to: &message)
    }

    private func writeDeltas(_ run: Range<Int>, _ words: Span<UInt64>, tag: UInt8, to message: inout ByteCursor) {
        var (last, next) = (UInt64(0), key(words, run.lowerBound))
        for place in stride(from: run.lowerBound, to: run.upperBound, by: 2) {
            let gap = key(words, place) - next
            if gap <= Self.bridgedGap {
                for _ in 0..<gap {
                    Self.writeDelta(tag: tag, from: last, to: 0, &message)
                    last = 0
                }
            }
            Self.writeDelta(tag: tag, from: last, to: words[place + 1], &message)
            last = words[place + 1]
            next = key(words, place) + 1
        }
    }

    private func key(_ words: Span<UInt64>, _ place: Int) -> Int {
        Int(Int64(bitPattern: words[place]))
    }

    private static func writeSpan(tag: UInt8, offset: Int, length: Int, to message: inout ByteCursor) {
        message.write(tag: tag) { span in
            span.write(0x08)
            span.write(zigzag: Int64(offset))
            span.write(tag: 0x10, varint: UInt64(length))
        }
    }

    private static func writeDelta(tag: UInt8, from last: UInt64, to count: UInt64, _ message: inout ByteCursor) {
        message.write(tag)
        message.write(zigzag: Int64(bitPattern: count &- last))
    }
}
