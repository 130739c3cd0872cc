// SPDX-License-Identifier: Apache-2.0

/// How the label values that identify a series belong to label names.
///
/// A series of a family with label names has one value for each. One of a family with open labels has names and values
/// in turn, so that one table finds both.
extension MetricDescriptor {
    /// Whether series are told apart by labels.
    var hasLabels: Bool { hasOpenLabels || !labelNames.isEmpty }

    /// The labels of a series, in the order in which a page shows them.
    func labels(_ values: [String]) -> [(name: String, value: String)] {
        if hasOpenLabels {
            return stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) }
        }
        return zip(labelNames, values).map { ($0, $1) }
    }

    /// What identifies the series that takes what is past a limit.
    var overflowValues: [String] {
        hasOpenLabels ? ["overflow", "true"] : Array(repeating: "other", count: labelNames.count)
    }
}
