// SPDX-License-Identifier: Apache-2.0

/// `11-15 05:40:00.000  4242  4260 I DNP-FETCH: message`; `-v uid` puts a user in front of the process id.
enum LogcatThreadtimeLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        if !cursor.peek(bytes).isDigit {
            _ = cursor.word(bytes)
            cursor.skipSpaces(bytes)
        }
        var process: UInt64 = 0
        var thread: UInt64 = 0
        var numbers = 0
        while numbers < 3, let number = cursor.digits(bytes) {
            process = thread
            thread = number
            numbers += 1
            if numbers == 1, cursor.peek(bytes) == UInt8(ascii: "-") {
                return AndroidStudioLine.takeRest(bytes, cursor, process: number, into: &line)
            }
            _ = cursor.consume(UInt8(ascii: ":"), bytes)
            guard cursor.consume(UInt8(ascii: " "), bytes) else { return false }
            cursor.skipSpaces(bytes)
        }
        guard numbers >= 2, LogcatTag.isPriority(cursor.peek(bytes)), cursor.peek(bytes, 1) == UInt8(ascii: " ") else {
            return false
        }
        cursor.position += 2
        cursor.skipSpaces(bytes)
        guard LogcatTag.takeTagged(bytes, cursor, into: &line) else { return false }
        line.process = process
        return true
    }
}
