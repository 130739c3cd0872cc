// SPDX-License-Identifier: Apache-2.0

/// A line without its wrapper. It is foreign if it has no component, no unknown marker and is no event.
///
/// The ranges refer to the input, or to the scratch buffer if `isInScratch` is set.
struct UnwrappedLine: Equatable, Sendable {
    /// When the line was written, if it says so.
    var stamp: LogStamp?
    /// The component of the plugin that wrote it.
    var component: LogComponent?
    /// Whether it has a marker `[DNP-...]` with an unknown name.
    var hasUnknownMarker = false
    /// The name of the host or device; empty if the wrapper has none.
    var device = 0..<0
    /// The process id; 0 if the wrapper has none.
    var process: UInt64 = 0
    /// The message without its marker and surrounding white space; for an event, the JSON. Of a foreign line it may be
    /// empty.
    var text = 0..<0
    /// Whether `device` and `text` refer to the scratch buffer, because ANSI sequences were removed or JSON escapes
    /// resolved.
    var isInScratch = false
    /// Whether the text is meant as JSON events.
    var isEvent = false
    /// The platform that the wrapper tells of.
    var platform = LogPlatform.unknown
    /// What stands between the heading and the marker of the message, in which there may be a time.
    var preamble = 0..<0
    /// Whether nothing but its message says whether it is one of an app's, as in `logcat -v raw` and for a process that
    /// writes other lines too.
    var isUnmarked = false

    /// Whether the plugin did not write it.
    var isForeign: Bool { component == nil && !hasUnknownMarker && !isEvent && !isUnmarked }

    /// Makes it a line of JSON events, forgetting what was read of it as anything else.
    ///
    /// - Parameter device: the host that its heading names; empty for none.
    mutating func become(eventIn range: Range<Int>, device: Range<Int> = 0..<0) {
        self = UnwrappedLine()
        self.device = device
        isEvent = true
        text = range
    }
}

/// The platform whose tool wrapped a line.
enum LogPlatform: UInt8, Sendable {
    case unknown = 0
    case android = 1
    case ios = 2

    /// The name of the platform in events.
    var name: StaticString {
        switch self {
        case .unknown: ""
        case .android: "android"
        case .ios: "ios"
        }
    }
}

extension UnwrappedLine {
    /// Whether the message begins like a JSON object.
    @inline(__always)
    func beginsObject(_ bytes: Span<UInt8>) -> Bool {
        LineCursor(text).peek(bytes) == UInt8(ascii: "{")
    }

    /// Finds a marker anywhere in text of unknown format, and the message after it; or else a JSON object.
    @inline(__always)
    mutating func findMessage(_ bytes: Span<UInt8>, _ cursor: LineCursor) {
        if let marker = bytes.opening(at: cursor.position, end: cursor.end) {
            read(marker, bytes, cursor.end)
        } else if let marker = bytes.firstMarker(in: cursor.rest),
            Self.isField(marker, bytes) || LogPreamble.fills(bytes, cursor.position..<marker.start, plainWords: 2)
        {
            read(marker, behind: cursor, bytes)
        } else {
            findObject(bytes, cursor)
        }
    }

    /// How far into a line an object may begin.
    private static let longestPreamble = 512

    /// Finds an object behind nothing but a preamble, behind what container runtimes (CRI) write before a whole message, or
    /// behind the name of a container and a bar, as `docker compose logs` writes it.
    @inline(never)
    private mutating func findObject(_ bytes: Span<UInt8>, _ start: LineCursor) {
        let near = start.position..<Swift.min(start.position + Self.longestPreamble, start.end)
        guard let brace = bytes.firstIndex(of: UInt8(ascii: "{"), in: near) else { return }
        let preamble = start.position..<brace
        var name = LineCursor(preamble)
        _ = name.word(bytes)
        name.skipSpaces(bytes)
        let isOfContainer =
            bytes.equals("stdout F ", in: preamble) || bytes.equals("stderr F ", in: preamble)
            || bytes.equals("| ", in: name.rest)
        // Behind a quote it is in a string, or the value of a member.
        guard isOfContainer || bytes.firstIndex(of: UInt8(ascii: "\""), in: preamble) == nil else { return }
        if isOfContainer || LogPreamble.fills(bytes, preamble) { text = brace..<start.end }
    }

    /// Reads the message of a known wrapper: a marker begins it, or a tag or category has already set the component.
    @inline(__always)
    mutating func readMessage(_ bytes: Span<UInt8>, _ message: LineCursor) {
        var cursor = message
        cursor.skipSpaces(bytes)
        if let marker = bytes.opening(at: cursor.position, end: cursor.end) {
            read(marker, bytes, cursor.end)
        } else if component != nil && !isUnmarked || hasUnknownMarker {
            text = cursor.rest
        } else if let marker = bytes.firstMarker(in: cursor.rest),
            LogPreamble.fills(bytes, cursor.position..<marker.start)
        {
            read(marker, behind: cursor, bytes)
        } else {
            text = cursor.rest
        }
    }

