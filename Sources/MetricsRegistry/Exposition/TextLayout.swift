// SPDX-License-Identifier: Apache-2.0

/// Everything of a family's text that doesn't change from scrape to scrape, in Prometheus' own texts or in OpenMetrics: its
/// header, the order of its series, and the bytes in front of each value.
final class TextLayout: PageLayout {
    /// One series' place on the page.
    struct Line: Sendable {
        /// The place in the order of creation, in which a scrape copies values.
        let place: Int
        /// When the series began, as far as the layout tells it in its last line.
        let created: Int64
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
    let hasClassicNames: Bool
    /// The number of lines that one series takes; where one tells when the series began, which hardly ever changes, its
    /// value counts as a line too.
    let linesPerSeries: Int
    /// How to write an OpenMetrics page; nil for Prometheus' own texts.
    let openMetrics: OpenMetricsRules?

    /// `labelValues` and `created` are those of each series in the order of creation; `created` counts only where the
    /// format tells it.
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
        let tellsCreated = openMetrics?.tellsCreated ?? false
        let samples = TextSample.lines(names, name: name, shape: shape, format: format, tellsCreated: tellsCreated)
        linesPerSeries = samples.count + (tellsCreated ? 1 : 0)
        let shown = ShownSeries.all(descriptor, format.escaping, labelValues: labelValues)
        order = shown.map { series in
            Line(
                place: series.place,
                created: tellsCreated ? created[series.place] : 0,
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
            if tellsCreated {
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
