// SPDX-License-Identifier: Apache-2.0

/// `<165>1 2025-11-15T05:48:00.003Z host app 4242 ID47 [id name="value"] message`
enum RFC5424Line {
    /// Parses what follows the priority; false if the line has another format.
    static func readRest(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        guard let version = cursor.digits(bytes), version >= 1, version <= 99,
            cursor.consume(UInt8(ascii: " "), bytes)
        else { return false }
        if cursor.peek(bytes) == UInt8(ascii: "-") {
            cursor.position += 1
        } else {
            guard let stamp = stamps.dateAndTime(bytes, &cursor) else { return false }
            line.stamp = stamp
        }
        let header = cursor
        if readHeader(bytes, &cursor, into: &line) {
            line.readMessage(bytes, cursor)
        } else {
            line.findMessage(bytes, header)
        }
        return true
    }

    /// Parses the fields between time and message; false if they are malformed.
    private static func readHeader(
        _ bytes: Span<UInt8>,
        _ cursor: inout LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard let host = field(bytes, &cursor) else { return false }
        if !isNil(bytes, host) { line.device = host }
        guard let program = field(bytes, &cursor), let process = field(bytes, &cursor) else { return false }
        line.noteProgram(program, bytes)
        var digits = LineCursor(process)
        if let number = digits.digits(bytes), digits.isAtEnd { line.process = number }
        guard field(bytes, &cursor) != nil, cursor.consume(UInt8(ascii: " "), bytes) else { return false }
        guard skipStructuredData(bytes, &cursor) else { return false }
        skipByteOrderMark(bytes, &cursor)
        return true
    }

    /// Consumes a space and the field after it.
    private static func field(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Range<Int>? {
        guard cursor.consume(UInt8(ascii: " "), bytes) else { return nil }
        let word = cursor.word(bytes)
        return word.isEmpty ? nil : word
    }

    private static func isNil(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.count == 1 && bytes[range.lowerBound] == UInt8(ascii: "-")
    }

    /// Consumes `-` or the bracketed elements, whose values may contain escaped quotes and brackets.
    private static func skipStructuredData(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        if cursor.consume(UInt8(ascii: "-"), bytes) {
            cursor.skipSpaces(bytes)
            return true
        }
        guard cursor.peek(bytes) == UInt8(ascii: "[") else { return false }
        while cursor.peek(bytes) == UInt8(ascii: "["), bytes.marker(at: cursor.position, end: cursor.end) == nil {
            guard skipElement(bytes, &cursor) else { return false }
        }
        cursor.skipSpaces(bytes)
        return true
    }

    private static func skipElement(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        var isQuoted = false
        while !cursor.isAtEnd {
            let byte = bytes[cursor.position]
            cursor.position += 1
            switch byte {
            case UInt8(ascii: "\\") where isQuoted: cursor.position += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "]") where !isQuoted: return true
            default: break
            }
        }
        return false
    }

    private static func skipByteOrderMark(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) {
        if cursor.peek(bytes) == 0xEF, cursor.peek(bytes, 1) == 0xBB, cursor.peek(bytes, 2) == 0xBF {
            cursor.position += 3
        }
    }
}

/// `<13>Nov 15 05:48:00 host App[4242]: message`; priority, host and process id are optional.
enum RFC3164Line {
    /// Parses what follows the time; false if there is no host or application.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        if let heading = ProcessHeading(bytes, cursor), !heading.hasThread {
            line.process = heading.process
            line.device = heading.device(bytes)
            line.noteProgram(heading.program(bytes), bytes)
            if !heading.skipSeparator(bytes, &cursor) { cursor.position = heading.end }
            line.readAppleMessage(bytes, cursor)
            return true
        }
        guard cursor.peek(bytes) != UInt8(ascii: "["), cursor.peek(bytes) != UInt8(ascii: "{") else { return false }
        let first = cursor.word(bytes)
        guard let last = first.last else { return false }
        if bytes[last] == UInt8(ascii: ":") {
            line.noteProgram(first.dropLast(), bytes)
            line.readMessage(bytes, cursor)
            return true
        }
        line.device = first
        cursor.skipSpaces(bytes)
        var ahead = cursor
        let program = ahead.word(bytes)
        if cursor.peek(bytes) != UInt8(ascii: "{"), let last = program.last, bytes[last] == UInt8(ascii: ":") {
            line.noteProgram(program.dropLast(), bytes)
            line.readMessage(bytes, ahead)
        } else {
            line.findMessage(bytes, cursor)
        }
        return true
    }

    /// Consumes `<priority>`; false if there is none.
    static func skipPriority(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        var ahead = cursor
        guard ahead.consume(UInt8(ascii: "<"), bytes), let priority = ahead.digits(bytes), priority <= 191,
            ahead.consume(UInt8(ascii: ">"), bytes)
        else { return false }
        cursor = ahead
        return true
    }
}

/// `2025-11-15T05:48:00+0000 host app[4242]: message`, and the other short formats of journalctl.
enum JournalShortLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        RFC3164Line.readRest(bytes, rest, into: &line)
    }

    /// Consumes the weekday that `short-full` writes before the date.
    static func skipWeekday(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard cursor.peek(bytes, 3) == UInt8(ascii: " "), cursor.peek(bytes, 4).isLetterOrDigit else { return false }
        switch bytes.paddedWord(at: cursor.position) & 0xFF_FFFF | 0x20_2020 {
        case 0x6E_6F6D, 0x65_7574, 0x64_6577, 0x75_6874, 0x69_7266, 0x74_6173, 0x6E_7573:  // mon, tue ... sun
            cursor.position += 4
            return true
        default: return false
        }
    }
}

/// `{"MESSAGE":"message","__REALTIME_TIMESTAMP":"1763185680000000","_PID":"4242","_HOSTNAME":"host"}`
enum JournalJSONLine {
    /// Reads an object whose texts have no escapes. A message that is an event may be one of the service's own entries;
    /// one of structlog came by way of rsyslog.
    static func read(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) {
        guard let message = object.message else { return }
        if let time = object.sourceRealtime ?? object.realtime {
            var cursor = LineCursor(time)
            if let microseconds = cursor.digits(bytes) {
                line.stamp = LogStamp(wallMicroseconds: Int64(microseconds), offsetSeconds: 0)
            }
        }
        if let process = object.process ?? object.syslogProcess {
            var cursor = LineCursor(process)
            line.process = cursor.digits(bytes) ?? 0
        }
        line.device = object.hostname ?? 0..<0
        if let identifier = object.syslogIdentifier ?? object.command { line.noteProgram(identifier, bytes) }
        line.readMessage(bytes, ofMember: message, stamps: &stamps)
    }
}

/// `2025-11-15T05:48:00Z [DNP-FETCH] message`, `[2025-11-15 05:48:00.123] INFO [DNP-FETCH] message`
enum StampedLine {
    /// Parses what follows the time: the marker is anywhere near.
    @inline(__always)
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) {
        var cursor = rest
        _ = cursor.consume(UInt8(ascii: "]"), bytes)
        cursor.skipSpaces(bytes)
        line.findMessage(bytes, cursor)
    }
}
