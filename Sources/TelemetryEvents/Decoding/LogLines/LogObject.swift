// SPDX-License-Identifier: Apache-2.0

/// The members of a JSON line that tell what it is: a record of Apple's log, of the journal, or an event.
///
/// Reading is lenient, because a log line need not be valid UTF-8, but the object must end.
struct LogObject {
    // Apple's log.
    private(set) var eventMessage: Range<Int>?
    private(set) var subsystem: Range<Int>?
    private(set) var category: Range<Int>?
    private(set) var timestamp: Range<Int>?
    private(set) var processID: Range<Int>?
    // The journal.
    private(set) var message: Range<Int>?
    private(set) var realtime: Range<Int>?
    private(set) var sourceRealtime: Range<Int>?
    private(set) var process: Range<Int>?
    private(set) var syslogProcess: Range<Int>?
    private(set) var hostname: Range<Int>?
    /// Whether one of the texts has escapes.
    private(set) var isEscaped = false
    /// Whether the message of the journal is an array of byte numbers.
    private(set) var hasMessageBytes = false
    /// Whether there is a member `event`.
    private(set) var isEvent = false

    /// Nil: no object, or one that does not end.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        var members = JSONMembers(range)
        while let member = members.next(bytes) {
            if bytes.equals("event", in: member.key) {
                isEvent = true
                return
            }
            guard let text = Self.text(bytes, member.value) else { continue }
            if keep(text, of: member.key, bytes) {
                isEscaped = isEscaped || member.isEscaped
            } else if bytes.equals("MESSAGE", in: member.key) {
                message = text
                isEscaped = isEscaped || member.isEscaped
                hasMessageBytes = bytes[member.value.lowerBound] == UInt8(ascii: "[")
            }
        }
        guard members.isComplete else { return nil }
    }

    /// A string without its quotes, a number, or an array; nil for anything else.
    private static func text(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Range<Int>? {
        switch bytes[value.lowerBound] {
        case UInt8(ascii: "\""): value.lowerBound + 1..<value.upperBound - 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "["): value
        default: nil
        }
    }

    /// Keeps a text; false when the key is none of those that are wanted.
    private mutating func keep(_ text: Range<Int>, of key: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        switch key.count {
        case 4 where bytes.equals("_PID", in: key): process = text
        case 8 where bytes.equals("category", in: key): category = text
        case 9 where bytes.equals("timestamp", in: key): timestamp = text
        case 9 where bytes.equals("subsystem", in: key): subsystem = text
        case 9 where bytes.equals("processID", in: key): processID = text
        case 9 where bytes.equals("_HOSTNAME", in: key): hostname = text
        case 10 where bytes.equals("SYSLOG_PID", in: key): syslogProcess = text
        case 12 where bytes.equals("eventMessage", in: key): eventMessage = text
        case 20 where bytes.equals("__REALTIME_TIMESTAMP", in: key): realtime = text
        case 26 where bytes.equals("_SOURCE_REALTIME_TIMESTAMP", in: key): sourceRealtime = text
        default: return false
        }
        return true
    }

    /// Copies the texts with their escapes resolved and without ANSI sequences; the ranges are then places in the copy.
    mutating func unescape(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        Self.copy(&eventMessage, bytes, to: &output)
        Self.copy(&subsystem, bytes, to: &output)
        Self.copy(&category, bytes, to: &output)
        Self.copy(&timestamp, bytes, to: &output)
        Self.copy(&processID, bytes, to: &output)
        Self.copy(&message, bytes, to: &output, isByteNumbers: hasMessageBytes)
        Self.copy(&realtime, bytes, to: &output)
        Self.copy(&sourceRealtime, bytes, to: &output)
        Self.copy(&process, bytes, to: &output)
        Self.copy(&syslogProcess, bytes, to: &output)
        Self.copy(&hostname, bytes, to: &output)
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
        if ANSISequences.areIn(output.span, start..<output.count) {
            let coloured = Array(output[start...])
            output.removeSubrange(start...)
            ANSISequences.appendPlain(coloured.span, 0..<coloured.count, to: &output)
        }
        text = start..<output.count
    }
}
