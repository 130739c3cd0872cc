// SPDX-License-Identifier: Apache-2.0

/// The escapes of the texts: a backslash and a line feed in help texts, and a quote too in label values, in names that
/// stand in quotes, and in the help texts of OpenMetrics.
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
