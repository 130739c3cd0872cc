// SPDX-License-Identifier: Apache-2.0

/// A series as a page of one escaping shows it.
struct ShownSeries {
    /// The place in the order of creation, in which a scrape copies values.
    let place: Int
    /// The labels with the names that the page shows.
    let labels: [(name: String, value: String)]

    /// The series of a family in the order of their label values.
    ///
    /// Label names of a family differ in every escaping. Those that series name themselves may not: then a name stands
    /// once, and of series that look the same only the first is on the page.
    static func all(
        _ descriptor: MetricDescriptor,
        _ escaping: NameEscaping,
        labelValues: [[String]]
    ) -> [ShownSeries] {
        let places = labelValues.indices.sorted { precedes(labelValues[$0], labelValues[$1]) }
        if !descriptor.hasOpenLabels {
            let names = descriptor.labelNames.map(escaping.escape)
            return places.map { place in
                ShownSeries(place: place, labels: zip(names, labelValues[place]).map { ($0, $1) })
            }
        }
        var seen: Set<[[UInt8]]> = []
        return places.compactMap { place in
            let labels = open(descriptor.labels(labelValues[place]), escaping)
            let bytes = labels.flatMap { [Array($0.name.utf8), Array($0.value.utf8)] }
            return seen.insert(bytes).inserted ? ShownSeries(place: place, labels: labels) : nil
        }
    }

    private static func open(
        _ labels: [(name: String, value: String)],
        _ escaping: NameEscaping
    ) -> [(name: String, value: String)] {
        var names: Set<String> = []
        return
            labels
            .map { (name: escaping.escape($0.name), value: $0.value) }
            .filter { names.insert($0.name).inserted }
            .sorted { $0.name < $1.name }
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
