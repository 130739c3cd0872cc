// SPDX-License-Identifier: Apache-2.0

/// Finds what would make a small YAML document a large value, before a parser sees it.
enum YAMLReferences {
    /// The line of the first anchor or alias (YAML 1.2, 7.1), counted from 1; nil where there is none.
    ///
    /// A `&` or `*` at the beginning of an unquoted value is one, in a block of text too: such a value needs quotes.
    static func firstLine(of text: String) -> Int? {
        var scan = Scan()
        for byte in text.utf8 where scan.takes(byte) {
            if byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") { return scan.line }
        }
        return nil
    }

    /// The line where flow brackets, or dashes of one line, nest deeper than a limit; nil where they never do.
    static func firstLine(of text: String, nestedDeeperThan limit: Int) -> Int? {
        var scan = Scan()
        var brackets = 0
        var dashes = (line: 1, count: 0)
        for byte in text.utf8 where scan.takes(byte, anywhere: true) {
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"): brackets += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): brackets = max(0, brackets - 1)
            case UInt8(ascii: "-"), UInt8(ascii: "?"):
                if dashes.line != scan.line { dashes = (scan.line, 0) }
                dashes.count += scan.beginsToken ? 1 : 0
            default: break
            }
            if brackets > limit || dashes.count > limit { return scan.line }
        }
        return nil
    }

    /// Reads bytes one by one and knows which of them stand in quotes or in a comment.
    private struct Scan {
        private(set) var line = 1
        private(set) var beginsToken = true
        private var quote: UInt8?
        private var isComment = false
        private var isEscaped = false
        private var last = UInt8(ascii: "\n")

        /// Whether the byte begins a token outside of quotes and comments; with `anywhere` whether it stands outside.
        mutating func takes(_ byte: UInt8, anywhere: Bool = false) -> Bool {
            defer {
                if byte == UInt8(ascii: "\n") { line += 1 }
                last = byte
            }
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if open == UInt8(ascii: "\""), byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == open {
                    quote = nil
                }
                return false
            }
            if isComment {
                isComment = byte != UInt8(ascii: "\n")
                return false
            }
            let isBehindSpace = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")]
                .contains(last)
            beginsToken =
                isBehindSpace
                || [UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: "!")].contains(last)
            if isBehindSpace, byte == UInt8(ascii: "#") { isComment = true }
            if beginsToken, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
            return anywhere || beginsToken
        }
    }
}
