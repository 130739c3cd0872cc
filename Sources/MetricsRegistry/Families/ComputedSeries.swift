// SPDX-License-Identifier: Apache-2.0

/// The series that a function gave in one run, each with its value.
struct ComputedSeries: Sendable {
    /// Changes with the label values.
    private(set) var generation = 0
    private(set) var labels: [LabelBytes] = []
    private(set) var values: [Double] = []
    /// When each began, in microseconds since 1970.
    private(set) var created: [Int64] = []
    private var places: [LabelBytes: Int] = [:]

    /// What is shown after a run that gave `samples`. While a run gives the label values of the one before, in whatever
    /// order, the generation and the places stay.
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

    /// Takes the values over if they are those of the same series in the same order.
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

    /// The values of `other`, which has the same labels, in the places of these.
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
