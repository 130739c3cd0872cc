// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// A duration as options write it: a whole number and `ms`, `s`, `m`, `h` or `d`.
struct TimeSpan: ExpressibleByArgument {
    let duration: Duration
    let defaultValueDescription: String

    init(_ duration: Duration) {
        self.duration = duration
        let seconds = duration.components.seconds
        defaultValueDescription = seconds >= 60 && seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
    }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let number = Int64(digits), let unit = units[argument.dropFirst(digits.count)],
            number <= 366 * 86_400_000 / unit
        else { return nil }
        duration = .milliseconds(number * unit)
        defaultValueDescription = argument
    }
}
