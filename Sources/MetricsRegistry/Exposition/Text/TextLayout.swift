// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's text that doesn't change from scrape to scrape, in Prometheus' own texts or in OpenMetrics: its
/// header, the order of its series, and the bytes in front of each value.
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
    let seriesCount: Int
    /// The number of lines that one series takes.
    let linesPerSeries: Int
    /// How to write an OpenMetrics page; nil for Prometheus' own texts.
    let openMetrics: OpenMetricsRules?

    /// `labelValues` are those of each series in the order of creation.
    init(
        _ descriptor: MetricDescriptor,
        _ format: ExpositionFormat,
        shape: SampleShape,
        labelValues: [[String]],
        hiddenUntilUsed: Set<Int>
    ) {
        self.shape = shape
        let name = format.escaping.escape(descriptor.name)
        let names = SampleNames(name, kind: descriptor.kind)
        if format.encoding == .openMetrics {
            header = TextHeader.openMetrics(descriptor, family: names.openMetricsFamily)
            openMetrics = OpenMetricsRules(kind: descriptor.kind, format: format)
        } else {
            header = TextHeader.prometheus(descriptor, name: name)
            openMetrics = nil
        }
        let samples = TextSample.lines(names, name: name, shape: shape, kind: descriptor.kind, format: format)
        linesPerSeries = samples.count
        let shown = ShownSeries.all(descriptor, format.escaping, labelValues: labelValues)
        order = shown.map { Line(place: $0.place, isHiddenWhileZero: hiddenUntilUsed.contains($0.place)) }
        seriesCount = labelValues.count
        var prefixes: [UInt8] = []
        var ends: [Int] = []
        for series in shown {
            let labels = TextSample.labels(series.labels)
            for sample in samples {
                sample.append(labels: labels, to: &prefixes)
                ends.append(prefixes.count)
            }
        }
        self.prefixes = prefixes
        self.ends = ends
    }
}
