// SPDX-License-Identifier: Apache-2.0

/// Names of Prometheus made from the labels and dimensions of swift-metrics, in which anything may stand.
struct ReportedName: Sendable {
    /// Whether names that are legal in UTF-8 stay as they are.
    let keepsUTF8: Bool

    /// The name of a metric, with `suffix` at its end.
    ///
    /// A colon, which would be legal, becomes `_` too, since custom leaves it to recording rules.
    func metric(_ label: String, suffix: String) -> String {
        let name = keepsUTF8 && MetricName.isValidLabel(label, allowingUTF8: true) ? label : Self.classic(label)
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// The name of a label, without the prefix `__` of Prometheus and the names that histograms and summaries use.
    func label(_ dimension: String) -> String {
        if keepsUTF8, MetricName.isValidLabel(dimension, allowingUTF8: true), !MetricName.isReservedLabel(dimension),
            !Self.isSamples(dimension)
        {
            return dimension
        }
        let name = Self.classic(dimension)
        if Self.isSamples(name) { return "exported_" + name }
        return name.hasPrefix("__") ? "_" + name.drop { $0 == "_" } : name
    }

    private static func isSamples(_ name: String) -> Bool {
        name == "le" || name == "quantile"
    }

    /// Letters, digits and `_`, no digit at the start.
    private static func classic(_ text: String) -> String {
        var name = ""
        name.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name.append("_") }
                name.unicodeScalars.append(scalar)
            default: name.append("_")
            }
        }
        return name.isEmpty ? "_" : name
    }
}

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
