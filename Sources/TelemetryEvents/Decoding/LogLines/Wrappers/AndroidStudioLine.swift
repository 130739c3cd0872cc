// SPDX-License-Identifier: Apache-2.0

/// What Android Studio's window shows of logcat: `4242-4260  DNP-FETCH  com.example.app  I  message`, before 2022
/// `4242-4260/com.example.app I/DNP-FETCH: message`, both behind a time.
enum AndroidStudioLine {
    /// Takes what follows the process id, from the hyphen on; false when it is in another wrapper.
    static func takeRest(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        process: UInt64,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        guard cursor.consume(UInt8(ascii: "-"), bytes), cursor.digits(bytes) != nil else { return false }
        if cursor.consume(UInt8(ascii: "/"), bytes) {
            _ = cursor.word(bytes)
            cursor.skipSpaces(bytes)
            guard LogcatBriefLine.takeRest(bytes, cursor, into: &line) else { return false }
            line.process = process
            return true
        }
        cursor.skipSpaces(bytes)
        let tag = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        _ = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        guard LogcatTag.isPriority(cursor.peek(bytes)), cursor.peek(bytes, 1) == UInt8(ascii: " ") else { return false }
        cursor.position += 2
        line.process = process
        LogcatTag.take(tag, bytes, into: &line)
        line.takeMessage(bytes, cursor)
        return true
    }
}
