// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON line that identify it: a record of Apple's log, of the journal, or an event.
///
/// Parsing is lenient, because log lines need not be valid UTF-8, but the object must be terminated.
struct LogObject {
    // Apple's log.
    private(set) var eventMessage: Range<Int>?
    private(set) var subsystem: Range<Int>?
    private(set) var category: Range<Int>?
    private(set) var timestamp: Range<Int>?
    private(set) var processID: Range<Int>?
    private(set) var processPath: Range<Int>?
    // The journal.
    private(set) var message: Range<Int>?
    private(set) var realtime: Range<Int>?
    private(set) var sourceRealtime: Range<Int>?
    private(set) var process: Range<Int>?
    private(set) var syslogProcess: Range<Int>?
    private(set) var hostname: Range<Int>?
    private(set) var syslogIdentifier: Range<Int>?
    private(set) var command: Range<Int>?
    /// The line of the plugin that structlog wrote.
    private(set) var structlogEvent: Range<Int>?
    /// The line of a program that a container runtime, a log shipper, a log service or a logging library put into an
    /// object, or into one within it.
    private(set) var carriedLine: Range<Int>?
    private(set) var carriedTime: Range<Int>?
    /// Whether one of the texts contains escapes.
    private(set) var isEscaped = false
    /// Whether the journal's message is an array of byte values, as for binary data.
    private(set) var hasMessageBytes = false
    /// Whether the object has a member `event`, or an array `events`, and is no line of another program.
    private(set) var isEvent = false
    /// Whether its `event` names no kind of event, and it has what records of programs have and events have not: it is a
    /// line of another program that structlog wrote.
    private(set) var isForeignRecord = false
    /// How many objects deep a line is looked for.
    private static let mostDepth = 4

    /// Whether the object is a record of Apple's log or of the journal.
    var isRecord: Bool { eventMessage != nil || message != nil || structlogEvent != nil }

    /// An object without members.
    init() {}

