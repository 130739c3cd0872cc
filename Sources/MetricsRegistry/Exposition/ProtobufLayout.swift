// SPDX-License-Identifier: Apache-2.0

/// The constant part of a family's `io.prometheus.client.MetricFamily`: its head, the order of its series, and their
/// labels.
///
/// Fields are written in the order of their numbers. The schema is that of client_model 0.6, with the `unit` of a
/// family, creation times, and the exemplars of native histograms; Prometheus reads these by its
/// prompb/io/prometheus/client/metrics.proto.
final class ProtobufLayout: PageLayout {
    private let shape: SampleShape
    private let kind: MetricKind
    /// Name, help and type.
    private let head: [UInt8]
    /// The unit, which follows the series.
    private let tail: [UInt8]
    /// The indices of the series in order of creation, sorted by label values.
    private let order: [Int]
    private let hiddenWhileZero: Set<Int>
    /// The labels of all series in that order, and the end of each.
    private let labels: [UInt8]
    private let ends: [Int]
    let seriesCount: Int
    let hasClassicNames: Bool

    /// `labelValues` are those of each series in the order of creation.
    init(
        _ descriptor: MetricDescriptor,
        _ format: ExpositionFormat,
        shape: SampleShape,
        labelValues: [[String]],
        hiddenUntilUsed: Set<Int>
    ) {
        self.shape = shape
        kind = descriptor.kind
        head = Self.head(descriptor, name: format.escaping.escape(descriptor.name))
        tail = Self.texts([(0x2A, descriptor.unit ?? "")])
        let shown = ShownSeries.all(descriptor, format.escaping, labelValues: labelValues)
        order = shown.map(\.place)
        hiddenWhileZero = hiddenUntilUsed
        var labels: [UInt8] = []
        ends = shown.map { series in
            labels.append(contentsOf: ProtobufLabels.bytes(series.labels))
            return labels.count
        }
        self.labels = labels
        seriesCount = labelValues.count
        hasClassicNames = descriptor.hasClassicNames(labelValues)
    }

    private static func head(_ descriptor: MetricDescriptor, name: String) -> [UInt8] {
        let type: UInt8 =
            switch descriptor.kind {
            case .counter: 0
            case .gauge: 1
            case .histogram: 4
            }
        return texts([(0x0A, name), (0x12, descriptor.help)]) + [0x18, type]
    }

    /// The non-empty texts, as fields.
    private static func texts(_ fields: [(tag: UInt8, text: String)]) -> [UInt8] {
        let room = fields.reduce(0) { $0 + $1.text.utf8.count + 1 + ByteCursor.varintRoom }
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(buffer))
            for field in fields where !field.text.isEmpty { cursor.write(tag: field.tag, text: field.text) }
            count = cursor.written
        }
    }
}

extension ProtobufLayout {
    /// The number of series written between two checks of the room left.
    private static var chunk: Int { 64 }
    /// The maximum bytes of a series without histogram and exemplars, besides its labels.
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

    /// The bits of a double with NaN normalised: Prometheus would take some NaN patterns for the end of the series.
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

/// The part of a scrape that belongs to one family.
struct ProtobufScrape {
    let values: Range<Int>
    let created: Range<Int>
    let sparse: Range<Int>
    private let exemplars: ScrapedExemplars
    private let range: Range<Int>

    init(_ capture: FamilyCapture, _ exemplars: borrowing ScrapedExemplars) {
        values = capture.values
        created = capture.created
        sparse = capture.sparse
        range = capture.exemplars
        self.exemplars = copy exemplars
    }

    var hasExemplars: Bool { !range.isEmpty }

    subscript(exemplar: Int) -> ScrapedExemplar { exemplars[exemplar] }

    @inline(__always)
    func exemplars(ofSeries place: Int) -> Range<Int> {
        range.isEmpty ? range : exemplars.range(ofSeries: place, in: range)
    }

    /// The maximum bytes of the exemplars of a series.
    func room(ofSeries place: Int) -> Int {
        exemplars(ofSeries: place).reduce(0) { $0 + exemplars[$1].exemplar.messageRoom }
    }
}
