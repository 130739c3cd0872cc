// SPDX-License-Identifier: Apache-2.0

/// Text of an input as it may go to a terminal or a document: nothing in it moves a cursor, changes a colour or the
/// direction of writing, or begins a line.
package enum PlainText {
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
        return String(plain)
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
        default: false
        }
    }
}

extension StringProtocol {
    /// Without the spaces and tabs around it (RFC 9110, optional white space).
    package var trimmed: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