    /// Nil if it is not an object, or an unterminated one.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        guard read(bytes, range) else { return nil }
    }

    /// Reads the members; false if it is not an object, or an unterminated one.
    ///
    /// - Parameter depth: how many objects it is within.
    mutating func read(_ bytes: Span<UInt8>, _ range: Range<Int>, depth: Int = 0) -> Bool {
        var members = JSONMembers(range)
        var isOtherText = false
        var isOfProgram = false
        while let member = members.next(bytes) {
            if bytes.equals("event", in: member.key), let text = Self.pluginLine(bytes, member.value) {
                structlogEvent = text
                isEscaped = isEscaped || member.isEscaped
                continue
            }
            if bytes.equals("event", in: member.key), let text = Self.wrappedLine(bytes, member) {
                carriedLine = text
                isEscaped = isEscaped || member.isEscaped
                isOfProgram = true
                isOtherText = true
                continue
            }
            if bytes.equals("event", in: member.key), Self.isOtherText(bytes, member) {
                isOtherText = true
                continue
            }
            if bytes.equals("event", in: member.key)
                || (bytes.equals("events", in: member.key)
                    && bytes[member.value.lowerBound] == UInt8(ascii: "["))
            {
                isEvent = true
                return true
            }
            if bytes.equals("level", in: member.key) || bytes.equals("logger", in: member.key)
                || bytes.equals("sourcetype", in: member.key)
            {
                isOfProgram = true
            }
            guard let text = Self.text(bytes, member.value) else {
                readInner(bytes, member.value, depth: depth + 1)
                continue
            }
            if keep(text, of: member.key, bytes) {
                isEscaped = isEscaped || member.isEscaped
            } else if bytes.equals("MESSAGE", in: member.key) {
                message = text
                isEscaped = isEscaped || member.isEscaped
                hasMessageBytes = bytes[member.value.lowerBound] == UInt8(ascii: "[")
            }
        }
        isForeignRecord = isOtherText && isOfProgram
        isEvent = isOtherText && !isOfProgram
        return members.isComplete
    }

    /// Takes the line from an object within this one, such as `{"body":{"stringValue":"[DNP-FETCH] text"}}`.
    private mutating func readInner(_ bytes: Span<UInt8>, _ value: Range<Int>, depth: Int) {
        // An event in a text has escaped quotes.
        guard carriedLine == nil, depth <= Self.mostDepth, bytes[value.lowerBound] == UInt8(ascii: "{"),
            bytes.namesApp(in: value) || bytes.firstIndex(of: UInt8(ascii: "\\"), in: value) != nil
        else { return }
        var inner = LogObject()
        guard inner.read(bytes, value, depth: depth), !inner.isEvent,
            let line = inner.carriedLine ?? inner.structlogEvent
        else { return }
        carriedLine = line
        carriedTime = inner.carriedTime ?? inner.timestamp ?? carriedTime
        isEscaped = isEscaped || inner.isEscaped
    }

    /// The content of a string that has a line of an app behind something else, as the `event` of Splunk's collector has it.
    private static func wrappedLine(_ bytes: Span<UInt8>, _ member: JSONMember) -> Range<Int>? {
        let isText = bytes[member.value.lowerBound] == UInt8(ascii: "\"")
        guard isText, bytes.firstIndex(of: UInt8(ascii: " "), in: member.value) != nil, bytes.namesApp(in: member.value)
        else { return nil }
        return member.value.lowerBound + 1..<member.value.upperBound - 1
    }

    /// Whether the value of `event` is a string that names no kind.
    private static func isOtherText(_ bytes: Span<UInt8>, _ member: JSONMember) -> Bool {
        guard !member.isEscaped, bytes[member.value.lowerBound] == UInt8(ascii: "\"") else { return false }
        let text = member.value.lowerBound + 1..<member.value.upperBound - 1
        return EventVocabulary.shared.kinds.value(of: bytes, text) == nil
    }

    /// The content of a string that is a line of the plugin and no kind of event.
    private static func pluginLine(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int>? {
        guard bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
        var cursor = LineCursor(value.lowerBound + 1, value.upperBound - 1)
        cursor.skipSpaces(bytes)
        return bytes.opening(at: cursor.position, end: cursor.end) == nil ? nil : cursor.rest
    }

    /// The content of a string, a number or an array; nil for other values.
    private static func text(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int>? {
        switch bytes[value.lowerBound] {
        case UInt8(ascii: "\""): value.lowerBound + 1..<value.upperBound - 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "["): value
        default: nil
        }
    }

    /// Stores a text; false if its key is not relevant.
    private mutating func keep(_ text: Range<Int>, of key: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        switch key.count {
        case 2 where bytes.equals("ts", in: key): carriedTime = text
        case 3 where bytes.equals("log", in: key) || bytes.equals("msg", in: key): return carry(text, bytes)
        case 4 where bytes.equals("line", in: key) || bytes.equals("text", in: key): return carry(text, bytes)
        case 4 where bytes.equals("body", in: key) || bytes.equals("_raw", in: key): return carry(text, bytes)
        case 4 where bytes.equals("time", in: key) || bytes.equals("date", in: key): carriedTime = text
        case 4 where bytes.equals("_PID", in: key): process = text
        case 5 where bytes.equals("_COMM", in: key): command = text
        case 5 where bytes.equals("_time", in: key): carriedTime = text
        case 7 where bytes.equals("message", in: key): return carry(text, bytes)
        case 8 where bytes.equals("category", in: key): category = text
        case 9 where bytes.equals("timestamp", in: key): timestamp = text
        case 9 where bytes.equals("subsystem", in: key): subsystem = text
        case 9 where bytes.equals("processID", in: key): processID = text
        case 9 where bytes.equals("_HOSTNAME", in: key): hostname = text
        case 10 where bytes.equals("@timestamp", in: key): carriedTime = text
        case 10 where bytes.equals("SYSLOG_PID", in: key): syslogProcess = text
        case 11 where bytes.equals("textPayload", in: key) || bytes.equals("stringValue", in: key):
            return carry(text, bytes)
        case 12 where bytes.equals("eventMessage", in: key): eventMessage = text
        case 12 where bytes.equals("timeUnixNano", in: key): carriedTime = text
        case 13 where bytes.equals("short_message", in: key): return carry(text, bytes)
        case 16 where bytes.equals("processImagePath", in: key): processPath = text
        case 17 where bytes.equals("SYSLOG_IDENTIFIER", in: key): syslogIdentifier = text
        case 20 where bytes.equals("__REALTIME_TIMESTAMP", in: key): realtime = text
        case 26 where bytes.equals("_SOURCE_REALTIME_TIMESTAMP", in: key): sourceRealtime = text
        default: return false
        }
        return true
    }

    /// Stores a string that may be a line; false for anything else, such as the number of a line of source.
    private mutating func carry(_ text: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard bytes[text.lowerBound - 1] == UInt8(ascii: "\"") else { return false }
        carriedLine = text
        return true
    }

    /// Copies the texts with resolved escapes and without ANSI sequences; the ranges then refer to the copy.
    mutating func unescape(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        Self.copy(&eventMessage, bytes, to: &output)
        Self.copy(&subsystem, bytes, to: &output)
        Self.copy(&category, bytes, to: &output)
        Self.copy(&timestamp, bytes, to: &output)
        Self.copy(&processID, bytes, to: &output)
        Self.copy(&processPath, bytes, to: &output)
        Self.copy(&message, bytes, to: &output, isByteNumbers: hasMessageBytes)
        Self.copy(&realtime, bytes, to: &output)
        Self.copy(&sourceRealtime, bytes, to: &output)
        Self.copy(&process, bytes, to: &output)
        Self.copy(&syslogProcess, bytes, to: &output)
        Self.copy(&hostname, bytes, to: &output)
        Self.copy(&syslogIdentifier, bytes, to: &output)
        Self.copy(&command, bytes, to: &output)
        Self.copy(&structlogEvent, bytes, to: &output)
        Self.copy(&carriedTime, bytes, to: &output)
        Self.copy(&carriedLine, bytes, to: &output)
    }

    private static func copy(
        _ text: inout Range<Int>?,
        _ bytes: Span<UInt8>,
        to output: inout [UInt8],
        isByteNumbers: Bool = false
    ) {
        guard let range = text else { return }
        let start = output.count
        if isByteNumbers {
            JSONMembers.appendByteNumbers(bytes, range, to: &output)
        } else {
            JSONMembers.appendText(bytes, range, to: &output)
        }
        if ANSISequences.arePresent(output.span, start..<output.count) {
            let coloured = Array(output[start...])
            output.removeSubrange(start...)
            ANSISequences.appendPlain(coloured.span, 0..<coloured.count, to: &output)
        }
        text = start..<output.count
    }
}

