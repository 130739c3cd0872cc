// SPDX-License-Identifier: Apache-2.0

/// Maps the labels and dimensions of swift-metrics, which may be any text, to Prometheus names.
struct NameMapping: Sendable {
    /// Whether legal UTF-8 names are kept.
    let keepsUTF8: Bool

    /// The name of a metric, ending in `suffix`.
    ///
    /// A colon, although legal, becomes `_` too, since colons are for recording rules.
    func metric(_ label: String, suffix: String) -> String {
        let name = keepsUTF8 && MetricName.isValidLabel(label, allowingUTF8: true) ? label : Self.classic(label)
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// The name of a label, without the reserved prefix `__` and the label names of histograms and summaries.
    func label(_ dimension: String) -> String {
        if keepsUTF8, MetricName.isValidLabel(dimension, allowingUTF8: true), !MetricName.isReservedLabel(dimension),
            !Self.isSampleLabel(dimension)
        {
            return dimension
        }
        let name = Self.classic(dimension)
        if Self.isSampleLabel(name) { return "exported_" + name }
        return name.hasPrefix("__") ? "_" + name.drop { $0 == "_" } : name
    }

    /// The labels of a series: names and values alternating, sorted by name; of duplicates on any page the last value.
    ///
    /// Empty values are omitted, since Prometheus treats a label without a value as absent.
    func labels(_ dimensions: [(String, String)]) -> [String] {
        var labels: [String: (name: String, value: String)] = [:]
        for (dimension, value) in dimensions {
            let name = label(dimension)
            labels[NameEscaping.underscores.escape(name)] = (name, value)
        }
        return labels.values.filter { !$0.value.isEmpty }.sorted { $0.name < $1.name }.flatMap { [$0.name, $0.value] }
    }

    private static func isSampleLabel(_ name: String) -> Bool {
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
