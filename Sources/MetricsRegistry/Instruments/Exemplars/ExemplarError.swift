// SPDX-License-Identifier: Apache-2.0

/// Why something can't be an exemplar.
public enum ExemplarError: Error, Sendable, Hashable, CaseIterable {
    /// A label's name is not `[a-zA-Z_][a-zA-Z0-9_]*`, or begins with the `__` that belongs to Prometheus.
    case invalidLabelName
    /// A label's name comes twice.
    case repeatedLabelName
    /// Names and values have more than 128 Unicode code points together.
    case tooLong
    /// The value is infinite or not a number.
    case valueIsNotFinite
    /// The time is before 1970 or after 9999.
    case timestampOutOfRange
}

extension ExemplarError: CustomStringConvertible {
    /// What was expected.
    public var description: String {
        switch self {
        case .invalidLabelName: "expected label names of letters, digits and '_' that start with no digit and no '__'"
        case .repeatedLabelName: "expected each label name once"
        case .tooLong: "expected at most \(Exemplar.maximumCodePoints) code points in all names and values"
        case .valueIsNotFinite: "expected a finite value"
        case .timestampOutOfRange: "expected a time between the years 1970 and 9999, in microseconds since 1970"
        }
    }
}
