// SPDX-License-Identifier: Apache-2.0

/// Writes the text of XML 1.0 documents.
enum XMLText {
    /// Text as it may stand in an attribute or an element; characters that XML 1.0 (section 2.2) has no place for, and
    /// control characters, are left out.
    static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
            case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
            case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
            case "\n", "\t": escaped.append(" ")
            default:
                let value = scalar.value
                guard value >= 0x20, !(0x7F...0x9F).contains(value), value & 0xFFFE != 0xFFFE else { continue }
                escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
