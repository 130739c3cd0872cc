// SPDX-License-Identifier: Apache-2.0

/// What a line says of the lines behind it.
enum LineHeader: Equatable, Sendable {
    /// A header of `logcat -v long`, whose message they are.
    case logcat(UnwrappedLine)
    /// The time of an entry of the journal, whose fields they are.
    case journal(LogStamp)
}

extension LineUnwrapper {
    /// Reads a line after a header.
    ///
    /// - Returns: whether the line belongs to what the header begins, or ends it.
    @inline(never)
    mutating func readAfterHeader(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) -> Bool {
        switch header {
        case .logcat(let header):
            guard readLong(bytes, LineCursor(range), header, into: &line) else { return false }
            readObject(ofMessageIn: bytes, range, scratch: &scratch, into: &line)
        case .journal(let stamp):
            guard readField(bytes, LineCursor(range), stamp, into: &line) else { return false }
            readObject(ofMessageIn: bytes, range, scratch: &scratch, into: &line)
            // It may be one of the service's own entries.
            if line.isEvent { line = UnwrappedLine() }
        case nil: return false
        }
        return true
    }

    /// Reads a line after a header of `logcat -v long`.
    private mutating func readLong(
        _ bytes: Span<UInt8>,
        _ cursor: LineCursor,
        _ header: UnwrappedLine,
        into line: inout UnwrappedLine
    ) -> Bool {
        var ahead = cursor
        var stamp: LogStamp?
        if ahead.consume(UInt8(ascii: "["), bytes) { ahead.skipSpaces(bytes) }
        if cursor.isAtEnd || bytes.hasDivider(at: cursor.position, end: cursor.end) {
            self.header = nil
            return true
        }
        if ahead.peek(bytes).isDigit, stamps.logcatTime(bytes, &ahead, &stamp) {
            self.header = nil
            return false
        }
        line = header
        line.readMessage(bytes, cursor)
        return true
    }

    /// Reads a line of an entry of the journal with a field on each line.
    private mutating func readField(
        _ bytes: Span<UInt8>,
        _ cursor: LineCursor,
        _ stamp: LogStamp,
        into line: inout UnwrappedLine
    ) -> Bool {
        if let next = JournalEntryLine.time(bytes, cursor) {
            header = .journal(next)
        } else if let message = JournalEntryLine.message(bytes, cursor) {
            line.stamp = stamp
            line.findMessage(bytes, LineCursor(message))
        } else {
            header = nil
            return cursor.isAtEnd
        }
        return true
    }
}

/// An entry of the journal with a field on each line, as `journalctl -o verbose` and `-o export` write it.
///
/// Source: systemd, "Journal Export Formats".
enum JournalEntryLine {
    /// The bytes of the length in front of a value; those that are zero may be gone.
    private static let lengthBytes = 8

    /// Parses `__REALTIME_TIMESTAMP=1763185680000000`, which stands before the fields of an exported entry; nil for any other
    /// line.
    static func time(_ bytes: Span<UInt8>, _ line: LineCursor) -> LogStamp? {
        let name = "__REALTIME_TIMESTAMP=" as StaticString
        guard line.rest.count > name.utf8CodeUnitCount else { return nil }
        var cursor = LineCursor(line.position + name.utf8CodeUnitCount, line.end)
        guard bytes.equals(name, in: line.position..<cursor.position), let microseconds = cursor.digits(bytes) else {
            return nil
        }
        return LogStamp(wallMicroseconds: Int64(microseconds), offsetSeconds: 0)
    }

    /// Whether `[s=...;i=...]` stands here, which `-o verbose` writes behind the time.
    static func hasCursor(_ bytes: Span<UInt8>, _ rest: LineCursor) -> Bool {
        rest.peek(bytes) == UInt8(ascii: "[") && rest.peek(bytes, 1) == UInt8(ascii: "s")
            && rest.peek(bytes, 2) == UInt8(ascii: "=") && bytes[rest.end - 1] == UInt8(ascii: "]")
    }

    /// The value of `MESSAGE` where the line holds one, empty for another field; nil where it is no line of an entry.
    ///
    /// A value with control characters stands on the line behind its name, after its length.
    static func message(_ bytes: Span<UInt8>, _ line: LineCursor) -> Range<Int>? {
        var cursor = line
        cursor.skipSpaces(bytes)
        let start = cursor.position
        while isNamePart(cursor.peek(bytes)) { cursor.position += 1 }
        let name = start..<cursor.position
        if !name.isEmpty, cursor.isAtEnd { return line.end..<line.end }
        if !name.isEmpty, cursor.consume(UInt8(ascii: "="), bytes) {
            return bytes.equals("MESSAGE", in: name) ? cursor.rest : line.end..<line.end
        }
        let length = line.position..<Swift.min(line.position + lengthBytes, line.end)
        let value = LineCursor((length.last { bytes[$0] == 0 }).map { $0 + 1 } ?? line.position, line.end)
        return bytes.opening(at: value.position, end: value.end) == nil ? nil : value.rest
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte.isDigit || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }
}
