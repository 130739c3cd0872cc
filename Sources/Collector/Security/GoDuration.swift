// SPDX-License-Identifier: Apache-2.0

/// A duration as Go's `time.ParseDuration` reads it: `1s`, `100ms`, `1m30s`, `1.5h`; or 0 without a unit.
enum GoDuration {
    /// In nanoseconds.
    private static let units: [String: Double] = [
        "ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12,
    ]

    /// In seconds, at most a year; nil for anything else, and for what is below 0.
    static func seconds(_ text: String) -> Double? {
        if text == "0" { return 0 }
        guard !text.isEmpty, text.utf8.count <= 40 else { return nil }
        var rest = Substring(text)
        var sum = 0.0
        while !rest.isEmpty {
            let number = rest.prefix(while: isOfNumber)
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !isOfNumber($0) }
            rest = rest.dropFirst(unit.count)
            guard let value = Double(number), let factor = units[String(unit)] else { return nil }
            sum += value * factor
        }
        return sum <= 3.1536e16 ? sum / 1e9 : nil
    }

    private static func isOfNumber(_ character: Character) -> Bool {
        ("0"..."9").contains(character) || character == "."
    }
}
