// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15 05:48:00.123456+0000 0x1f2e  Default  0x0  4242  0  App: (Library) [subsystem:category] message`
enum AppleDefaultLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard skipHexadecimal(bytes, &cursor) else { return false }
        cursor.skipSpaces(bytes)
        _ = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        // A state dump is a type of two words.
        if cursor.peek(bytes) != UInt8(ascii: "0") { _ = cursor.word(bytes) }
        cursor.skipSpaces(bytes)
        guard skipHexadecimal(bytes, &cursor) else { return false }
        cursor.skipSpaces(bytes)
        guard let process = cursor.digits(bytes) else { return false }
        cursor.skipSpaces(bytes)
        guard cursor.digits(bytes) != nil else { return false }
        line.process = process
        while cursor.skip(through: UInt8(ascii: ":"), bytes) {
            if cursor.peek(bytes) == UInt8(ascii: " ") {
                line.takeAppleMessage(bytes, cursor)
                break
            }
        }
        return true
    }

    private static func skipHexadecimal(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard cursor.peek(bytes) == UInt8(ascii: "0"), cursor.peek(bytes, 1) == UInt8(ascii: "x") else { return false }
        cursor.position += 2
        while cursor.peek(bytes).isHexDigit { cursor.position += 1 }
        return cursor.peek(bytes) == UInt8(ascii: " ")
    }
}
