// SPDX-License-Identifier: Apache-2.0

/// `11-15 05:40:00.000  4242  4260 I DNP-FETCH: message`; `-v uid` adds a user before the process id.
enum LogcatThreadtimeLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
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
                return AndroidStudioLine.readRest(bytes, cursor, process: number, into: &line)
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
        guard LogcatTag.readTagged(bytes, cursor, into: &line) else { return false }
        line.process = process
        return true
    }
}

/// `11-15 05:40:00.000 I/DNP-FETCH( 4242): message`
enum LogcatTimeLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        // The former Dalvik debug monitor writes a colon after the time.
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        cursor.skipSpaces(bytes)
        return LogcatBriefLine.readRest(bytes, cursor, into: &line)
    }
}

/// `I/DNP-FETCH( 4242): message`, `-v tag`: `I/DNP-FETCH: message`, `-v process`: `I( 4242) message  (DNP-FETCH)`.
enum LogcatBriefLine {
    /// Parses a line, or what follows its time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        guard LogcatTag.isPriority(cursor.peek(bytes)) else { return false }
        cursor.position += 1
        if cursor.peek(bytes) == UInt8(ascii: "(") { return readProcessLine(bytes, cursor, into: &line) }
        guard cursor.consume(UInt8(ascii: "/"), bytes) else { return false }
        let start = cursor.position
        while !cursor.isAtEnd, cursor.position - start < LogcatTag.longest {
            switch bytes[cursor.position] {
            case UInt8(ascii: "("):
                var ahead = cursor
                if let ids = LogcatProcess(bytes, &ahead), ahead.consume(UInt8(ascii: ":"), bytes) {
                    line.process = ids.last
                    LogcatTag.read(start..<cursor.position, bytes, into: &line)
                    line.readMessage(bytes, ahead)
                    return true
                }
            case UInt8(ascii: ":") where cursor.position + 1 >= cursor.end || cursor.peek(bytes, 1) == 0x20:
                LogcatTag.read(start..<cursor.position, bytes, into: &line)
                cursor.position += 1
                line.readMessage(bytes, cursor)
                return true
            default: break
            }
            cursor.position += 1
        }
        return false
    }

    /// `( 4242) message  (TAG)`, or `( 4242: 4260) message` of `-v thread`, which has no tag.
    private static func readProcessLine(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        guard let ids = LogcatProcess(bytes, &cursor), cursor.consume(UInt8(ascii: " "), bytes) else { return false }
        line.process = ids.first ?? ids.last
        line.platform = .android
        var end = cursor.end
        if let tag = lastGroup(bytes, cursor.rest) {
            line.process = ids.last
            end = tag.lowerBound - 3
            LogcatTag.read(tag, bytes, into: &line)
        }
        line.readMessage(bytes, LineCursor(cursor.position, end))
        return true
    }

    /// The content of the parentheses that end the text after two spaces.
    private static func lastGroup(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        guard let last = range.last, bytes[last] == UInt8(ascii: ")") else { return nil }
        var index = last
        while index > range.lowerBound + 2, last - index <= LogcatTag.longest {
            index -= 1
            if bytes[index] == UInt8(ascii: "("), bytes[index - 1] == 0x20, bytes[index - 2] == 0x20 {
                return index + 1..<last
            }
        }
        return nil
    }
}

/// `[ 11-15 05:40:00.000  4242: 4260 I/DNP-FETCH ]`, then the lines of the message, then an empty line.
enum LogcatLongLine {
    /// Parses what follows the time in a header; nil if it is none.
    static func header(_ bytes: Span<UInt8>, _ rest: LineCursor, stamp: LogStamp?) -> UnwrappedLine? {
        guard rest.end > rest.position, bytes[rest.end - 1] == UInt8(ascii: "]") else { return nil }
        var cursor = LineCursor(rest.position, rest.end - 1)
        cursor.skipSpaces(bytes)
        var ids = LogcatProcess()
        while !(LogcatTag.isPriority(cursor.peek(bytes)) && cursor.peek(bytes, 1) == UInt8(ascii: "/")) {
            guard ids.readNext(bytes, &cursor) else { return nil }
            _ = cursor.consume(UInt8(ascii: ":"), bytes)
            cursor.skipSpaces(bytes)
        }
        guard let process = ids.first else { return nil }
        cursor.position += 2
        var header = UnwrappedLine()
        header.stamp = stamp
        header.process = process
        LogcatTag.read(cursor.rest, bytes, into: &header)
        return header
    }
}

