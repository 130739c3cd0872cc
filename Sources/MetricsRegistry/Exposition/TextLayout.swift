// SPDX-License-Identifier: Apache-2.0

/// The constant part of a family in Prometheus text or OpenMetrics: its header, the order of its series, and the bytes
/// before each value.
final class TextLayout: PageLayout {
    /// One series on the page.
    struct Line: Sendable {
        /// The index in order of creation, in which a scrape copies values.
        let place: Int
        /// The creation time in the last line of the series, or 0.
        let created: Int64
        /// Whether the series is omitted while it is zero.
        let isHiddenWhileZero: Bool
    }

    private let shape: SampleShape
    private let header: [UInt8]
    /// The series in the order of their label values.
    let order: [Line]
    /// The text before each value, for all lines of the family.
    private let prefixes: [UInt8]
    /// Where the prefix of each line ends in `prefixes`; a series has `linesPerSeries` of them.
    private let ends: [Int]
    let seriesCount: Int
    let hasClassicNames: Bool
    /// The number of lines of one series; the creation time, which hardly ever changes, counts as a line of its own.
    private let linesPerSeries: Int
    /// The rules of an OpenMetrics page; nil for Prometheus text.
    private let openMetrics: OpenMetricsRules?

    /// `labelValues` and `created` are those of each series in order of creation; `created` is used only by formats
    /// that show it.
    init(
        _ descriptor: MetricDescriptor,
        _ format: ExpositionFormat,
        shape: SampleShape,
        labelValues: [[String]],
        created: [Int64],
        hiddenUntilUsed: Set<Int>
    ) {
        self.shape = shape
        let name = format.escaping.escape(descriptor.name)
        let names = SampleNames(name, kind: descriptor.kind)
        if format.encoding == .openMetrics {
            header = TextHeader.openMetrics(descriptor, names)
            openMetrics = OpenMetricsRules(names, kind: descriptor.kind, format: format)
        } else {
            header = TextHeader.prometheus(descriptor, name: name)
            openMetrics = nil
        }
        let showsCreated = openMetrics?.showsCreated ?? false
        let samples = TextSample.lines(names, name: name, shape: shape, format: format, showsCreated: showsCreated)
        linesPerSeries = samples.count + (showsCreated ? 1 : 0)
        let shown = ShownSeries.all(descriptor, format.escaping, labelValues: labelValues)
        order = shown.map { series in
            Line(
                place: series.place,
                created: showsCreated ? created[series.place] : 0,
                isHiddenWhileZero: hiddenUntilUsed.contains(series.place)
            )
        }
        seriesCount = labelValues.count
        hasClassicNames = descriptor.hasClassicNames(labelValues)
        var prefixes: [UInt8] = []
        var ends: [Int] = []
        for series in shown {
            let labels = TextSample.labels(series.labels)
            for sample in samples {
                sample.append(labels: labels, to: &prefixes)
                ends.append(prefixes.count)
            }
            if showsCreated {
                prefixes.append(contentsOf: Self.seconds(created[series.place]))
                ends.append(prefixes.count)
            }
        }
        self.prefixes = prefixes
        self.ends = ends
    }

    private static func seconds(_ microseconds: Int64) -> [UInt8] {
        var page = PageWriter(reusing: [])
        page.withRoom(ByteCursor.numberRoom) { cursor in
            cursor.write(seconds: microseconds)
            cursor.write(UInt8(ascii: "\n"))
        }
        return page.finish()
    }
}

extension TextLayout {
    /// The number of series written between two checks of the room left.
    private static var chunk: Int { 64 }

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
    private func start(ofLine line: Int) -> Int {
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

    /// Writes the cumulative buckets, the sum, and the count, which equals the last bucket.
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
    private func prefix(_ line: Int, _ prefixes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: prefixes[start(ofLine: line)..<ends[line]])
    }
}

extension TextLayout {
    /// Writes all series as OpenMetrics: like Prometheus text, with exemplars and creation times, and without what the
    /// format forbids.
    private func render(
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
        if rules.showsCreated {
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

    /// Writes the creation time of a series, if it is known; usually the layout already holds its text.
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

/// What the type of a family and the options of a page require of its lines in OpenMetrics 1.0.
private struct OpenMetricsRules: Sendable {
    let kind: MetricKind
    /// Whether each series ends with a `_created` line.
    let showsCreated: Bool
    /// Whether samples may have exemplars: not those of a family whose type is `unknown`.
    let hasExemplars: Bool

    init(_ names: SampleNames, kind: MetricKind, format: ExpositionFormat) {
        self.kind = kind
        hasExemplars = !names.isUnknown
        showsCreated = format.showsCreated && kind != .gauge && !names.isUnknown
    }

    /// Whether a sample may have this value: a counter's is neither negative nor NaN.
    func allows(_ value: Double) -> Bool {
        kind == .gauge || value >= 0
    }

    /// Whether a histogram may have a sum, and with it a count: not if a bucket is for negative values or the sum is
    /// negative, since a sum must not fall.
    func allowsSum(_ sum: Double, _ bounds: HistogramBounds) -> Bool {
        sum >= 0 && (bounds.values.first ?? 0) >= 0
    }
}
