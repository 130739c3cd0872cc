// SPDX-License-Identifier: Apache-2.0

extension ProtobufLayout {
    /// Series that are written between two looks at the room left.
    private static var chunk: Int { 64 }
    /// Bytes of a series without histogram and exemplars at most, besides its labels.
    private static var seriesRoom: Int { 2 * (1 + ByteCursor.varintRoom) + 9 + ByteCursor.timestampRoom + 8 }

    func render(
        _ capture: FamilyCapture,
        _ words: Span<UInt64>,
        _ exemplars: borrowing ScrapedExemplars,
        to page: inout PageWriter
    ) {
        if order.isEmpty { return }
        let scrape = ProtobufScrape(capture, exemplars)
        let start = page.count
        let lengthBytes = ByteCursor.size(ofVarint: UInt64(head.count + labels.count + order.count * 32))
        page.skip(lengthBytes)
        page.write(head)
        let firstSeries = page.count
        unsafe labels.withUnsafeBytes { labels in
            for first in stride(from: 0, to: order.count, by: Self.chunk) {
                let chunk = first..<min(first + Self.chunk, order.count)
                let room = room(for: chunk, scrape, words)
                page.withRoom(room) { cursor in
                    for index in chunk { unsafe write(index, scrape, words, labels, to: &cursor) }
                }
            }
        }
        if page.count == firstSeries { return page.takeBack(from: start) }
        page.write(tail)
        page.patch(from: start, room: ByteCursor.varintRoom) { $0.writeLength(at: 0, reserved: lengthBytes) }
    }

    private func room(for chunk: Range<Int>, _ scrape: ProtobufScrape, _ words: Span<UInt64>) -> Int {
        var room = ends[chunk.upperBound - 1] - start(ofLabels: chunk.lowerBound) + chunk.count * Self.seriesRoom
        if case .histogram(let bounds) = shape {
            for index in chunk {
                room += ProtobufHistogram(scrape, bounds, series: order[index]).room(words)
            }
        }
        if scrape.hasExemplars {
            for index in chunk { room += scrape.room(ofSeries: order[index]) }
        }
        return room
    }

    /// The bits of a double, of which Prometheus would take some that are not a number for the end of the series.
    @inline(__always)
    private static func bits(_ pattern: UInt64) -> UInt64 {
        Double(bitPattern: pattern).isNaN ? Double.nan.bitPattern : pattern
    }

    @inline(__always)
    private func start(ofLabels index: Int) -> Int {
        index == 0 ? 0 : ends[index - 1]
    }

    @inline(__always)
    private func write(
        _ index: Int,
        _ scrape: ProtobufScrape,
        _ words: Span<UInt64>,
        _ labels: UnsafeRawBufferPointer,
        to cursor: inout ByteCursor
    ) {
        let place = order[index]
        let ownLabels = unsafe UnsafeRawBufferPointer(rebasing: labels[start(ofLabels: index)..<ends[index]])
        let value: UInt64
        switch shape {
        case .wholeNumber: value = Double(words[scrape.values.lowerBound + place]).bitPattern
        case .floatingPoint: value = Self.bits(words[scrape.values.lowerBound + place])
        case .histogram(let bounds):
            return cursor.write(tag: 0x22) { metric in
                unsafe metric.write(ownLabels)
                ProtobufHistogram(scrape, bounds, series: place).write(words, to: &metric)
            }
        }
        if value & ~(1 << 63) == 0, hiddenWhileZero.contains(place) { return }
        cursor.write(tag: 0x22) { metric in
            unsafe metric.write(ownLabels)
            if kind == .gauge {
                metric.write(tag: 0x12) { $0.write(tag: 0x09, fixed: value) }
                return
            }
            metric.write(tag: 0x1A) { counter in
                counter.write(tag: 0x09, fixed: value)
                if let exemplar = scrape.exemplars(ofSeries: place).first {
                    counter.write(tag: 0x12, scrape[exemplar].exemplar)
                }
                counter.write(tag: 0x1A, created: words.extracting(scrape.created), ofSeries: place)
            }
        }
    }
}
