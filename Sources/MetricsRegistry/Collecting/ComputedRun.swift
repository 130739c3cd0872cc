// SPDX-License-Identifier: Apache-2.0

/// What of a run's outcome is shown: of values for the same labels the last, and of series as many as the family holds.
struct ComputedRun {
    private(set) var shown: [(labels: LabelBytes, value: Double)] = []

    /// Series that the page shows already, for which `isKnown` holds, go first. What is past the limit is added up in the
    /// overflow series of a counter; a gauge leaves it out, as no one value stands for several.
    init(
        _ samples: [(labelValues: [String], value: Double)],
        _ rules: ComputedRules,
        isKnown: (LabelBytes) -> Bool
    ) {
        let overflow = rules.isCounter ? LabelBytes(rules.descriptor.overflowValues) : nil
        let latest = Self.latest(samples)
        let known = latest.map(\.labels).filter { $0 != overflow && isKnown($0) }
        var room = SeriesRoom(rules.family, taken: known)
        var rest: [Double] = []
        for (labels, value) in latest {
            if labels == overflow {
                rest.append(value)
            } else if !rules.family.accepts(labels.values, for: rules.descriptor)
                || !isKnown(labels) && !room.take(labels)
            {
                rules.family.overflowedLookups.add()
                rest.append(value)
            } else {
                shown.append((labels, value))
            }
        }
        if let overflow, let sum = rules.sum(rest) { shown.append((overflow, sum)) }
    }

    private static func latest(
        _ samples: [(labelValues: [String], value: Double)]
    ) -> [(labels: LabelBytes, value: Double)] {
        var places: [LabelBytes: Int] = [:]
        var latest: [(labels: LabelBytes, value: Double)] = []
        for (labelValues, value) in samples {
            let labels = LabelBytes(labelValues)
            if let place = places[labels] {
                latest[place].value = value
            } else {
                places[labels] = latest.count
                latest.append((labels, value))
            }
        }
        return latest
    }
}
