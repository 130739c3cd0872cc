// SPDX-License-Identifier: Apache-2.0

/// Text that tries to break a page, the same in every run.
struct HostileWriter {
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    private static let pieces = [
        "\"", "\\", "\n", "\\n", "\\\"", "{", "}", ",", "=", "#", " # ", " ", "  ", "\t", "\r", "'", "+Inf", "NaN",
        "le",
        "=\"", "\"} 1", "# EOF", "# TYPE x counter", "_total", "_created", "_bucket", "_sum", "__name__", "é",
        "e\u{301}", "👩‍👩‍👧", "花火", "\u{202E}", "\u{FEFF}", "\u{A0}", "\u{2028}", "\u{85}", "\u{0}", "\u{1B}", "\u{7F}",
        "0", "1e5", "a", "B", ":", "_", ".", "/", String(decoding: [0x66, 0xFF, 0xC0, 0xAF] as [UInt8], as: UTF8.self),
    ]

    mutating func number(upTo bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    mutating func value() -> Double {
        let special = [0, 0.1, 1e-300, 1e300, 123_456_789.25, 9_007_199_254_740_992]
        return number(upTo: 3) == 0 ? special[number(upTo: special.count)] : Double.random(in: 0...1e6, using: &random)
    }

    /// Any text, now and then a long one.
    mutating func text() -> String {
        if number(upTo: 25) == 0 {
            let piece = Self.pieces[number(upTo: Self.pieces.count)]
            return String(repeating: piece, count: 10_240 / piece.utf8.count)
        }
        return (0..<number(upTo: 8)).map { _ in Self.pieces[number(upTo: Self.pieces.count)] }.joined()
    }

    /// Text without white space at its ends, which the parsers take off a help text.
    mutating func help() -> String {
        "(" + String(text().prefix(2_000)) + ")"
    }

    /// A name that a registry may take or refuse.
    mutating func name(_ prefix: String) -> String {
        prefix + (0..<number(upTo: 5)).map { _ in Self.pieces[number(upTo: Self.pieces.count)] }.joined()
    }
}
