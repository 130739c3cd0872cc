// SPDX-License-Identifier: Apache-2.0

extension TextLayout {
    /// Series that are written between two looks at the room left.
    static var chunk: Int { 64 }

    func render(
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    ) {
        if seriesCount == 0 { return }
        page.write(header)
        if let openMetrics {
            render(openMetrics, capture, words, exemplars, to: &page)
            return
        }
        let words = words.extracting(capture.values)
        unsafe prefixes.withUnsafeBytes { prefixes in
            let lines = linesPerSeries
            for first in stride(from: 0, to: order.count, by: Self.chunk) {
                let chunk = first..<min(first + Self.chunk, order.count)
                let bytes = start(ofLine: chunk.lowerBound * lines)..<ends[chunk.upperBound * lines - 1]
                page.withRoom(bytes.count + chunk.count * lines * ByteCursor.numberRoom) { cursor in
                    for index in chunk {
                        unsafe write(index, words, prefixes, to: &cursor)
                    }
                }
            }
        }
    }

    @inline(__always)
    func start(ofLine line: Int) -> Int {
        line == 0 ? 0 : ends[line - 1]
    }

    @inline(__always)
    private func write(
        _ index: Int,
        _ words: Span<UInt64>,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let line = order[index]
        switch shape {
        case .wholeNumber:
            let value = words[line.place]
            if line.isHiddenWhileZero && value == 0 { return }
            unsafe cursor.write(prefix(index, prefixes))
            cursor.write(decimal: value)
            cursor.write(UInt8(ascii: "\n"))
        case .floatingPoint:
            let value = Double(bitPattern: words[line.place])
            if line.isHiddenWhileZero && value == 0 { return }
            unsafe cursor.write(prefix(index, prefixes))
            cursor.write(double: value)
            cursor.write(UInt8(ascii: "\n"))
        case .histogram(let bounds):
            unsafe write(index, bounds, words, prefixes, to: &cursor)
        }
    }

    /// Writes the cumulative buckets, the sum and the count, which is what the last bucket says.
    private func write(
        _ index: Int,
        _ bounds: HistogramBounds,
        _ words: Span<UInt64>,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let firstWord = order[index].place * shape.wordsPerSeries
        let buckets = bounds.count + 1
        var line = index * linesPerSeries
        var count: UInt64 = 0
        for bucket in 0..<buckets {
            count = count.addingUpToMaximum(words[firstWord + bucket])
            unsafe cursor.write(prefix(line, prefixes))
            cursor.write(decimal: count)
            cursor.write(UInt8(ascii: "\n"))
            line += 1
        }
        unsafe cursor.write(prefix(line, prefixes))
        cursor.write(double: Double(bitPattern: words[firstWord + buckets]))
        cursor.write(UInt8(ascii: "\n"))
        unsafe cursor.write(prefix(line + 1, prefixes))
        cursor.write(decimal: count)
        cursor.write(UInt8(ascii: "\n"))
    }

    @inline(__always)
    func prefix(_ line: Int, _ prefixes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: prefixes[start(ofLine: line)..<ends[line]])
    }
}
