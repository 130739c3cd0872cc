// SPDX-License-Identifier: Apache-2.0

/// Sanitises text of an input for a terminal or a document: control and format characters, which could move a cursor,
/// change a colour or the writing direction, or begin a line, are replaced by U+FFFD.
package enum PlainText {
    package static func line(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
        return String(plain)
    }

    /// Whether a character could do more than stand where it is.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: true
        default: false
        }
    }
}

extension StringProtocol {
    /// The text without leading and trailing spaces and tabs (RFC 9110, optional white space).
    package var trimmed: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension BinaryInteger {
    /// The number with its noun, such as `1 cycle` and `2 cycles`.
    ///
    /// - Parameter plural: of a noun that adds no mere `s`.
    package func counted(_ noun: String, _ plural: String? = nil) -> String {
        "\(self) \(self == 1 ? noun : plural ?? "\(noun)s")"
    }

    /// The number with a comma between groups of three digits.
    package var grouped: String {
        var text = ""
        let digits = String(magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-" + text : text
    }
}

/// The colours of text for a terminal.
package struct TextStyle: Sendable {
    package enum Colour: String {
        case good = "32"
        case bad = "31"
        case note = "33"
        case quiet = "2"
        case strong = "1"
    }

    /// Whether text is coloured at all.
    package let isColoured: Bool

    /// Text without colours.
    package static let plain = TextStyle(isColoured: false)

    /// - Parameter isColoured: whether text is coloured.
    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// The style for an output: colours on a terminal, never with `NO_COLOR` (no-color.org) or `TERM=dumb`.
    package init(isTerminal: Bool, environment: [String: String]) {
        let isRefused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isColoured = isTerminal && !isRefused && environment["TERM"] != "dumb"
    }

    package func text(_ text: String, _ colour: Colour?) -> String {
        guard isColoured, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }
}