/// Android Studio's view of logcat: `4242-4260  DNP-FETCH  com.example.app  I  message`, the same without the app, before
/// 2022 `4242-4260/com.example.app I/DNP-FETCH: message`, both after a time.
private enum AndroidStudioLine {
    /// Parses what follows the process id, from the hyphen on; false if the line has another format.
    static func readRest(
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
            guard LogcatBriefLine.readRest(bytes, cursor, into: &line) else { return false }
            line.process = process
            return true
        }
        cursor.skipSpaces(bytes)
        let tag = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        // The view may hide the name of the app.
        if !(LogcatTag.isPriority(cursor.peek(bytes)) && cursor.peek(bytes, 1) == UInt8(ascii: " ")) {
            _ = cursor.word(bytes)
            cursor.skipSpaces(bytes)
        }
        guard LogcatTag.isPriority(cursor.peek(bytes)), cursor.peek(bytes, 1) == UInt8(ascii: " ") else { return false }
        cursor.position += 2
        line.process = process
        LogcatTag.read(tag, bytes, into: &line)
        line.readMessage(bytes, cursor)
        return true
    }
}

/// The tag of a logcat line, which replaces the marker: `DNP-FETCH`, padded with spaces.
enum LogcatTag {
    /// The maximum length of a tag.
    static let longest = 256

    /// Whether the letter is a logcat priority.
    @inline(__always)
    static func isPriority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "V"), UInt8(ascii: "D"), UInt8(ascii: "I"), UInt8(ascii: "W"), UInt8(ascii: "E"),
            UInt8(ascii: "F"), UInt8(ascii: "S"), UInt8(ascii: "A"):
            true
        default: false
        }
    }

    /// Parses `tag: message`; false if there is no colon.
    @inline(__always)
    fileprivate static func readTagged(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool
    {
        let start = rest.position
        let limit = Swift.min(rest.end, start + longest)
        var index = start
        while index < limit {
            if bytes[index] == UInt8(ascii: ":"), index + 1 == rest.end || bytes[index + 1] == UInt8(ascii: " ") {
                read(start..<index, bytes, into: &line)
                line.readMessage(bytes, LineCursor(index + 1, rest.end))
                return true
            }
            index += 1
        }
        return false
    }

    /// Sets the component that the tag names.
    @inline(__always)
    static func read(_ tag: Range<Int>, _ bytes: Span<UInt8>, into line: inout UnwrappedLine) {
        line.platform = .android
        guard bytes.hasMarkerHead(at: tag.lowerBound, end: tag.upperBound) else {
            if bytes.hasRefreshHead(at: tag.lowerBound), bytes.isRefreshName(bytes.trimmed(tag)) {
                line.component = .backgroundRefresh
            }
            return
        }
        var end = tag.upperBound
        while end > tag.lowerBound, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        let name = tag.lowerBound + 4
        if let found = bytes.componentName(at: name, end: end), name + found.length == end {
            line.component = found.component
        } else {
            line.hasUnknownMarker = name < end && bytes.endOfMarkerName(at: name, end: end) == end
        }
    }
}

/// The ids that logcat writes: the process, possibly after a user or before a thread.
private struct LogcatProcess {
    /// The last id but one, if there are several.
    private(set) var first: UInt64?
    /// The last id.
    private(set) var last: UInt64 = 0
    private var count = 0

    init() {}

    /// Consumes `( 4242)`, `(10123: 4242)` or `(u0_a123: 4242)`; nil for anything else.
    init?(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) {
        guard cursor.consume(UInt8(ascii: "("), bytes) else { return nil }
        repeat {
            cursor.skipSpaces(bytes)
            guard readNext(bytes, &cursor) else { return nil }
        } while cursor.consume(UInt8(ascii: ":"), bytes)
        guard cursor.consume(UInt8(ascii: ")"), bytes), count > 0 else { return nil }
    }

    /// Consumes a number, or a user name, which does not count as an id; at most three.
    mutating func readNext(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard count < 3 else { return false }
        let start = cursor.position
        if let number = cursor.digits(bytes), !isName(cursor.peek(bytes)) {
            first = count > 0 ? last : nil
            last = number
            count += 1
            return true
        }
        while isName(cursor.peek(bytes)) { cursor.position += 1 }
        return count == 0 && cursor.position > start && cursor.position - start <= 32
    }

    private func isName(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_")
    }
}
