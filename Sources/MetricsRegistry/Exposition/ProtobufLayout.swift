// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's `io.prometheus.client.MetricFamily` that doesn't change from scrape to scrape: its head,
/// the order of its series, and their labels.
///
/// Fields are written in the order of their numbers. The schema is that of client_model 0.6, with the `unit` of a
/// family, the times at which series began, and the exemplars of native histograms; Prometheus reads these by its
/// prompb/io/prometheus/client/metrics.proto.
final class ProtobufLayout: PageLayout {
    let shape: SampleShape
    let kind: MetricKind
    /// Name, help and type.
    let head: [UInt8]
    /// The unit, which comes behind the series.
    let tail: [UInt8]
    /// The places of the series in the order of creation, by their label values.
    let order: [Int]
    let hiddenWhileZero: Set<Int>
    /// The labels of all series in that order, and where those of each end.
    let labels: [UInt8]
    let ends: [Int]
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

    /// The texts that aren't empty, as fields.
    private static func texts(_ fields: [(tag: UInt8, text: String)]) -> [UInt8] {
        let room = fields.reduce(0) { $0 + $1.text.utf8.count + 1 + ByteCursor.varintRoom }
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(buffer))
            for field in fields where !field.text.isEmpty { cursor.write(tag: field.tag, text: field.text) }
            count = cursor.written
        }
    }
}
