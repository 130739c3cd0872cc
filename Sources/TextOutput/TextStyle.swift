// SPDX-License-Identifier: Apache-2.0

/// How text for people is coloured.
package struct TextStyle: Sendable {
    package enum Colour: String {
        case good = "32"
        case bad = "31"
        case note = "33"
        case quiet = "2"
        case strong = "1"
    }

    /// Whether there are colours at all.
    package let isColoured: Bool

    /// Text without a colour.
    package static let plain = TextStyle(isColoured: false)

    /// - Parameter isColoured: whether there are colours.
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
