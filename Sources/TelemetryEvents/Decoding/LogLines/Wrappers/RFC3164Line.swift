// SPDX-License-Identifier: Apache-2.0

/// `<13>Nov 15 05:48:00 host App[4242]: message`, with or without the priority, the host and the process id.
enum RFC3164Line {
    /// Takes what follows the time; false when no host or application is there.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        if let heading = ProcessHeading(bytes, cursor), !heading.hasThread {
            line.process = heading.process
            line.device = heading.device(bytes)
            if !heading.skipSeparator(bytes, &cursor) { cursor.position = heading.end }
            line.takeAppleMessage(bytes, cursor)
            return true
        }
        guard cursor.peek(bytes) != UInt8(ascii: "[") else { return false }
        let first = cursor.word(bytes)
        guard let last = first.last else { return false }
        if bytes[last] == UInt8(ascii: ":") {
            line.takeMessage(bytes, cursor)
            return true
        }
        line.device = first
        cursor.skipSpaces(bytes)
        var ahead = cursor
        if let last = ahead.word(bytes).last, bytes[last] == UInt8(ascii: ":") {
            line.takeMessage(bytes, ahead)
        } else {
            line.takeAnywhere(bytes, cursor)
        }
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
