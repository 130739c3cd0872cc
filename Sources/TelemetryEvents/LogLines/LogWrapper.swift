// SPDX-License-Identifier: Apache-2.0

extension LineUnwrapper {
    /// Reads a line in the one wrapper that was asked for; where it does not fit, a marker alone counts.
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

    /// A header of `logcat -v long`, or a line of the message behind one.
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
