// SPDX-License-Identifier: Apache-2.0

extension TextLayout {
    /// Writes all series as OpenMetrics: like the other texts, with exemplars and the times at which series began, and
    /// without what the format forbids.
    func render(
        _ rules: OpenMetricsRules,
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    ) {
        let values = words.extracting(capture.values)
        let created = words.extracting(capture.created)
        let shown = capture.exemplars.prefix(rules.hasExemplars ? .max : 0)
        exemplars.withExemplars(shown) { exemplars in
            unsafe prefixes.withUnsafeBytes { prefixes in
                for first in stride(from: 0, to: order.count, by: Self.chunk) {
                    let chunk = first..<min(first + Self.chunk, order.count)
                    page.withRoom(room(for: chunk, exemplars)) { cursor in
                        for index in chunk {
                            unsafe write(index, rules, values, created, exemplars, prefixes, to: &cursor)
                        }
                    }
                }
            }
        }
    }

    /// Bytes that these series take at most.
    private func room(for chunk: Range<Int>, _ exemplars: Span<ScrapedExemplar>) -> Int {
        let lines = chunk.lowerBound * linesPerSeries..<chunk.upperBound * linesPerSeries
        var room = ends[lines.upperBound - 1] - start(ofLine: lines.lowerBound)
        room += lines.count * ByteCursor.numberRoom
        if !exemplars.isEmpty {
            for index in chunk {
                for place in exemplars.places(ofSeries: order[index].place) { room += exemplars[place].exemplar.room }
            }
        }
        return room
    }

    @inline(__always)
    private func write(
        _ index: Int,
        _ rules: OpenMetricsRules,
        _ values: Span<UInt64>,
        _ created: Span<UInt64>,
        _ exemplars: Span<ScrapedExemplar>,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let series = order[index]
        let line = index * linesPerSeries
        switch shape {
        case .wholeNumber:
            let value = values[series.place]
            if series.isHiddenWhileZero && value == 0 { return }
            unsafe cursor.write(prefix(line, prefixes))
            cursor.write(decimal: value)
            writeEnd(of: series, exemplars, to: &cursor)
        case .floatingPoint:
            let value = Double(bitPattern: values[series.place])
            if series.isHiddenWhileZero && value == 0 || !rules.allows(value) { return }
            unsafe cursor.write(prefix(line, prefixes))
            cursor.write(double: value)
            writeEnd(of: series, exemplars, to: &cursor)
        case .histogram(let bounds):
            unsafe write(line, series.place, bounds, rules, values, exemplars, prefixes, to: &cursor)
        }
        if rules.tellsCreated {
            unsafe write(created: Int64(bitPattern: created[series.place]), of: series, line, prefixes, to: &cursor)
        }
    }

    /// Writes the exemplar of a counter, if it has one, and ends the line.
    @inline(__always)
    private func writeEnd(of series: Line, _ exemplars: Span<ScrapedExemplar>, to cursor: inout ByteCursor) {
        if let place = exemplars.places(ofSeries: series.place).first {
            cursor.write(exemplars[place].exemplar)
        }
        cursor.write(UInt8(ascii: "\n"))
    }

    /// Writes the cumulative buckets with their exemplars, and the sum and count where they are allowed.
    private func write(
        _ firstLine: Int,
        _ series: Int,
        _ bounds: HistogramBounds,
        _ rules: OpenMetricsRules,
        _ values: Span<UInt64>,
        _ exemplars: Span<ScrapedExemplar>,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let firstWord = series * shape.wordsPerSeries
        let buckets = bounds.count + 1
        var waiting = exemplars.places(ofSeries: series)
        var count: UInt64 = 0
        for bucket in 0..<buckets {
            count = count.addingUpToMaximum(values[firstWord + bucket])
            unsafe cursor.write(prefix(firstLine + bucket, prefixes))
            cursor.write(decimal: count)
            if let next = waiting.first, exemplars[next].place == bucket {
                cursor.write(exemplars[next].exemplar)
                waiting.removeFirst()
            }
            cursor.write(UInt8(ascii: "\n"))
        }
        let sum = Double(bitPattern: values[firstWord + buckets])
        guard rules.allowsSum(sum, bounds) else { return }
        unsafe cursor.write(prefix(firstLine + buckets, prefixes))
        cursor.write(double: sum)
        cursor.write(UInt8(ascii: "\n"))
        unsafe cursor.write(prefix(firstLine + buckets + 1, prefixes))
        cursor.write(decimal: count)
        cursor.write(UInt8(ascii: "\n"))
    }

    /// Writes when a series began, unless that isn't known: mostly what the layout holds already.
    @inline(__always)
    private func write(
        created: Int64,
        of series: Line,
        _ firstLine: Int,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        if created <= 0 { return }
        let line = firstLine + linesPerSeries - 2
        unsafe cursor.write(prefix(line, prefixes))
        if created == series.created {
            unsafe cursor.write(prefix(line + 1, prefixes))
        } else {
            cursor.write(seconds: created)
            cursor.write(UInt8(ascii: "\n"))
        }
    }
}
