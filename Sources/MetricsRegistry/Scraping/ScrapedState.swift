// SPDX-License-Identifier: Apache-2.0

/// The values of a scrape, family by family; each `FamilyCapture` says which part belongs to its family.
struct ScrapedState: Sendable {
    var words = ScrapedWords()
    var exemplars = ScrapedExemplars()

    mutating func removeAll() {
        words.removeAll()
        exemplars.removeAll()
    }
}

/// The words of a scrape, written over those of an earlier one; the array only grows.
struct ScrapedWords: Sendable {
    private var words: ContiguousArray<UInt64> = []
    private(set) var count = 0

    mutating func removeAll() {
        count = 0
    }

    /// Appends `length` words, which `body` fills from `start` on, and returns their range.
    @discardableResult
    mutating func append(_ length: Int, _ body: (inout MutableSpan<UInt64>, _ start: Int) -> Void) -> Range<Int> {
        let start = count
        let missing = start + length - words.count
        if missing > 0 {
            words.append(contentsOf: repeatElement(0, count: missing))
        }
        var all = words.mutableSpan
        body(&all, start)
        count += length
        return start..<count
    }

    /// Appends up to `room` words; `body` returns the end of what it filled.
    mutating func append(atMost room: Int, _ body: (inout MutableSpan<UInt64>, _ room: Range<Int>) -> Int) {
        var end = count
        append(room) { all, start in end = body(&all, start..<start + room) }
        count = end
    }

    /// Lets `body` read all words.
    func withWords(_ body: (Span<UInt64>) -> Void) {
        body(words.span.extracting(0..<count))
    }
}

/// An exemplar as a scrape copied it.
struct ScrapedExemplar: Sendable {
    /// The `place` of the latest exemplars of native buckets, which belong to no fixed bucket.
    static var recent: Int { .max }

    let exemplar: Exemplar
    /// The index of the series in its family, in order of creation.
    let series: Int
    /// 0 for a counter, the bucket of a histogram, or `recent`.
    let place: Int

    init(_ exemplar: Exemplar, series: Int, place: Int) {
        self.exemplar = exemplar
        self.series = series
        self.place = place
    }
}

/// The exemplars of a scrape, family by family; within a family sorted by series and place.
struct ScrapedExemplars: Sendable {
    private var entries: ContiguousArray<ScrapedExemplar> = []

    var count: Int { entries.count }

    subscript(index: Int) -> ScrapedExemplar { entries[index] }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
    }

    mutating func append(_ entry: ScrapedExemplar) {
        entries.append(entry)
    }

    /// The indices of the exemplars of one series within `range`, which is that of its family.
    func range(ofSeries series: Int, in range: Range<Int>) -> Range<Int> {
        let places = entries.span.extracting(range).places(ofSeries: series)
        return range.lowerBound + places.lowerBound..<range.lowerBound + places.upperBound
    }

    /// Lets `body` read the exemplars in `range`, which is that of one family.
    func withExemplars(_ range: Range<Int>, _ body: (Span<ScrapedExemplar>) -> Void) {
        body(entries.span.extracting(range))
    }
}

extension Span<ScrapedExemplar> {
    /// The indices of the exemplars of one series in the exemplars of its family.
    @inline(__always)
    func places(ofSeries series: Int) -> Range<Int> {
        isEmpty ? 0..<0 : search(series)
    }

    private func search(_ series: Int) -> Range<Int> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].series < series { low = middle + 1 } else { high = middle }
        }
        let start = low
        while low < count, self[low].series == series { low += 1 }
        return start..<low
    }
}
