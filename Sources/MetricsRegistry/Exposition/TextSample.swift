// SPDX-License-Identifier: Apache-2.0

/// One line of a series, without the values of its labels and its value.
struct TextSample {
    var name: String
    /// The value of `le`, on a line that has one.
    var bound: String?

    /// The lines of each series of a family, in their order.
    static func lines(
        _ names: SampleNames,
        name: String,
        shape: SampleShape,
        format: ExpositionFormat,
        showsCreated: Bool
    ) -> [TextSample] {
        let isOpenMetrics = format.encoding == .openMetrics
        let created = showsCreated ? [TextSample(name: names.created)] : []
        guard case .histogram(let bounds) = shape else { return [TextSample(name: name)] + created }
        let buckets = (bounds.values + [.infinity]).map { bound in
            TextSample(
                name: names.bucket,
                bound: isOpenMetrics ? BucketBound.openMetricsText(bound) : BucketBound.text(bound)
            )
        }
        return buckets + [TextSample(name: names.sum), TextSample(name: names.count)] + created
    }

    /// Appends the text before the value: the name, and in braces the labels, preceded by a name that needs quotes
    /// (prometheus.io/docs/instrumenting/exposition_formats).
    func append(labels: [UInt8], to line: inout [UInt8]) {
        let isQuoted = !MetricName.isClassic(name)
        if !isQuoted { line.append(contentsOf: name.utf8) }
        if isQuoted || !labels.isEmpty || bound != nil {
            var separator = UInt8(ascii: "{")
            if isQuoted {
                line.append(separator)
                TextEscaping.append(quoted: name, to: &line)
                separator = UInt8(ascii: ",")
            }
            if !labels.isEmpty {
                line.append(separator)
                line.append(contentsOf: labels)
                separator = UInt8(ascii: ",")
            }
            if let bound {
                line.append(separator)
                line.append(contentsOf: "le=\"\(bound)\"".utf8)
            }
            line.append(UInt8(ascii: "}"))
        }
        line.append(UInt8(ascii: " "))
    }

    /// The labels of a series as on each of its lines.
    static func labels(_ shown: [(name: String, value: String)]) -> [UInt8] {
        var labels: [UInt8] = []
        for (name, value) in shown {
            if !labels.isEmpty { labels.append(UInt8(ascii: ",")) }
            TextEscaping.append(name: name, to: &labels)
            labels.append(UInt8(ascii: "="))
            TextEscaping.append(quoted: value, to: &labels)
        }
        return labels
    }
}

/// The HELP, TYPE and UNIT lines of a family.
enum TextHeader {
    /// HELP and TYPE, as in Prometheus text.
    static func prometheus(_ descriptor: MetricDescriptor, name: String) -> [UInt8] {
        var header: [UInt8] = []
        appendHelp(descriptor, name, escapingQuotes: false, to: &header)
        append("TYPE", name, descriptor.kind.rawValue, to: &header)
        return header
    }

    /// TYPE, UNIT and HELP, as in OpenMetrics. UNIT appears only if the name ends in it, as parsers demand.
    static func openMetrics(_ descriptor: MetricDescriptor, _ names: SampleNames) -> [UInt8] {
        let family = names.openMetricsFamily
        var header: [UInt8] = []
        append("TYPE", family, names.openMetricsType, to: &header)
        if let unit = descriptor.unit, MetricName.isClassic("_" + unit), family.utf8.count > unit.utf8.count + 1,
            family.hasSuffix("_" + unit), !unit.isEmpty
        {
            append("UNIT", family, unit, to: &header)
        }
        appendHelp(descriptor, family, escapingQuotes: true, to: &header)
        return header
    }

    private static func append(_ keyword: String, _ name: String, _ text: String, to header: inout [UInt8]) {
        header.append(contentsOf: "# \(keyword) ".utf8)
        TextEscaping.append(name: name, to: &header)
        header.append(contentsOf: " \(text)\n".utf8)
    }

