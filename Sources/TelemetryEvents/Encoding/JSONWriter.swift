// SPDX-License-Identifier: Apache-2.0

/// Writes JSON in the order in which members are added (RFC 8259).
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package mutating func object(_ body: (inout JSONWriter) -> Void) { enclosed("{", "}", body) }

    package mutating func array(_ body: (inout JSONWriter) -> Void) { enclosed("[", "]", body) }

    private mutating func enclosed(_ open: StaticString, _ close: StaticString, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    /// Names the value that comes next, with a name of which no byte is escaped.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append("\"")
        bytes.append(name)
        bytes.append("\":")
        needsComma = false
    }

    /// Names the value that comes next. A literal is a `StaticString`, which is not searched for what to escape.
    @_disfavoredOverload
    package mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(":")
        needsComma = false
    }

    /// Breaks the line before the next member or element.
    package mutating func line(indent: Int) {
        if needsComma { bytes.append(",") }
        bytes.append("\n")
        for _ in 0..<indent { bytes.append(UInt8(ascii: " ")) }
        needsComma = false
    }

    /// Breaks the line before a closing bracket.
    package mutating func lastLine(indent: Int) {
        needsComma = false
        line(indent: indent)
    }

    package mutating func value(_ text: String?) {
        separate()
        if let text { quote(text) } else { bytes.append("null") }
        needsComma = true
    }

    package mutating func value(_ number: UInt64) {
        separate()
        bytes.appendDecimal(number)
        needsComma = true
    }

    package mutating func value(_ number: Int64?) {
        separate()
        if let number { bytes.appendDecimal(number) } else { bytes.append("null") }
        needsComma = true
    }

    package mutating func value(_ truth: Bool?) {
        separate()
        bytes.append(truth.map { $0 ? "true" : "false" } ?? "null")
        needsComma = true
    }

    package mutating func value(_ time: Timestamp?) {
        separate()
        if let time {
            bytes.append("\"")
            time.appendRFC3339(to: &bytes)
            bytes.append("\"")
        } else {
            bytes.append("null")
        }
        needsComma = true
    }

    /// A value that is JSON already.
    package mutating func value(encoded json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Goes on with the elements that other writers wrote, each from its first one on.
    package mutating func elements(writtenBy writers: [JSONWriter]) {
        bytes.reserveCapacity(writers.reduce(bytes.count + writers.count) { $0 + $1.bytes.count })
        for writer in writers where !writer.bytes.isEmpty {
            separate()
            bytes.append(contentsOf: writer.bytes)
            needsComma = writer.needsComma
        }
    }

    /// What was written, with a line feed behind it.
    package consuming func asLine() -> [UInt8] {
        bytes.append("\n")
        return bytes
    }

    private mutating func separate() {
        if needsComma { bytes.append(",") }
        needsComma = false
    }

    private mutating func quote(_ text: String) {
        bytes.append("\"")
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if Self.mustBeEscaped(bytes.span.extracting(start...)) {
            bytes.removeSubrange(start...)
            escape(text)
        }
        bytes.append("\"")
    }

    private static func mustBeEscaped(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            let byte = text[index]
            if byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F { return true }
        }
        return false
    }

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(#"\""#)
            case UInt8(ascii: "\\"): bytes.append(#"\\"#)
            case 0x0A: bytes.append(#"\n"#)
            case 0x0D: bytes.append(#"\r"#)
            case 0x09: bytes.append(#"\t"#)
            case 0..<0x20, 0x7F:
                bytes.append(#"\u00"#)
                for digit in [byte >> 4, byte & 0xF] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
            default: bytes.append(byte)
            }
        }
    }
}
