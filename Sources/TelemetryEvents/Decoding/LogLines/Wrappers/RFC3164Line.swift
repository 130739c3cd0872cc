// SPDX-License-Identifier: Apache-2.0

/// `<13>Nov 15 05:48:00 host App[4242]: message`, with or without the priority, the host and the process id.
enum RFC3164Line {
    /// Takes what follows the time; false when no host or application is there.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        if AppleSyslogLine.takeRest(bytes, cursor, into: &line) { return true }
        guard cursor.peek(bytes) != UInt8(ascii: "[") else { return false }
        let first = cursor.word(bytes)
        guard let last = first.last else { return false }
        guard bytes[last] != UInt8(ascii: ":") else {
            line.takeMessage(bytes, cursor)
            return true
        }
        line.device = first
        cursor.skipSpaces(bytes)
        var ahead = cursor
        if let last = ahead.word(bytes).last, bytes[last] == UInt8(ascii: ":") { cursor = ahead }
        line.takeMessage(bytes, cursor)
        return true
    }

    /// Consumes `<priority>`; false when none is there.
    static func skipPriority(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        var ahead = cursor
        guard ahead.consume(UInt8(ascii: "<"), bytes), let priority = ahead.digits(bytes), priority <= 191,
            ahead.consume(UInt8(ascii: ">"), bytes)
        else { return false }
        cursor = ahead
        return true
    }
}
