// SPDX-License-Identifier: Apache-2.0

/// The escapes of Prometheus text 0.0.4: a backslash and a line feed in help texts, and a quote too in label values.
enum TextEscaping {
    static func append(help: String, to bytes: inout [UInt8]) {
        append(help, escapingQuotes: false, to: &bytes)
    }

    static func append(labelValue: String, to bytes: inout [UInt8]) {
        append(labelValue, escapingQuotes: true, to: &bytes)
    }

    private static func append(_ text: String, escapingQuotes: Bool, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\"") where escapingQuotes: bytes.append(contentsOf: #"\""#.utf8)
            default: bytes.append(byte)
            }
        }
    }
}
