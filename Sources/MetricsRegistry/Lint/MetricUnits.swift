// SPDX-License-Identifier: Apache-2.0

/// Units that appear in names, and the base units to which Prometheus' naming guide would have them converted.
enum MetricUnits {
    /// The base unit to use instead of `word`; nil when it is one or no unit at all.
    static func base(of word: String) -> String? {
        table[word]
    }

    private static let table: [String: String] = {
        let derived: [String: [String]] = [
            "seconds": [
                "s", "sec", "secs", "ms", "us", "ns", "m", "min", "mins", "h", "d", "milliseconds", "microseconds",
                "nanoseconds", "minutes", "hours", "days", "weeks",
            ],
            "bytes": [
                "b", "kb", "mb", "gb", "tb", "pb", "kib", "mib", "gib", "kilobytes", "megabytes", "gigabytes",
                "terabytes", "kibibytes", "mebibytes", "gibibytes", "bits", "kilobits", "megabits",
            ],
            "ratio": ["percent", "percents", "percentage"],
            "celsius": ["kelvin", "kelvins", "fahrenheit", "millicelsius"],
            "meters": ["kilometers", "millimeters", "centimeters", "inches", "miles"],
            "volts": ["millivolts", "kilovolts"],
            "amperes": ["milliamperes"],
            "joules": ["kilojoules", "calories"],
            "grams": ["kilograms", "milligrams"],
        ]
        var table: [String: String] = [:]
        for (base, words) in derived {
            for word in words { table[word] = base }
        }
        return table
    }()
}