    private static func appendHelp(
        _ descriptor: MetricDescriptor,
        _ name: String,
        escapingQuotes: Bool,
        to header: inout [UInt8]
    ) {
        if descriptor.help.isEmpty { return }
        header.append(contentsOf: "# HELP ".utf8)
        TextEscaping.append(name: name, to: &header)
        header.append(UInt8(ascii: " "))
        TextEscaping.append(descriptor.help, escapingQuotes: escapingQuotes, to: &header)
        header.append(UInt8(ascii: "\n"))
    }
}

/// The escapes of the text formats: backslash and line feed in help texts, and also quotes in label values, in quoted
/// names, and in the help texts of OpenMetrics.
enum TextEscaping {
    static func append(_ text: String, escapingQuotes: Bool, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\"") where escapingQuotes: bytes.append(contentsOf: #"\""#.utf8)
            default: bytes.append(byte)
            }
        }
    }

    /// Appends the text in quotes.
    static func append(quoted text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        append(text, escapingQuotes: true, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a metric's or label's name, in quotes if it isn't classic.
    static func append(name: String, to bytes: inout [UInt8]) {
        if MetricName.isClassic(name) {
            bytes.append(contentsOf: name.utf8)
        } else {
            append(quoted: name, to: &bytes)
        }
    }
}

/// The text of a bound in a `le` label.
///
/// Labels are compared as text, so a bound must look the same in every exporter of a fleet: as Go's
/// `strconv.FormatFloat(bound, 'g', -1, 64)` writes it, on which the Prometheus client libraries rely. That is the
/// fewest digits that give the same double, with an exponent below 0.0001 and from 1,000,000 on.
package enum BucketBound {
    static func text(_ bound: Double) -> String {
        if bound == .infinity { return "+Inf" }
        if bound == 0 { return "0" }
        let sign = bound < 0 ? "-" : ""
        let (digits, exponent) = decimal(bound.magnitude)
        return sign + (-4..<6 ~= exponent ? positional(digits, exponent) : scientific(digits, exponent))
    }

    /// The same text with `.0` after a whole number, as in OpenMetrics 1.0 ("Considerations: Canonical Numbers").
    package static func openMetricsText(_ bound: Double) -> String {
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

extension ByteCursor {
    /// Writes microseconds since 1970 as seconds, with the decimals needed.
    mutating func write(seconds microseconds: Int64) {
        if microseconds < 0 { write(UInt8(ascii: "-")) }
        let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        write(decimal: whole)
        if fraction == 0 { return }
        write(UInt8(ascii: "."))
        write(millionths: fraction)
    }

    /// Writes ` # {labels} value timestamp` in at most `exemplar.room` bytes.
    ///
    /// A zero byte, legal here as in label values, is replaced: Prometheus (2.42) refuses a page with one in an
    /// exemplar.
    mutating func write(_ exemplar: Exemplar) {
        write(" # {")
        var isFirst = true
        for label in exemplar.labels {
            if !isFirst { write(UInt8(ascii: ",")) }
            isFirst = false
            write(label.name)
            write("=\"")
            write(escaping: label.value)
            write(UInt8(ascii: "\""))
        }
        write("} ")
        write(double: exemplar.value)
        write(UInt8(ascii: " "))
        write(seconds: exemplar.timestamp)
    }

    private mutating func write(escaping text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): write(#"\\"#)
            case UInt8(ascii: "\n"): write(#"\n"#)
            case UInt8(ascii: "\""): write(#"\""#)
            case 0: write("\u{FFFD}")
            default: write(byte)
            }
        }
    }
}

extension Exemplar {
    /// The maximum bytes that `ByteCursor.write(_:)` writes.
    var room: Int {
        labels.reduce(2 * ByteCursor.numberRoom + 8) { $0 + $1.name.utf8.count + 3 * $1.value.utf8.count + 4 }
    }
}
