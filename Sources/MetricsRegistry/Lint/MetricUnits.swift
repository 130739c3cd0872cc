// SPDX-License-Identifier: Apache-2.0

/// Units that appear in names, and the base units to which Prometheus' naming guide would have them converted.
enum MetricUnits {
    /// The base unit to use instead of `word`; nil when it is one or no unit at all.
    static func base(of word: String) -> String? {
        if let base = derived[word] { return base }
        for prefix in prefixes where word.hasPrefix(prefix) {
            let unit = String(word.dropFirst(prefix.count))
            if let base = derived[unit] ?? (bases.contains(unit) ? unit : nil) { return base }
        }
        return nil
    }

    /// The base unit to use instead of an abbreviation, in letters of either case.
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
