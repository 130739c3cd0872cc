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
    /// The name of its logger, which may be the tag of a component.
    private(set) var tag: Range<Int>?
    /// Whether one of the texts contains escapes.
    private(set) var isEscaped = false
    /// Whether the journal's message is an array of byte values, as for binary data.
    private(set) var hasMessageBytes = false
    /// Whether the object has a member `event`, or an array `events`, and is no line of another program.
    private(set) var isEvent = false
    /// Whether its `event` names no kind of event, and it has what records of programs have and events have not: it is a
    /// line of another program that structlog wrote.
    private(set) var isForeignRecord = false
    /// Names that records of programs have and events have not.
    private static let programNames: [StaticString] = [
        "level", "logger", "sourcetype", "@timestamp", "message", "ecs", "agent", "stream",
    ]
    /// Whether its `events` are records of a log, as CloudWatch and Papertrail have them.
    private(set) var holdsRecords = false
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
            // The Elastic Common Schema has an object of that name.
            if bytes.equals("event", in: member.key), bytes[member.value.lowerBound] == UInt8(ascii: "{") {
                isOtherText = true
                readInner(bytes, member.value, depth: depth + 1)
                continue
            }
            if bytes.equals("events", in: member.key), bytes[member.value.lowerBound] == UInt8(ascii: "["),
                LogRecords.areThere(in: bytes, member.value, depth: depth)
            {
                holdsRecords = true
                continue
            }
            if bytes.equals("event", in: member.key)
                || (bytes.equals("events", in: member.key)
                    && bytes[member.value.lowerBound] == UInt8(ascii: "["))
            {
                isEvent = true
                return true
            }
            if Self.programNames.contains(where: { bytes.equals($0, in: member.key) }) { isOfProgram = true }
            guard let text = Self.text(bytes, member.value) else {
                let isTime = bytes.equals("timestamp", in: member.key) || bytes.equals("instant", in: member.key)
                readInner(bytes, member.value, isTime: isTime, depth: depth + 1)
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

    /// Takes the line from an object within this one, such as `{"body":{"stringValue":"[DNP-FETCH] text"}}`, or its time and
    /// tag, such as `{"tag":"DNP-FETCH","timestamp":{"seconds":1763185800}}`.
    private mutating func readInner(_ bytes: Span<UInt8>, _ value: Range<Int>, isTime: Bool = false, depth: Int) {
        // An event in a text has escaped quotes.
        guard carriedLine == nil || tag == nil, depth <= Self.mostDepth,
            bytes[value.lowerBound] == UInt8(ascii: "{"),
            isTime || bytes.namesApp(in: value) || bytes.firstIndex(of: UInt8(ascii: "\\"), in: value) != nil
        else { return }
        var inner = LogObject()
        guard inner.read(bytes, value, depth: depth), !inner.isEvent else { return }
        let line = inner.carriedLine ?? inner.structlogEvent
        guard isTime || carriedLine == nil && line != nil || inner.tag != nil else { return }
        if carriedLine == nil { carriedLine = line }
        carriedTime = inner.carriedTime ?? inner.timestamp ?? carriedTime
        tag = tag ?? inner.tag
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
        case 2 where bytes.equals("ts", in: key) || bytes.equals("@t", in: key): carriedTime = text
        case 2 where bytes.equals("@m", in: key): return carry(text, bytes)
        case 3 where bytes.equals("tag", in: key): tag = text
        case 3 where bytes.equals("log", in: key) || bytes.equals("msg", in: key): return carry(text, bytes)
        case 4 where bytes.equals("line", in: key) || bytes.equals("text", in: key): return carry(text, bytes)
        case 4 where bytes.equals("body", in: key) || bytes.equals("_raw", in: key): return carry(text, bytes)
        case 4 where bytes.equals("time", in: key) || bytes.equals("date", in: key): carriedTime = text
        case 4 where bytes.equals("_PID", in: key): process = text
        case 5 where bytes.equals("_COMM", in: key): command = text
        case 5 where bytes.equals("_time", in: key): carriedTime = text
        case 6 where bytes.equals("logger", in: key): tag = tag ?? text
        case 7 where bytes.equals("message", in: key) || bytes.equals("Message", in: key): return carry(text, bytes)
        case 7 where bytes.equals("content", in: key) || bytes.equals("payload", in: key): return carry(text, bytes)
        case 7 where bytes.equals("asctime", in: key): carriedTime = text
        case 7 where bytes.equals("seconds", in: key) && text.count == 10: carriedTime = text
        case 8 where bytes.equals("@message", in: key): return carry(text, bytes)
        case 8 where bytes.equals("datetime", in: key): carriedTime = text
        case 8 where bytes.equals("category", in: key): category = text
        case 9 where bytes.equals("timestamp", in: key) || bytes.equals("Timestamp", in: key): timestamp = text
        case 9 where bytes.equals("eventTime", in: key): carriedTime = text
        case 9 where bytes.equals("subsystem", in: key): subsystem = text
        case 9 where bytes.equals("processID", in: key): processID = text
        case 9 where bytes.equals("_HOSTNAME", in: key): hostname = text
        case 10 where bytes.equals("@timestamp", in: key): carriedTime = text
        case 10 where bytes.equals("timeMillis", in: key) || bytes.equals("created_at", in: key): carriedTime = text
        case 10 where bytes.equals("SYSLOG_PID", in: key): syslogProcess = text
        case 11 where bytes.equals("epochSecond", in: key): carriedTime = text
        case 11 where bytes.equals("textPayload", in: key) || bytes.equals("stringValue", in: key):
            return carry(text, bytes)
        case 12 where bytes.equals("eventMessage", in: key): eventMessage = text
        case 12 where bytes.equals("timeUnixNano", in: key): carriedTime = text
        case 12 where bytes.equals("full_message", in: key): return carry(text, bytes)
        // It may be but the beginning of the full one.
        case 13 where bytes.equals("short_message", in: key): return carriedLine != nil || carry(text, bytes)
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
        Self.copy(&tag, bytes, to: &output)
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