    /// Whether a marker begins a field of CSV without quotes (RFC 4180), which holds no comma.
    private static func isField(_ marker: LogMarker, _ bytes: Span<UInt8>) -> Bool {
        marker.start > 0 && isSeparator(bytes[marker.start - 1])
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") }

    /// Reads the message after a marker that something stands before: it ends with a field of CSV, or where a quote does.
    private mutating func read(_ marker: LogMarker, behind start: LineCursor, _ bytes: Span<UInt8>) {
        preamble = start.position..<marker.start
        guard let last = preamble.last else { return read(marker, bytes, start.end) }
        var end = start.end
        let before = bytes[last]
        if Self.isSeparator(before) {
            // Behind the commas of a message there is a space.
            var index = marker.end
            while index < end, bytes[index] != before || index + 1 < end && bytes[index + 1] == 0x20 { index += 1 }
            end = index
        } else if before == UInt8(ascii: "'") || before == UInt8(ascii: "`"), bytes[end - 1] == before {
            end -= 1
        }
        read(marker, bytes, end)
    }

    /// Reads the message after a marker.
    @inline(__always)
    mutating func read(_ marker: LogMarker, _ bytes: Span<UInt8>, _ end: Int) {
        component = marker.component
        isUnmarked = false
        hasUnknownMarker = marker.component == nil
        var cursor = LineCursor(marker.end, end)
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        cursor.skipSpaces(bytes)
        // A category in brackets stands before the prefix of the message.
        if bytes[marker.start] == UInt8(ascii: "["), cursor.peek(bytes) == UInt8(ascii: "["),
            let again = bytes.marker(at: cursor.position, end: end),
            let named = again.component
        {
            component = named
            hasUnknownMarker = false
            cursor.position = again.end
            _ = cursor.consume(UInt8(ascii: ":"), bytes)
            cursor.skipSpaces(bytes)
        }
        text = cursor.rest
    }
}

/// What loggers write between a wrapper and a marker: levels, groups in brackets, names with a colon, times,
/// punctuation.
///
/// Prose is not a preamble: such a line mentions the plugin but was not written by it.
enum LogPreamble {
    /// Whether the range contains nothing but a preamble.
    ///
    /// - Parameter plainWords: how many other words are allowed, such as the name of a program.
    fileprivate static func fills(_ bytes: Span<UInt8>, _ range: Range<Int>, plainWords: Int = 0) -> Bool {
        var cursor = LineCursor(range)
        var plainWords = plainWords
        cursor.skipSpaces(bytes)
        while !cursor.isAtEnd {
            if skipBrackets(bytes, &cursor) {
                cursor.skipSpaces(bytes)
                continue
            }
            if !isPreamble(bytes, cursor.word(bytes)) {
                plainWords -= 1
                guard plainWords >= 0 else { return endsCapacitorLine(bytes, range) }
            }
            cursor.skipSpaces(bytes)
        }
        return true
    }

    /// Whether the word is a log level.
    static func isLevel(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
        switch word.count {
        case 4: bytes.equalsIgnoringCase("info", in: word) || bytes.equalsIgnoringCase("warn", in: word)
        case 5:
            bytes.equalsIgnoringCase("debug", in: word) || bytes.equalsIgnoringCase("error", in: word)
                || bytes.equalsIgnoringCase("trace", in: word) || bytes.equalsIgnoringCase("fault", in: word)
                || bytes.equalsIgnoringCase("fatal", in: word)
        case 6: bytes.equalsIgnoringCase("notice", in: word)
        case 7:
            bytes.equalsIgnoringCase("warning", in: word) || bytes.equalsIgnoringCase("default", in: word)
                || bytes.equalsIgnoringCase("verbose", in: word)
        case 8: bytes.equalsIgnoringCase("critical", in: word)
        default: false
        }
    }

    /// Skips text in brackets; false where none begins.
    static func skipBrackets(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard let closing = closingByte(of: cursor.peek(bytes)) else { return false }
        return cursor.skip(through: closing, bytes)
    }

    /// Whether a word belongs to a preamble.
    static func isPreamble(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
        guard let last = word.last, let first = word.first else { return true }
        if bytes[last] == UInt8(ascii: ":") || bytes[first].isDigit || isLevel(bytes, word) { return true }
        // The console of Cordova: `index.js: Line 12 : text`.
        if bytes.equals("Line", in: word) { return true }
        for index in word where bytes[index].isLetterOrDigit { return false }
        return true
    }

    private static func closingByte(of opening: UInt8) -> UInt8? {
        switch opening {
        case UInt8(ascii: "["): UInt8(ascii: "]")
        case UInt8(ascii: "("): UInt8(ascii: ")")
        case UInt8(ascii: "<"): UInt8(ascii: ">")
        default: nil
        }
    }

    /// Capacitor's console on Android: `File: main.js - Line 333 - Msg:`.
    private static func endsCapacitorLine(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let tail = "- Msg: " as StaticString
        return range.count >= tail.utf8CodeUnitCount
            && bytes.equals(tail, in: range.upperBound - tail.utf8CodeUnitCount..<range.upperBound)
    }
}

extension LineCursor {
    /// Advances past the next such byte; false if there is none, without moving.
    mutating func skip(through byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        var index = position
        while index < end {
            if bytes[index] == byte {
                position = index + 1
                return true
            }
            index += 1
        }
        return false
    }
}
