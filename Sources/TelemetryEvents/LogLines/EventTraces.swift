// SPDX-License-Identifier: Apache-2.0

/// Traces of JSON events in a line that is no whole event: an event without its kind, an array, an envelope, or what is
/// left of one that was cut.
///
/// A line with such traces is decoded as JSON, so that it is refused with a reason where it cannot be taken. The JSON of
/// other programs stays foreign: it has no name that only events have, and it has names of its own.
struct EventTraces {
    /// Names that hardly anything but an event has.
    private static let telling: [StaticString] = [
        "event", "scheduleId", "scheduledFor", "notificationTime", "earliestBeginDate",
        "fetchDurationMs", "usedCached", "scheduleHash", "willRetry",
    ]

    private var hasTellingName = false
    private var hasKnownName = false
    private var hasUnknownName = false
    /// A name that no event has.
    private var hasForeignName = false
    /// The API's answers have it, too, among names of their own.
    private var hasAnswerName = false
    private var hasErrorCode = false
    private var hasMessage = false
    private var hasTimestamp = false
    /// The brackets that are open at the end of the line; below 0 if their beginning is missing.
    private var depth = 0
    /// The depth down to which names are read.
    private var deepest = 0
    /// Whether the value of `event` is a kind.
    private var hasKind = false
    /// Whether the JSON is the message of some program, whose own `event` and other names may be anything.
    private var isMessage = false

    private var areFound: Bool {
        if isMessage { return hasKind || hasTellingName && hasTimestamp || isPluginError }
        if hasTellingName || isPluginError { return true }
        return hasAnswerName && !hasForeignName || hasKnownName && !hasUnknownName
    }
    /// Whether it is an error object of the plugin.
    private var isPluginError: Bool { hasErrorCode && hasMessage && hasTimestamp }

    /// Whether a line that begins like an object or an array of objects has traces of events.
    static func areBegun(in bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        var traces = EventTraces()
        var cursor = LineCursor(line)
        let brackets = cursor.skipBrackets(bytes)
        traces.deepest = brackets + 1
        traces.read(bytes, LineCursor(line))
        return traces.areFound
    }

    /// Whether a message behind a heading, which begins like an object, has a kind of event, or a name that only events
    /// have.
    static func areBegun(inMessage text: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var traces = EventTraces()
        traces.isMessage = true
        traces.deepest = 1
        traces.read(bytes, LineCursor(text))
        return traces.areFound
    }

    /// Whether a line that begins in no known way is the end of events that were cut, or belongs to an event that was
    /// written over several lines.
    @inline(__always)
    static func areContinued(in bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        guard let first = line.first, let last = line.last else { return false }
        guard
            bytes[first] == UInt8(ascii: "\"") || bytes[last] == UInt8(ascii: "}") || bytes[last] == UInt8(ascii: "]")
        else { return false }
        return areContinuedThere(in: bytes, line)
    }

    @inline(never)
    private static func areContinuedThere(in bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        // Lines of Android often end with a brace, and seldom have a quote.
        guard bytes.firstIndex(of: UInt8(ascii: "\""), in: line) != nil else { return false }
        var cursor = LineCursor(line)
        if cursor.consume(UInt8(ascii: "\""), bytes) {
            var traces = EventTraces()
            traces.readName(bytes, &cursor)
            if traces.hasTellingName { return true }
        }
        var traces = EventTraces()
        traces.read(bytes, outsideString(bytes, line))
        return traces.depth < 0 && traces.areFound
    }

