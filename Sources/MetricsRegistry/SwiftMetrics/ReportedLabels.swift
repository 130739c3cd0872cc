// SPDX-License-Identifier: Apache-2.0

/// The labels of a series, made from dimensions.
enum ReportedLabels {
    /// Names and values in turn, in the order of the names; of a name that comes twice, on any page, the last value.
    ///
    /// Empty values are left out, since Prometheus takes a label without a value for none.
    static func flat(_ dimensions: [(String, String)], _ naming: ReportedName) -> [String] {
        var labels: [String: (name: String, value: String)] = [:]
        for (dimension, value) in dimensions {
            let name = naming.label(dimension)
            labels[NameEscaping.underscores.escape(name)] = (name, value)
        }
        return labels.values.filter { !$0.value.isEmpty }.sorted { $0.name < $1.name }.flatMap { [$0.name, $0.value] }
    }
}
