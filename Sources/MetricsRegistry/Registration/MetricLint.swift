// SPDX-License-Identifier: Apache-2.0

/// Checks names and help texts against Prometheus conventions, as `promtool check metrics` and the naming guide
/// (prometheus.io/docs/practices/naming) do.
public enum MetricLint {
    /// One deviation from the conventions.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The metric's name.
        public let name: String
        /// What is unusual about it and what would be usual.
        public let text: String

        /// The name and the text.
        public var description: String { "\(name): \(text)" }
    }

    /// The deviations of these metrics, in their order.
    public static func findings(in descriptors: [MetricDescriptor]) -> [Finding] {
        descriptors.flatMap { descriptor in
            complaints(about: descriptor).map { Finding(name: descriptor.name, text: $0) }
        }
    }

    private static func complaints(about descriptor: MetricDescriptor) -> [String] {
        helpComplaints(descriptor) + suffixComplaints(descriptor) + unitComplaints(descriptor)
            + styleComplaints(descriptor)
    }

    private static func helpComplaints(_ descriptor: MetricDescriptor) -> [String] {
        descriptor.help.isEmpty ? ["has no help; say in a sentence what is measured"] : []
    }

    private static func suffixComplaints(_ descriptor: MetricDescriptor) -> [String] {
        var complaints: [String] = []
        let isTotal = descriptor.name.hasSuffix("_total")
        if descriptor.kind == .counter && !isTotal {
            complaints.append("is a counter; its name should end in _total")
        }
        if descriptor.kind != .counter && isTotal {
            complaints.append("is a \(descriptor.kind.rawValue); only a counter's name ends in _total")
        }
        for suffix in ["_bucket", "_sum", "_count"] where descriptor.name.hasSuffix(suffix) && !isHistogram(descriptor)
        {
            complaints.append("ends in \(suffix), which belongs to the samples of a histogram")
        }
        return complaints
    }

    private static func unitComplaints(_ descriptor: MetricDescriptor) -> [String] {
        var complaints: [String] = []
        let words = descriptor.name.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        for (place, word) in words.enumerated() {
            let abbreviated = place > 0 ? MetricUnits.base(ofAbbreviation: word) : nil
            if let base = MetricUnits.base(of: word) ?? abbreviated {
                complaints.append("counts in \(word); use the base unit \(base)")
            }
        }
        if let unit = descriptor.unit {
            let base = words.last == "total" ? words.dropLast() : words[...]
            if base.suffix(unit.split(separator: "_").count).joined(separator: "_") != unit {
                complaints.append("has the unit \(unit); its name should end in it (before _total)")
            }
        }
        return complaints
    }

    private static func styleComplaints(_ descriptor: MetricDescriptor) -> [String] {
        var complaints: [String] = []
        let words = descriptor.name.lowercased().split(separator: "_", omittingEmptySubsequences: false)
        for word in words.dropFirst() where ["counter", "gauge", "histogram", "summary"].contains(word) {
            complaints.append("has the type \(word) in its name; the TYPE line tells it")
        }
        if descriptor.name.contains(":") {
            complaints.append("has a colon in its name; colons are for recording rules")
        }
        if !MetricName.isClassic(descriptor.name) {
            complaints.append("is not a name of letters, digits and '_'; Prometheus before 3.0 is shown it escaped")
        }
        if isCamelCase(descriptor.name) {
            complaints.append("is in camelCase; use snake_case")
        }
        for label in descriptor.labelNames {
            if !MetricName.isClassicLabel(label) {
                complaints.append("has the label \(label), which Prometheus before 3.0 is shown escaped")
            }
            if isCamelCase(label) {
                complaints.append("has the label \(label) in camelCase; use snake_case")
            }
            if (label == "le" && !isHistogram(descriptor)) || label == "quantile" {
                complaints.append("has the label \(label), which belongs to histograms and summaries")
            }
        }
        return complaints
    }

    private static func isHistogram(_ descriptor: MetricDescriptor) -> Bool {
        descriptor.kind == .histogram
    }

    private static func isCamelCase(_ name: String) -> Bool {
        zip(name.utf8, name.utf8.dropFirst()).contains { left, right in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= left && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= right
        }
    }
}

/// Units in names, and the base units that the Prometheus naming guide asks for.
private enum MetricUnits {
    /// The base unit to use instead of `word`; nil if it is a base unit or not a unit.
    static func base(of word: String) -> String? {
        if let base = derived[word] { return base }
        for prefix in prefixes where word.hasPrefix(prefix) {
            let unit = String(word.dropFirst(prefix.count))
            if let base = derived[unit] ?? (bases.contains(unit) ? unit : nil) { return base }
        }
        return nil
    }

    /// The base unit to use instead of an abbreviation, case-insensitively.
    static func base(ofAbbreviation word: String) -> String? {
        abbreviations[word.lowercased()]
    }

    private static let bases: Set<String> = [
        "amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "metres", "seconds", "volts",
    ]

    private static let prefixes = [
        "pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo", "kibi", "mega", "mebi", "mibi",
        "giga",
        "gibi", "tera", "tebi", "peta", "pebi",
    ]

    private static let derived = table([
        "seconds": ["minutes", "hours", "days", "weeks"],
        "kelvin": ["kelvins"],
        "celsius": ["fahrenheit", "rankine"],
        "meters": ["inches", "yards", "miles"],
        "bytes": ["bits"],
        "joules": ["calories"],
        "grams": ["pounds", "ounces"],
        "ratio": ["percent", "percents", "percentage"],
    ])

    private static let abbreviations = table([
        "seconds": ["s", "sec", "secs", "ms", "us", "ns", "m", "min", "mins", "h", "d"],
        "bytes": ["b", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "tib"],
    ])

    private static func table(_ words: [String: [String]]) -> [String: String] {
        var table: [String: String] = [:]
        for (base, words) in words {
            for word in words { table[word] = base }
        }
        return table
    }
}