/// A member of an object: its key without quotes, and its raw value.
struct JSONMember {
    var key: Range<Int>
    var value: Range<Int>
    /// Whether the value is a string with escapes.
    var isEscaped: Bool
}

/// Iterates over the members of one JSON object by its quotes and brackets, without validating anything else.
struct JSONMembers {
    private var cursor: LineCursor
    private var hasStarted = false
    /// Whether the closing brace has been read.
    private(set) var isComplete = false

    init(_ range: Range<Int>) {
        cursor = LineCursor(range)
    }

    /// Returns the next member; nil after the last one, or if the object is malformed.
    mutating func next(_ bytes: Span<UInt8>) -> JSONMember? {
        cursor.skipSpaces(bytes)
        if !hasStarted {
            hasStarted = true
            guard cursor.consume(UInt8(ascii: "{"), bytes) else { return nil }
        } else {
            _ = cursor.consume(UInt8(ascii: ","), bytes)
        }
        cursor.skipSpaces(bytes)
        if cursor.consume(UInt8(ascii: "}"), bytes) {
            isComplete = true
            return nil
        }
        guard let key = string(bytes) else { return nil }
        cursor.skipSpaces(bytes)
        guard cursor.consume(UInt8(ascii: ":"), bytes) else { return nil }
        cursor.skipSpaces(bytes)
        let start = cursor.position
        var isEscaped = false
        switch cursor.peek(bytes) {
        case UInt8(ascii: "\""):
            guard let text = string(bytes) else { return nil }
            isEscaped = text.isEscaped
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard skipBrackets(bytes) else { return nil }
        default:
            skipScalar(bytes)
        }
        guard cursor.position > start, !cursor.isAtEnd else { return nil }
        return JSONMember(key: key.range, value: start..<cursor.position, isEscaped: isEscaped)
    }

