// SPDX-License-Identifier: Apache-2.0

/// One line of a series, but for the values of the family's labels and the value.
struct TextSample {
    var name: String
    /// The value of `le`, on a line that has one.
    var bound: String?

    /// The lines of each series of a family, in their order.
    static func lines(
        _ names: SampleNames,
        name: String,
        shape: SampleShape,
        format: ExpositionFormat,
        tellsCreated: Bool
    ) -> [TextSample] {
        let isOpenMetrics = format.encoding == .openMetrics
        let created = tellsCreated ? [TextSample(name: names.created)] : []
        guard case .histogram(let bounds) = shape else { return [TextSample(name: name)] + created }
        let buckets = (bounds.values + [.infinity]).map { bound in
            TextSample(
                name: names.bucket,
                bound: isOpenMetrics ? BucketBound.openMetricsText(bound) : BucketBound.text(bound)
            )
        }
        return buckets + [TextSample(name: names.sum), TextSample(name: names.count)] + created
    }

    /// Appends what stands in front of the value: the name, and in braces the labels with a name that needs quotes in
    /// front of them (prometheus.io/docs/instrumenting/exposition_formats).
    func append(labels: [UInt8], to line: inout [UInt8]) {
        let isQuoted = !MetricName.isClassic(name)
        if !isQuoted { line.append(contentsOf: name.utf8) }
        if isQuoted || !labels.isEmpty || bound != nil {
            var separator = UInt8(ascii: "{")
            if isQuoted {
                line.append(separator)
                TextEscaping.append(quoted: name, to: &line)
                separator = UInt8(ascii: ",")
            }
            if !labels.isEmpty {
                line.append(separator)
                line.append(contentsOf: labels)
                separator = UInt8(ascii: ",")
            }
            if let bound {
                line.append(separator)
                line.append(contentsOf: "le=\"\(bound)\"".utf8)
            }
            line.append(UInt8(ascii: "}"))
        }
        line.append(UInt8(ascii: " "))
    }

    /// The labels of a series as they stand on each of its lines.
    static func labels(_ shown: [(name: String, value: String)]) -> [UInt8] {
        var labels: [UInt8] = []
        for (name, value) in shown {
            if !labels.isEmpty { labels.append(UInt8(ascii: ",")) }
            TextEscaping.append(name: name, to: &labels)
            labels.append(UInt8(ascii: "="))
            TextEscaping.append(quoted: value, to: &labels)
        }
        return labels
    }
}
