// SPDX-License-Identifier: Apache-2.0

extension LineUnwrapper {
    /// A line of syslog that begins with its priority.
    mutating func takeSyslog(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = start
        guard RFC3164Line.skipPriority(bytes, &cursor) else { return false }
        if RFC5424Line.takeRest(bytes, cursor, stamps: &stamps, into: &line) { return true }
        if takeMonth(bytes, cursor, into: &line) { return true }
        line.stamp = stamps.dateAndTime(bytes, &cursor)
        if line.stamp == nil || !RFC3164Line.takeRest(bytes, cursor, into: &line) {
            StampedLine.takeRest(bytes, cursor, into: &line)
        }
        return true
    }

    /// A line that begins with the name of a month: syslog, or idevicesyslog.
    mutating func takeMonth(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = start
        guard let stamp = stamps.namedMonth(bytes, &cursor) else { return false }
        line.stamp = stamp
        let hasDecimals = bytes.contains(UInt8(ascii: "."), in: start.position..<cursor.position)
        if !IDeviceSyslogLine.takeRest(bytes, cursor, hasDecimals: hasDecimals, into: &line),
            !RFC3164Line.takeRest(bytes, cursor, into: &line)
        {
            StampedLine.takeRest(bytes, cursor, into: &line)
        }
        return true
    }

    /// What follows the time of `journalctl -o short-full`, which names the zone.
    mutating func takeWeekdayRest(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        cursor.skipSpaces(bytes)
        if line.stamp?.offsetSeconds == nil {
            _ = cursor.word(bytes)
        }
        if !RFC3164Line.takeRest(bytes, cursor, into: &line) { StampedLine.takeRest(bytes, cursor, into: &line) }
    }

    /// A message of syslog behind its length, as streams frame it (RFC 6587).
    mutating func takeFramed(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        if cursor.digits(bytes) != nil, cursor.consume(UInt8(ascii: " "), bytes),
            cursor.peek(bytes) == UInt8(ascii: "<"), takeSyslog(bytes, cursor, into: &line)
        {
            return
        }
        line.takeAnywhere(bytes, start)
    }
}

extension Span<UInt8> {
    /// Whether the byte is in the range.
    fileprivate func contains(_ byte: UInt8, in range: Range<Int>) -> Bool {
        for index in range where self[index] == byte { return true }
        return false
    }
}