    private mutating func string(_ bytes: Span<UInt8>) -> JSONText? {
        guard cursor.consume(UInt8(ascii: "\""), bytes) else { return nil }
        let start = cursor.position
        var isEscaped = false
        while true {
            skipPlainText(bytes)
            switch cursor.peek(bytes) {
            case UInt8(ascii: "\"") where !cursor.isAtEnd:
                cursor.position += 1
                return JSONText(range: start..<cursor.position - 1, isEscaped: isEscaped)
            case UInt8(ascii: "\\") where cursor.position + 1 < cursor.end:
                isEscaped = true
                cursor.position += 2
            default:
                return nil
            }
        }
    }

    /// Advances to the next quote or backslash, or to the end.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        while cursor.position + 8 <= cursor.end {
            let word = bytes.word(at: cursor.position)
            let found = word.bytes(equalTo: UInt8(ascii: "\"")) | word.bytes(equalTo: UInt8(ascii: "\\"))
            if found != 0 {
                cursor.position += found.trailingZeroBitCount / 8
                return
            }
            cursor.position += 8
        }
        while !cursor.isAtEnd, bytes[cursor.position] != UInt8(ascii: "\""),
            bytes[cursor.position] != UInt8(ascii: "\\")
        {
            cursor.position += 1
        }
    }

    private mutating func skipBrackets(_ bytes: Span<UInt8>) -> Bool {
        var depth = 0
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: "\""):
                guard string(bytes) != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            cursor.position += 1
            if depth == 0 { return true }
        }
        return false
    }

    private mutating func skipScalar(_ bytes: Span<UInt8>) {
        while !cursor.isAtEnd {
            switch bytes[cursor.position] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "\""), 0...0x20: return
            default: cursor.position += 1
            }
        }
    }

    /// Appends a string with resolved escapes; anything else unchanged.
    static func appendText(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var index = range.lowerBound
        while index < range.upperBound {
            let backslash = bytes.firstIndex(of: UInt8(ascii: "\\"), in: index..<range.upperBound)
            guard let backslash, backslash + 1 < range.upperBound else {
                return output.append(bytes, index..<range.upperBound)
            }
            output.append(bytes, index..<backslash)
            index = backslash
            if bytes[index + 1] == UInt8(ascii: "u") {
                index = appendScalar(bytes, at: index, end: range.upperBound, to: &output)
                continue
            }
            switch bytes[index + 1] {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            default: output.append(bytes[index + 1])
            }
            index += 2
        }
    }

    /// Appends the scalar of one `\u` escape, or of two; an unpaired surrogate becomes the replacement character.
    private static func appendScalar(
        _ bytes: Span<UInt8>,
        at index: Int,
        end: Int,
        to output: inout [UInt8]
    ) -> Int {
        guard let high = codeUnit(bytes, at: index, end: end) else {
            output.append(bytes[index + 1])
            return index + 2
        }
        var scalar = UInt32(high)
        var next = index + 6
        if 0xD800...0xDBFF ~= high, let low = codeUnit(bytes, at: next, end: end), 0xDC00...0xDFFF ~= low {
            scalar = 0x10000 + (scalar - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            next += 6
        }
        output.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter)
        return next
    }

    private static func codeUnit(_ bytes: Span<UInt8>, at index: Int, end: Int) -> UInt16? {
        guard index + 6 <= end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return bytes.hexCodeUnit(at: index + 2)
    }

    /// Appends an array of byte values; other numbers are dropped.
    static func appendByteNumbers(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var cursor = LineCursor(range)
        while !cursor.isAtEnd {
            if let number = cursor.digits(bytes) {
                if number <= 0xFF { output.append(UInt8(number)) }
            } else {
                cursor.position += 1
            }
        }
    }
}
