// SPDX-License-Identifier: Apache-2.0

/// The text of a bucket's bound in a `le` label.
///
/// A label is compared as text, so a bound must look the same in every exporter of a fleet: as Go's
/// `strconv.FormatFloat(bound, 'g', -1, 64)` writes it, on which Prometheus' own libraries rely. That is the fewest
/// digits that give the same double, with an exponent below 0.0001 and from 1,000,000 on.
enum BucketBound {
    static func text(_ bound: Double) -> String {
        if bound == .infinity { return "+Inf" }
        if bound == 0 { return "0" }
        let sign = bound < 0 ? "-" : ""
        let (digits, exponent) = decimal(bound.magnitude)
        return sign + (-4..<6 ~= exponent ? positional(digits, exponent) : scientific(digits, exponent))
    }

    /// The same with `.0` behind a whole number, as OpenMetrics 1.0 has it ("Considerations: Canonical Numbers").
    static func openMetricsText(_ bound: Double) -> String {
        let text = text(bound)
        return bound.isFinite && !text.contains { $0 == "." || $0 == "e" } ? text + ".0" : text
    }

    /// The significant digits, and the power of ten of the first of them.
    private static func decimal(_ value: Double) -> (digits: String, exponent: Int) {
        let parts = value.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".")
        let whole = mantissa[0]
        let all = mantissa.joined()
        let leadingZeros = all.prefix { $0 == "0" }.count
        var digits = all.dropFirst(leadingZeros)
        while digits.last == "0" { digits.removeLast() }
        let shift = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        return (String(digits), whole.count - 1 - leadingZeros + shift)
    }

    private static func scientific(_ digits: String, _ exponent: Int) -> String {
        let fraction = digits.dropFirst()
        let power = exponent.magnitude < 10 ? "0\(exponent.magnitude)" : "\(exponent.magnitude)"
        return digits.prefix(1) + (fraction.isEmpty ? "" : ".\(fraction)") + "e\(exponent < 0 ? "-" : "+")\(power)"
    }

    private static func positional(_ digits: String, _ exponent: Int) -> String {
        if exponent < 0 {
            return "0." + String(repeating: "0", count: -exponent - 1) + digits
        }
        let whole = exponent + 1
        if digits.count <= whole {
            return digits + String(repeating: "0", count: whole - digits.count)
        }
        return "\(digits.prefix(whole)).\(digits.dropFirst(whole))"
    }
}
