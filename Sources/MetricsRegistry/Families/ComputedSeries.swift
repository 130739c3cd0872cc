// SPDX-License-Identifier: Apache-2.0

/// The series that a function returned in one run, each with its value.
struct ComputedSeries: Sendable {
    /// Changes with the label values.
    private(set) var generation = 0
    private(set) var labels: [LabelBytes] = []
    private(set) var values: [Double] = []
    /// When each began, in microseconds since 1970.
    private(set) var created: [Int64] = []
    private var places: [LabelBytes: Int] = [:]

    /// The series to show after a run that returned `samples`.
    ///
    /// The generation and the places stay the same while runs return the same label values, in any order.
    func after(_ samples: [(labelValues: [String], value: Double)], _ rules: ComputedRules) -> ComputedSeries {
        var next = self
        if next.replaceValues(by: samples, rules) { return next }
        next = ComputedSeries(generation: generation + 1)
        let run = ComputedRun(samples, rules) { places[$0] != nil }
        let now = rules.family.now()
        for (labels, value) in run.shown {
            let place = places[labels]
            guard let value = rules.value(value, after: place.map { values[$0] }) else { continue }
            next.append(labels, value, created: place.map { created[$0] } ?? now)
        }
        return next.hasLabels(of: self) ? arranged(next) : next
    }

    /// Updates the values if the samples are those of the same series in the same order.
    private mutating func replaceValues(
        by samples: [(labelValues: [String], value: Double)],
        _ rules: ComputedRules
    ) -> Bool {
        guard samples.count == labels.count,
            zip(samples, labels).allSatisfy({ LabelBytes($0.labelValues) == $1 })
        else { return false }
        for (place, sample) in samples.enumerated() {
            values[place] = rules.value(sample.value, after: values[place]) ?? values[place]
        }
        return true
    }

    private mutating func append(_ labels: LabelBytes, _ value: Double, created: Int64) {
        places[labels] = values.count
        self.labels.append(labels)
        values.append(value)
        self.created.append(created)
    }

    private func hasLabels(of other: ComputedSeries) -> Bool {
        labels.count == other.labels.count && labels.allSatisfy { other.places[$0] != nil }
    }

    /// The values of `other`, which has the same labels, in the order of this one.
    private func arranged(_ other: ComputedSeries) -> ComputedSeries {
        var arranged = self
        for (labels, value) in zip(other.labels, other.values) {
            if let place = places[labels] { arranged.values[place] = value }
        }
        return arranged
    }
}

extension ComputedSeries {
    private init(generation: Int) {
        self.generation = generation
    }
}

/// The accepted part of the result of a run: of duplicates the last, and as many series as the family holds.
private struct ComputedRun {
    private(set) var shown: [(labels: LabelBytes, value: Double)] = []

    /// Series that are already shown, for which `isKnown` holds, have priority. Values beyond the limit are summed in
    /// the overflow series of a counter; gauges omit them, as no single value stands for several.
    init(
        _ samples: [(labelValues: [String], value: Double)],
        _ rules: ComputedRules,
        isKnown: (LabelBytes) -> Bool
    ) {
        let overflow = rules.isCounter ? LabelBytes(rules.descriptor.overflowValues) : nil
        let latest = Self.latest(samples)
        let known = latest.map(\.labels).filter { $0 != overflow && isKnown($0) }
        var budget = SeriesBudget(rules.family, taken: known)
        var rest: [Double] = []
        for (labels, value) in latest {
            if labels == overflow {
                rest.append(value)
            } else if !rules.family.accepts(labels.values, for: rules.descriptor)
                || !isKnown(labels) && !budget.take(labels)
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

/// The number of new series that the limits of a family still allow.
private struct SeriesBudget {
    private var series: Int
    private var labelBytes: Int

    init(_ rules: FamilyRules, taken: [LabelBytes]) {
        series = rules.maximumSeries - taken.count
        labelBytes = rules.maximumLabelBytes - taken.reduce(0) { $0 + $1.count }
    }

    /// Reserves one series; false, and no change, if there is no room.
    mutating func take(_ labels: LabelBytes) -> Bool {
        guard series > 0, labelBytes >= labels.count else { return false }
        series -= 1
        labelBytes -= labels.count
        return true
    }
}

/// Label values compared by their bytes, as on a page, and not by Unicode equivalence.
struct LabelBytes: Hashable, Sendable {
    let values: [String]

    init(_ values: [String]) {
        self.values = values
    }

    /// The bytes of all values.
    var count: Int { values.reduce(0) { $0 + $1.utf8.count } }

    static func == (left: LabelBytes, right: LabelBytes) -> Bool {
        left.values.elementsEqual(right.values) { $0.utf8.elementsEqual($1.utf8) }
    }

    func hash(into hasher: inout Hasher) {
        for var value in values {
            hasher.combine(value.utf8.count)
            value.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}