    /// The line from where it is outside a string; its end is outside one.
    private static func outsideString(_ bytes: Span<UInt8>, _ line: Range<Int>) -> LineCursor {
        var cursor = LineCursor(line)
        var firstQuote: Int?
        var isInside = false
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: "\\"): cursor.position += 1
            case UInt8(ascii: "\""):
                firstQuote = firstQuote ?? cursor.position
                isInside.toggle()
            default: break
            }
            cursor.position += 1
        }
        guard isInside, let firstQuote else { return LineCursor(line) }
        return LineCursor(firstQuote + 1, line.upperBound)
    }

    /// Reads brackets, and the names of members down to a depth.
    private mutating func read(_ bytes: Span<UInt8>, _ start: LineCursor) {
        var cursor = start
        var previous = UInt8(ascii: ",")
        while !cursor.isAtEnd {
            let byte = bytes[cursor.position]
            cursor.position += 1
            switch byte {
            case UInt8(ascii: "\""):
                let isName = previous == UInt8(ascii: ",") || previous == UInt8(ascii: "{")
                if isName, depth <= deepest {
                    readName(bytes, &cursor)
                } else {
                    _ = Self.skipString(bytes, &cursor)
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            if byte > UInt8(ascii: " ") { previous = byte }
        }
    }

    /// Reads a string behind its opening quote that is a name if a colon follows, or the line's end.
    private mutating func readName(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) {
        let start = cursor.position
        guard Self.skipString(bytes, &cursor) else {
            let cut = start..<max(start, cursor.end)
            if EventField.allCases.contains(where: { !$0.isCommonName && Self.begins($0, bytes, cut) }) {
                hasKnownName = true
            } else {
                hasUnknownName = true
            }
            return
        }
        var name = start..<cursor.position - 1
        cursor.skipSpaces(bytes)
        guard cursor.isAtEnd || cursor.consume(UInt8(ascii: ":"), bytes) else { return }
        cursor.skipSpaces(bytes)
        let isArray = cursor.peek(bytes) == UInt8(ascii: "[")
        if bytes.equals("error", in: name) { noteError(bytes, cursor) }
        if isMessage, bytes.equals("event", in: name) { noteKind(bytes, cursor) }
        guard bytes.firstIndex(of: UInt8(ascii: "\\"), in: name) != nil else {
            return note(bytes, name, isArray: isArray)
        }
        var scanner = JSONScanner(position: start - 1)
        guard (try? scanner.string(bytes)) != nil else {
            hasUnknownName = true
            return
        }
        var copy: [UInt8] = []
        copy.appendUnescaped(bytes, name)
        name = 0..<copy.count
        note(copy.span, name, isArray: isArray)
    }

    private mutating func note(_ bytes: Span<UInt8>, _ name: Range<Int>, isArray: Bool) {
        guard let field = EventVocabulary.shared.fields.value(of: bytes, name) else {
            (hasUnknownName, hasForeignName) = (true, true)
            return
        }
        if isMessage, field == .event { return }
        if isMessage, field == .events, isArray {
            deepest = depth + 2
            return
        }
        if field == .message { hasMessage = true }
        if field == .timestamp { hasTimestamp = true }
        guard !field.isCommonName else {
            hasUnknownName = true
            return
        }
        hasKnownName = true
        if bytes.equals("scheduled_for", in: name) { hasAnswerName = true }
        if (field == .events && isArray) || Self.telling.contains(where: { bytes.equals($0, in: name) }) {
            hasTellingName = true
        }
    }

    /// Notes whether the value of `error` is a code, in a line of its own also one of their shape.
    private mutating func noteError(_ bytes: Span<UInt8>, _ value: LineCursor) {
        guard let text = Self.string(bytes, value) else { return }
        hasErrorCode = PluginErrorCode.isNamed(by: bytes, text, isCertain: !isMessage)
    }

    /// Notes whether the value of `event` is a kind.
    private mutating func noteKind(_ bytes: Span<UInt8>, _ value: LineCursor) {
        guard let text = Self.string(bytes, value) else { return }
        if EventVocabulary.shared.kinds.value(of: bytes, text) != nil { hasKind = true }
    }

    /// The content of a string; nil for another value, and for a string that was cut.
    private static func string(_ bytes: Span<UInt8>, _ value: LineCursor) -> Range<Int>? {
        var cursor = value
        guard cursor.consume(UInt8(ascii: "\""), bytes) else { return nil }
        let start = cursor.position
        return skipString(bytes, &cursor) ? start..<cursor.position - 1 : nil
    }

    /// Whether one of the field's names begins with a text.
    private static func begins(_ field: EventField, _ bytes: Span<UInt8>, _ text: Range<Int>) -> Bool {
        guard !text.isEmpty else { return false }
        return field.names.contains { name in
            guard text.count <= name.utf8CodeUnitCount else { return false }
            return name.withUTF8Buffer { expected in
                for offset in 0..<text.count where unsafe expected[offset] != bytes[text.lowerBound + offset] {
                    return false
                }
                return true
            }
        }
    }

    /// Skips a string, to behind its closing quote; false if the line ends before.
    private static func skipString(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: "\\"): cursor.position += 2
            case UInt8(ascii: "\""):
                cursor.position += 1
                return true
            default: cursor.position += 1
            }
        }
        return false
    }
}
