// SPDX-License-Identifier: Apache-2.0

extension TextLayout {
    /// What an OpenMetrics page shows of one scrape.
    private struct Scrape {
        let rules: OpenMetricsRules
        let exemplars: ScrapedExemplars
        /// Where the family's exemplars are.
        let range: Range<Int>

        @inline(__always)
        func exemplars(ofSeries place: Int) -> Range<Int> {
            range.isEmpty ? range : exemplars.range(ofSeries: place, in: range)
        }

        func room(forSeries place: Int) -> Int {
            exemplars(ofSeries: place).reduce(0) { $0 + exemplars[$1].exemplar.room }
        }
    }

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
        let scrape = Scrape(rules: rules, exemplars: copy exemplars, range: capture.exemplars)
        unsafe prefixes.withUnsafeBytes { prefixes in
            for first in stride(from: 0, to: order.count, by: Self.chunk) {
                let chunk = first..<min(first + Self.chunk, order.count)
                let lines = chunk.lowerBound * linesPerSeries..<chunk.upperBound * linesPerSeries
                var room = ends[lines.upperBound - 1] - start(ofLine: lines.lowerBound)
                room += lines.count * ByteCursor.numberRoom
                if !scrape.range.isEmpty {
                    for index in chunk { room += scrape.room(forSeries: order[index].place) }
                }
                page.withRoom(room) { cursor in
                    for index in chunk {
                        unsafe write(index, scrape, values, created, prefixes, to: &cursor)
                    }
                }
            }
        }
    }

    @inline(__always)
    private func write(
        _ index: Int,
        _ scrape: Scrape,
        _ values: Span<UInt64>,
        _ created: Span<UInt64>,
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
            writeEnd(of: series, scrape, to: &cursor)
        case .floatingPoint:
            let value = Double(bitPattern: values[series.place])
            if series.isHiddenWhileZero && value == 0 || !scrape.rules.allows(value) { return }
            unsafe cursor.write(prefix(line, prefixes))
            cursor.write(double: value)
            writeEnd(of: series, scrape, to: &cursor)
        case .histogram(let bounds):
            unsafe write(line, series.place, bounds, scrape, values, prefixes, to: &cursor)
        }
        if scrape.rules.tellsCreated {
            unsafe write(created: Int64(bitPattern: created[series.place]), line, prefixes, to: &cursor)
        }
    }

    /// Writes the exemplar of a counter, if it has one, and ends the line.
    @inline(__always)
    private func writeEnd(of series: Line, _ scrape: Scrape, to cursor: inout ByteCursor) {
        if let exemplar = scrape.exemplars(ofSeries: series.place).first {
            cursor.write(scrape.exemplars[exemplar].exemplar)
        }
        cursor.write(UInt8(ascii: "\n"))
    }

    /// Writes the cumulative buckets with their exemplars, and the sum and count where they are allowed.
    private func write(
        _ firstLine: Int,
        _ place: Int,
        _ bounds: HistogramBounds,
        _ scrape: Scrape,
        _ values: Span<UInt64>,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let firstWord = place * shape.wordsPerSeries
        let buckets = bounds.count + 1
        var exemplars = scrape.exemplars(ofSeries: place)
        var count: UInt64 = 0
        for bucket in 0..<buckets {
            count = count.addingUpToMaximum(values[firstWord + bucket])
            unsafe cursor.write(prefix(firstLine + bucket, prefixes))
            cursor.write(decimal: count)
            if let next = exemplars.first, scrape.exemplars[next].place == bucket {
                cursor.write(scrape.exemplars[next].exemplar)
                exemplars.removeFirst()
            }
            cursor.write(UInt8(ascii: "\n"))
        }
        let sum = Double(bitPattern: values[firstWord + buckets])
        guard scrape.rules.allowsSum(sum, bounds) else { return }
        unsafe cursor.write(prefix(firstLine + buckets, prefixes))
        cursor.write(double: sum)
        cursor.write(UInt8(ascii: "\n"))
        unsafe cursor.write(prefix(firstLine + buckets + 1, prefixes))
        cursor.write(decimal: count)
        cursor.write(UInt8(ascii: "\n"))
    }

    /// Writes when a series began, unless that isn't known.
    @inline(__always)
    private func write(
        created: Int64,
        _ firstLine: Int,
        _ prefixes: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        if created <= 0 { return }
        unsafe cursor.write(prefix(firstLine + linesPerSeries - 1, prefixes))
        cursor.write(seconds: created)
        cursor.write(UInt8(ascii: "\n"))
    }
}
