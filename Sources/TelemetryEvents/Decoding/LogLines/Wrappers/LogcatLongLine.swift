// SPDX-License-Identifier: Apache-2.0

/// `[ 11-15 05:40:00.000  4242: 4260 I/DNP-FETCH ]`, then the lines of the message, then an empty line.
enum LogcatLongLine {
    /// Takes what follows the time in a header; nil when it is none.
    static func header(_ bytes: Span<UInt8>, _ rest: LineCursor, stamp: LogStamp?) -> UnwrappedLine? {
        guard rest.end > rest.position, bytes[rest.end - 1] == UInt8(ascii: "]") else { return nil }
        var cursor = LineCursor(rest.position, rest.end - 1)
        cursor.skipSpaces(bytes)
        var ids = LogcatProcess()
        while !(LogcatTag.isPriority(cursor.peek(bytes)) && cursor.peek(bytes, 1) == UInt8(ascii: "/")) {
            guard ids.takeNext(bytes, &cursor) else { return nil }
            _ = cursor.consume(UInt8(ascii: ":"), bytes)
            cursor.skipSpaces(bytes)
        }
        guard let process = ids.first else { return nil }
        cursor.position += 2
        var header = UnwrappedLine()
        header.stamp = stamp
        header.process = process
        LogcatTag.take(cursor.rest, bytes, into: &header)
        return header
    }
}
