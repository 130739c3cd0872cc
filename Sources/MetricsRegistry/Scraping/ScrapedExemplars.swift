// SPDX-License-Identifier: Apache-2.0

/// An exemplar as a scrape copied it.
struct ScrapedExemplar: Sendable {
    /// The place of the latest ones of a histogram's sparse buckets, which belong to no bucket of fixed bounds.
    static var recent: Int { .max }

    let exemplar: Exemplar
    /// The series' place in the order of creation within its family.
    let series: Int
    /// 0 for a counter, the bucket for a histogram, `recent` for one of its latest.
    let place: Int

    init(_ exemplar: Exemplar, series: Int, place: Int) {
        self.exemplar = exemplar
        self.series = series
        self.place = place
    }
}

/// The exemplars of a scrape, family by family; within a family in ascending order of series and place.
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

    /// Where the exemplars of the family's `series`-th series lie within `range`, which is that of one family.
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
    /// Where the exemplars of the `series`-th series of the family lie, of which these are all.
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
