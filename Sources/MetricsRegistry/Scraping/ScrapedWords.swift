// SPDX-License-Identifier: Apache-2.0

/// The values of a scrape, written over those of an earlier one; the array grows only where there are more.
struct ScrapedWords: Sendable {
    private var words: ContiguousArray<UInt64> = []
    private(set) var count = 0

    mutating func removeAll() {
        count = 0
    }

    /// Lets `body` fill `length` more words, which begin at the place that it is told, and returns where they are.
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

    /// Lets `body` fill up to `room` more words, whose places it is told; it returns where what it filled ends.
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
