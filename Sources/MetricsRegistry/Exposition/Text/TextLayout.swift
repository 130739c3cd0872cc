// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's Prometheus text that doesn't change from scrape to scrape: its header, the order of its
/// series, and the bytes in front of each value.
final class TextLayout: PageLayout {
    /// One series' place on the page.
    struct Line: Sendable {
        /// The place in the order of creation, in which a scrape copies values.
        let place: Int
        /// Whether the series is left out while it is zero.
        let isHiddenWhileZero: Bool
    }

    let shape: SampleShape
    let header: [UInt8]
    /// The series in the order of their label values.
    let order: [Line]
    /// What stands in front of the values, for all lines of the family one after another.
    let prefixes: [UInt8]
    /// Where the prefix of each line ends in `prefixes`; a series has `linesPerSeries` of them.
    let ends: [Int]

    /// `labelValues` are those of each series in the order of creation.
    init(_ descriptor: MetricDescriptor, shape: SampleShape, labelValues: [[String]], hiddenUntilUsed: Set<Int>) {
        self.shape = shape
        header = Self.header(descriptor)
        let places = labelValues.indices.sorted { left, right in
            Self.precedes(labelValues[left], labelValues[right])
        }
        order = places.map { Line(place: $0, isHiddenWhileZero: hiddenUntilUsed.contains($0)) }
        var prefixes: [UInt8] = []
        var ends: [Int] = []
        let samples = Self.samples(descriptor.name, shape: shape)
        for place in places {
            let labels = Self.labels(descriptor.labels(labelValues[place]))
            for sample in samples {
                prefixes.append(contentsOf: sample.name.utf8)
                Self.append(labels, sample.bound, to: &prefixes)
                prefixes.append(UInt8(ascii: " "))
                ends.append(prefixes.count)
            }
        }
        self.prefixes = prefixes
        self.ends = ends
    }

    var seriesCount: Int { order.count }

    /// The number of lines that one series takes.
    var linesPerSeries: Int {
        switch shape {
        case .wholeNumber, .floatingPoint: 1
        case .histogram(let bounds): bounds.count + 3
        }
    }

    private struct Sample {
        var name: String
        var bound: String?
    }

    private static func samples(_ name: String, shape: SampleShape) -> [Sample] {
        guard case .histogram(let bounds) = shape else { return [Sample(name: name)] }
        let finite = bounds.values.map { Sample(name: name + "_bucket", bound: BucketBound.text($0)) }
        return finite + [
            Sample(name: name + "_bucket", bound: BucketBound.text(.infinity)),
            Sample(name: name + "_sum"),
            Sample(name: name + "_count"),
        ]
    }

    private static func header(_ descriptor: MetricDescriptor) -> [UInt8] {
        var header: [UInt8] = []
        if !descriptor.help.isEmpty {
            header.append(contentsOf: "# HELP \(descriptor.name) ".utf8)
            TextEscaping.append(help: descriptor.help, to: &header)
            header.append(UInt8(ascii: "\n"))
        }
        header.append(contentsOf: "# TYPE \(descriptor.name) \(descriptor.kind.rawValue)\n".utf8)
        return header
    }

    private static func labels(_ pairs: [(name: String, value: String)]) -> [UInt8] {
        var labels: [UInt8] = []
        for (name, value) in pairs {
            if !labels.isEmpty { labels.append(UInt8(ascii: ",")) }
            labels.append(contentsOf: name.utf8)
            labels.append(contentsOf: "=\"".utf8)
            TextEscaping.append(labelValue: value, to: &labels)
            labels.append(UInt8(ascii: "\""))
        }
        return labels
    }

    private static func append(_ labels: [UInt8], _ bound: String?, to prefixes: inout [UInt8]) {
        if labels.isEmpty && bound == nil { return }
        prefixes.append(UInt8(ascii: "{"))
        prefixes.append(contentsOf: labels)
        if let bound {
            prefixes.append(contentsOf: "\(labels.isEmpty ? "" : ",")le=\"\(bound)\"".utf8)
        }
        prefixes.append(UInt8(ascii: "}"))
    }

    /// The order of the values, label by label; that of their bytes where Unicode holds two for the same text.
    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        for (left, right) in zip(left, right) {
            if left != right { return left < right }
            if !left.utf8.elementsEqual(right.utf8) { return left.utf8.lexicographicallyPrecedes(right.utf8) }
        }
        return left.count < right.count
    }
}
