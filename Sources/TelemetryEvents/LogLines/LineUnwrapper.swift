// SPDX-License-Identifier: Apache-2.0

extension LineUnwrapper {
    /// Tells the wrapper of a line by its first bytes.
    @inline(__always)
    mutating func takeUnknown(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        let cursor = LineCursor(range)
        if header != nil, takeBehindHeader(bytes, cursor, into: &line) { return }
        let first = cursor.peek(bytes)
        if first.isDigit {
            takeNumber(bytes, cursor, into: &line)
        } else if first == UInt8(ascii: "[") {
            takeBracket(bytes, cursor, into: &line)
        } else if first == UInt8(ascii: "{") {
            takeObject(bytes, range, scratch: &scratch, into: &line)
        } else {
            takeWord(bytes, cursor, first, into: &line)
        }
    }

    /// A line that begins with a number: mostly a time.
    @inline(__always)
    private mutating func takeNumber(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        if stamps.logcatTime(bytes, &cursor, &line.stamp) {
            takeAfterTime(bytes, cursor, into: &line)
        } else {
            takeFramed(bytes, start, into: &line)
        }
    }

    /// What follows a date and a time.
    @inline(__always)
    mutating func takeAfterTime(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        cursor.skipSpaces(bytes)
        if let marker = bytes.marker(at: cursor.position, end: cursor.end) {
            line.take(marker, bytes, cursor.end)
            return
        }
        let first = cursor.peek(bytes)
        let isTaken =
            if first.isDigit {
                if cursor.peek(bytes, 1) == UInt8(ascii: "x") {
                    AppleDefaultLine.takeRest(bytes, cursor, into: &line)
                } else {
                    LogcatThreadtimeLine.takeRest(bytes, cursor, into: &line)
                }
            } else if cursor.peek(bytes, 1) == UInt8(ascii: "/") || first == UInt8(ascii: ":") {
                LogcatTimeLine.takeRest(bytes, cursor, into: &line)
            } else {
                takeNamed(bytes, cursor, into: &line)
            }
        if !isTaken { StampedLine.takeRest(bytes, cursor, into: &line) }
    }

    /// What begins with a name behind the time: a process of Apple's or of a syslog, a user of logcat's.
    private func takeNamed(_ bytes: Span<UInt8>, _ cursor: LineCursor, into line: inout UnwrappedLine) -> Bool {
        guard cursor.peek(bytes) != UInt8(ascii: "["), cursor.peek(bytes) != UInt8(ascii: "]") else { return false }
        guard let heading = ProcessHeading(bytes, cursor) else {
            return LogcatThreadtimeLine.takeRest(bytes, cursor, into: &line)
        }
        return heading.hasThread
            ? XcodeLine.take(heading, bytes, cursor.end, into: &line)
            : AppleSyslogLine.take(heading, bytes, cursor.end, into: &line)
    }

    /// A line that begins with a bracket: a marker, a time in brackets, or a header of `logcat -v long`.
    @inline(__always)
    private mutating func takeBracket(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        if let marker = bytes.marker(at: start.position, end: start.end) {
            line.take(marker, bytes, start.end)
            return
        }
        var cursor = LineCursor(start.position + 1, start.end)
        cursor.skipSpaces(bytes)
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else {
            line.takeAnywhere(bytes, start)
            return
        }
        header = LogcatLongLine.header(bytes, cursor, stamp: line.stamp)
        if header == nil {
            _ = cursor.consume(UInt8(ascii: "]"), bytes)
            takeAfterTime(bytes, cursor, into: &line)
        }
    }

    /// A line that begins with a letter or a sign.
    private mutating func takeWord(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        _ first: UInt8,
        into line: inout UnwrappedLine
    ) {
        if first == UInt8(ascii: "<") {
            if takeSyslog(bytes, start, into: &line) { return }
        } else if LogcatTag.isPriority(first),
            start.peek(bytes, 1) == UInt8(ascii: "/") || start.peek(bytes, 1) == UInt8(ascii: "(")
        {
            if LogcatBriefLine.takeRest(bytes, start, into: &line) { return }
        } else if start.peek(bytes, 3) == UInt8(ascii: " ") {
            var cursor = start
            if takeMonth(bytes, start, into: &line) { return }
            if JournalShortLine.skipWeekday(bytes, &cursor) {
                line.stamp = stamps.dateAndTime(bytes, &cursor)
                if line.stamp != nil {
                    takeWeekdayRest(bytes, cursor, into: &line)
                    return
                }
            }
        }
        line = UnwrappedLine()
        line.takeAnywhere(bytes, start)
    }

    /// The lines of a message behind a header of `logcat -v long`.
    ///
    /// - Returns: whether the line is one of them, or the end of the message.
    private mutating func takeBehindHeader(
        _ bytes: Span<UInt8>,
        _ cursor: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard let header else { return false }
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
        line.takeMessage(bytes, cursor)
        return true
    }
}

extension Span<UInt8> {
    /// Whether `--------- beginning of main` stands here, with which logcat divides its buffers.
    func hasDivider(at index: Int, end: Int) -> Bool {
        index + 10 <= end && word(at: index) == 0x2D2D_2D2D_2D2D_2D2D
    }
}
