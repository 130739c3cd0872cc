// SPDX-License-Identifier: Apache-2.0

/// The format in which a log tool wraps lines (docs/log-validation.md). The raw value is its name on the command line.
public enum LogWrapper: String, CaseIterable, Sendable {
    /// `[DNP-FETCH] text` without a prefix.
    case bare
    /// A bare line after a time: RFC 3339 or `yyyy-MM-dd HH:mm:ss`, with or without a zone.
    case stamped
    /// `log show` and `log stream` of Apple's unified logging in their default style.
    case appleDefault = "oslog-default"
    /// `log --style compact`.
    case appleCompact = "oslog-compact"
    /// `log --style syslog`.
    case appleSyslog = "oslog-syslog"
    /// `log --style ndjson`.
    case appleNDJSON = "oslog-ndjson"
    /// `log show --style json`: one array of the same objects, on one line or on many.
    case appleJSON = "oslog-json"
    /// `idevicesyslog` of libimobiledevice.
    case idevicesyslog
    /// The console of Xcode.
    case xcode
    /// `logcat -v threadtime`, the default.
    case logcatThreadtime = "logcat-threadtime"
    /// `logcat -v time`.
    case logcatTime = "logcat-time"
    /// `logcat -v brief`, `-v tag` and `-v process`.
    case logcatBrief = "logcat-brief"
    /// `logcat -v long`.
    case logcatLong = "logcat-long"
    /// `logcat -v raw`: messages alone.
    case logcatRaw = "logcat-raw"
    /// Syslog in the format of RFC 3164 and its variants.
    case rfc3164
    /// Syslog in the format of RFC 5424.
    case rfc5424
    /// `journalctl -o short-iso` and the other short formats.
    case journalShortISO = "journal-short-iso"
    /// `journalctl -o json`.
    case journalJSON = "journal-json"
    /// JSON lines of structlog whose `event` is the plugin's line.
    case structlog
    /// JSON events, arrays or envelopes of them, one per line.
    case events
}

extension LineUnwrapper {
    /// Unwraps a line in the requested wrapper; a line that does not match is searched for a marker.
    mutating func readForced(
        _ wrapper: LogWrapper,
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        if readMatching(wrapper, bytes, range, scratch: &scratch, into: &line) { return }
        line = UnwrappedLine()
        line.findMessage(bytes, LineCursor(range))
        if line.isForeign { line = UnwrappedLine() }
    }

    private mutating func readMatching(
        _ wrapper: LogWrapper,
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = LineCursor(range)
        switch wrapper {
        case .bare:
            return false
        case .stamped:
            return readStamped(bytes, cursor, into: &line)
        case .appleDefault, .appleCompact, .appleSyslog, .xcode:
            guard let stamp = stamps.dateAndTime(bytes, &cursor) else { return false }
            line.stamp = stamp
            return switch wrapper {
            case .appleDefault: AppleDefaultLine.readRest(bytes, cursor, into: &line)
            case .appleCompact: AppleCompactLine.readRest(bytes, cursor, into: &line)
            case .appleSyslog: AppleSyslogLine.readRest(bytes, cursor, into: &line)
            default: XcodeLine.readRest(bytes, cursor, into: &line)
            }
        case .logcatThreadtime, .logcatTime:
            guard stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
            return wrapper == .logcatTime
                ? LogcatTimeLine.readRest(bytes, cursor, into: &line)
                : LogcatThreadtimeLine.readRest(bytes, cursor, into: &line)
        case .logcatBrief:
            return LogcatBriefLine.readRest(bytes, cursor, into: &line)
        case .logcatLong:
            return readLong(bytes, cursor, into: &line)
        case .logcatRaw:
            readRaw(bytes, cursor, into: &line)
            return true
        case .idevicesyslog, .rfc3164, .rfc5424, .journalShortISO:
            return readMatchingSyslog(wrapper, bytes, cursor, into: &line)
        case .appleNDJSON, .appleJSON, .journalJSON, .structlog:
            guard cursor.peek(bytes) == UInt8(ascii: "{") else { return false }
            readObject(bytes, range, scratch: &scratch, into: &line)
            return true
        case .events:
            guard
                cursor.peek(bytes) == UInt8(ascii: "{") || cursor.beginsListOfObjects(bytes)
                    || cursor.beginsJSONArray(bytes)
            else { return false }
            line.become(eventIn: range)
            return true
        }
    }

    /// Reads a message of logcat without its tag: one with a marker, else any that the plugin writes.
    private func readRaw(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        line.findMessage(bytes, start)
        line.platform = .android
        guard line.isForeign, !start.isAtEnd else { return }
        line.isUnmarked = true
        line.text = start.rest
    }

    private mutating func readStamped(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = start
        if cursor.consume(UInt8(ascii: "["), bytes) { cursor.skipSpaces(bytes) }
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
        StampedLine.readRest(bytes, cursor, into: &line)
        return true
    }

    private mutating func readMatchingSyslog(
        _ wrapper: LogWrapper,
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = start
        switch wrapper {
        case .rfc3164, .rfc5424:
            if cursor.peek(bytes).isDigit, cursor.digits(bytes) != nil {
                if !cursor.consume(UInt8(ascii: " "), bytes) || cursor.peek(bytes) != UInt8(ascii: "<") {
                    cursor = start
                }
            }
            if cursor.peek(bytes) == UInt8(ascii: "<") { return readSyslog(bytes, cursor, into: &line) }
        case .journalShortISO:
            if JournalShortLine.skipWeekday(bytes, &cursor), let stamp = stamps.dateAndTime(bytes, &cursor) {
                line.stamp = stamp
                readAfterWeekday(bytes, cursor, into: &line)
                return true
            }
        default: break
        }
        if readMonth(bytes, cursor, into: &line) { return true }
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
        return RFC3164Line.readRest(bytes, cursor, into: &line)
    }

    /// Reads a header of `logcat -v long`, or a line of its message.
    private mutating func readLong(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = start
        var stamp: LogStamp?
        if cursor.consume(UInt8(ascii: "["), bytes) {
            cursor.skipSpaces(bytes)
            if cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &stamp),
                let found = LogcatLongLine.header(bytes, cursor, stamp: stamp)
            {
                header = .logcat(found)
                return true
            }
        }
        if start.isAtEnd || bytes.hasDivider(at: start.position, end: start.end) {
            header = nil
            return true
        }
        guard case .logcat(let header) = header else { return false }
        line = header
        line.readMessage(bytes, start)
        return true
    }
}
