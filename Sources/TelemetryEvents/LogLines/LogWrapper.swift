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
    /// Syslog in the format of RFC 3164 and its variants.
    case rfc3164
    /// Syslog in the format of RFC 5424.
    case rfc5424
    /// `journalctl -o short-iso` and the other short formats.
    case journalShortISO = "journal-short-iso"
    /// `journalctl -o json`.
    case journalJSON = "journal-json"
    /// JSON events, one per line.
    case events
}

extension LineUnwrapper {
    /// Unwraps a line in the requested wrapper; a line that does not match is searched for a marker.
    mutating func takeForced(
        _ wrapper: LogWrapper,
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        if takeFitting(wrapper, bytes, range, scratch: &scratch, into: &line) { return }
        line = UnwrappedLine()
        line.takeAnywhere(bytes, LineCursor(range))
    }

    private mutating func takeFitting(
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
            return takeStamped(bytes, cursor, into: &line)
        case .appleDefault, .appleCompact, .appleSyslog, .xcode:
            guard let stamp = stamps.dateAndTime(bytes, &cursor) else { return false }
            line.stamp = stamp
            return switch wrapper {
            case .appleDefault: AppleDefaultLine.takeRest(bytes, cursor, into: &line)
            case .appleCompact: AppleCompactLine.takeRest(bytes, cursor, into: &line)
            case .appleSyslog: AppleSyslogLine.takeRest(bytes, cursor, into: &line)
            default: XcodeLine.takeRest(bytes, cursor, into: &line)
            }
        case .logcatThreadtime, .logcatTime:
            guard stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
            return wrapper == .logcatTime
                ? LogcatTimeLine.takeRest(bytes, cursor, into: &line)
                : LogcatThreadtimeLine.takeRest(bytes, cursor, into: &line)
        case .logcatBrief:
            return LogcatBriefLine.takeRest(bytes, cursor, into: &line)
        case .logcatLong:
            return takeLong(bytes, cursor, into: &line)
        case .idevicesyslog, .rfc3164, .rfc5424, .journalShortISO:
            return takeFittingSyslog(wrapper, bytes, cursor, into: &line)
        case .appleNDJSON, .journalJSON:
            guard cursor.peek(bytes) == UInt8(ascii: "{") else { return false }
            takeObject(bytes, range, scratch: &scratch, into: &line)
            return true
        case .events:
            guard cursor.peek(bytes) == UInt8(ascii: "{") else { return false }
            line.isEvent = true
            line.text = range
            return true
        }
    }

    private mutating func takeStamped(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = start
        if cursor.consume(UInt8(ascii: "["), bytes) { cursor.skipSpaces(bytes) }
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
        StampedLine.takeRest(bytes, cursor, into: &line)
        return true
    }

    private mutating func takeFittingSyslog(
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
            if cursor.peek(bytes) == UInt8(ascii: "<") { return takeSyslog(bytes, cursor, into: &line) }
        case .journalShortISO:
            if JournalShortLine.skipWeekday(bytes, &cursor), let stamp = stamps.dateAndTime(bytes, &cursor) {
                line.stamp = stamp
                takeWeekdayRest(bytes, cursor, into: &line)
                return true
            }
        default: break
        }
        if takeMonth(bytes, cursor, into: &line) { return true }
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else { return false }
        return RFC3164Line.takeRest(bytes, cursor, into: &line)
    }

    /// Reads a header of `logcat -v long`, or a line of its message.
    private mutating func takeLong(
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
                header = found
                return true
            }
        }
        if start.isAtEnd || bytes.hasDivider(at: start.position, end: start.end) {
            header = nil
            return true
        }
        guard let header else { return false }
        line = header
        line.takeMessage(bytes, start)
        return true
    }
}
