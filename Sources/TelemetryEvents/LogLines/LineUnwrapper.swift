// SPDX-License-Identifier: Apache-2.0

/// Removes the wrapper that a log tool puts around a line (docs/log-validation.md).
///
/// Total: every line is either the plugin's or foreign, and no read passes the line's end.
struct LineUnwrapper: Sendable {
    /// How many bytes of a line are read.
    static let longestLine = 64 * 1_024
    /// How far into an overlong line its message may begin.
    private static let longestHead = 4 * 1_024

    let wrapper: LogWrapper?
    /// Whether all JSON that is no record of a log is meant as events.
    let takesAllJSON: Bool
    var stamps = LogStampReader()
    /// What an earlier line says of the next ones; it outlives a chunk of input.
    var header: LineHeader?
    /// How many prefixes the line that is read stands behind: 0 to 2.
    var prefixes = 0
    private var plain: [UInt8] = []

    /// - Parameters:
    ///   - wrapper: the wrapper of all lines; nil to detect it per line.
    ///   - takesAllJSON: whether all JSON that is no record of a log is meant as events.
    init(wrapper: LogWrapper?, takesAllJSON: Bool = false) {
        self.wrapper = wrapper
        self.takesAllJSON = takesAllJSON
    }

    /// Whether a line that begins with an event is one.
    var takesEvents: Bool { header == nil && (wrapper == nil || wrapper == .events) }

    /// Unwraps a line. The range may include the line feed.
    mutating func unwrap(_ bytes: Span<UInt8>, _ line: Range<Int>, scratch: inout [UInt8]) -> UnwrappedLine {
        let range = bytes.trimmedLine(line)
        if range.count > Self.longestLine { return unwrapLong(bytes, range, scratch: &scratch) }
        return unwrapWhole(bytes, range, scratch: &scratch)
    }

    /// Unwraps the head of an overlong line if its message begins near; an event stays whole, to be rejected.
    @inline(never)
    private mutating func unwrapLong(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        let head = range.lowerBound..<range.lowerBound + Self.longestLine
        var line = unwrapWhole(bytes, head, scratch: &scratch)
        if line.isEvent, !line.isInScratch { line.text = line.text.lowerBound..<range.upperBound }
        let start = line.isInScratch ? 0 : range.lowerBound
        return line.text.lowerBound - start <= Self.longestHead ? line : UnwrappedLine()
    }

    @inline(__always)
    private mutating func unwrapWhole(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        if ANSISequences.arePresent(bytes, range) { return unwrapColoured(bytes, range, scratch: &scratch) }
        return unwrapPlain(bytes, range, scratch: &scratch)
    }

    private mutating func unwrapColoured(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        var copy: [UInt8] = []
        swap(&copy, &plain)
        copy.removeAll(keepingCapacity: true)
        ANSISequences.appendPlain(bytes, range, to: &copy)
        var unwrapped = unwrapPlain(copy.span, copy.span.trimmedLine(0..<copy.count), scratch: &scratch)
        if !unwrapped.isInScratch {
            swap(&copy, &scratch)
            unwrapped.isInScratch = true
        }
        swap(&copy, &plain)
        return unwrapped
    }

    /// Reads a line with ANSI sequences whose escapes are spelled, as rsyslog (`#033[0m`) and terminals (`^[[0m`) do, or with
    /// no-break spaces, as pages do.
    @inline(never)
    private mutating func readSpelled(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        guard prefixes == 0, let raw = ANSISequences.unspelled(bytes, range) else { return }
        let coloured = unwrapColoured(raw.span, 0..<raw.count, scratch: &scratch)
        if !coloured.isForeign { line = coloured }
    }

    /// Unwraps a line without ANSI sequences.
    @inline(__always)
    mutating func unwrapPlain(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        var line = UnwrappedLine()
        if let wrapper {
            readForced(wrapper, bytes, range, scratch: &scratch, into: &line)
            readObject(ofMessageIn: bytes, range, scratch: &scratch, into: &line)
        } else {
            readDetected(bytes, range, scratch: &scratch, into: &line)
        }
        if !line.preamble.isEmpty, wrapper != .bare {
            if line.isInScratch {
                readTime(scratch.span, inPreambleOf: &line)
            } else {
                readTime(bytes, inPreambleOf: &line)
            }
        }
        return line
    }

    /// Takes the time right before the marker, which is nearer to the message than that of the heading.
    @inline(never)
    private mutating func readTime(_ bytes: Span<UInt8>, inPreambleOf line: inout UnwrappedLine) {
        var cursor = LineCursor(line.preamble)
        while !cursor.isAtEnd {
            cursor.skipSpaces(bytes)
            if !cursor.consume(UInt8(ascii: "["), bytes) { _ = cursor.consume(UInt8(ascii: "\""), bytes) }
            var ahead = cursor
            var stamp: LogStamp?
            if cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &ahead, &stamp), let stamp,
                stamp.offsetSeconds != nil || line.stamp?.offsetSeconds == nil
            {
                line.stamp = stamp
                return
            }
            cursor.skipField(bytes)
        }
    }

    // MARK: Detecting the wrapper

    /// Detects a line's wrapper by its first bytes.
    @inline(__always)
    private mutating func readDetected(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        let cursor = LineCursor(range)
        if header != nil, readAfterHeader(bytes, range, scratch: &scratch, into: &line) { return }
        if cursor.peek(bytes) == UInt8(ascii: "{") {
            return readObject(bytes, range, scratch: &scratch, into: &line)
        }
        readText(bytes, cursor, into: &line)
        readObject(ofMessageIn: bytes, range, scratch: &scratch, into: &line)
        if mayHavePrefix(line, bytes, range), !readQuoted(bytes, range, scratch: &scratch, into: &line) {
            let namesApp = readBehindPrefix(bytes, range, into: &line)
            if namesApp, line.isForeign || line.stamp == nil {
                readSpelled(bytes, range, scratch: &scratch, into: &line)
            }
        }
        guard line.isForeign else { return }
        if (takesAllJSON && cursor.beginsQuotedJSON(bytes)) || EventTraces.areContinued(in: bytes, range) {
            line.become(eventIn: range)
        }
    }

    /// Reads a line that is no object.
    @inline(__always)
    mutating func readText(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        let first = start.peek(bytes)
        if first.isDigit {
            readNumber(bytes, start, into: &line)
        } else if first == UInt8(ascii: "[") {
            readBracket(bytes, start, into: &line)
        } else {
            readWord(bytes, start, first, into: &line)
        }
    }

    /// Whether a line that begins like an object, or like an array of objects, is meant as events.
    func isMeantAsEvents(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        takesAllJSON || EventTraces.areBegun(in: bytes, range)
    }

    /// Whether a line that begins with a bracket is meant as events.
    private func isArrayOfEvents(_ bytes: Span<UInt8>, _ start: LineCursor) -> Bool {
        if start.beginsListOfObjects(bytes) { return isMeantAsEvents(bytes, start.rest) }
        return takesAllJSON && start.beginsJSONArray(bytes)
    }

    /// Reads a line that begins with a number, usually a time.
    private mutating func readNumber(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        if stamps.logcatTime(bytes, &cursor, &line.stamp) {
            if isPassedOn(bytes, from: start.position, cursor), readPassedOn(bytes, cursor, into: &line) { return }
            readAfterTime(bytes, cursor, into: &line)
        } else {
            readFramed(bytes, start, into: &line)
        }
    }

    /// Reads what follows a date and a time.
    @inline(__always)
    private mutating func readAfterTime(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        cursor.skipSpaces(bytes)
        if let marker = bytes.opening(at: cursor.position, end: cursor.end) {
            line.read(marker, bytes, cursor.end)
            return
        }
        let first = cursor.peek(bytes)
        let isRead =
            if first.isDigit {
                if cursor.peek(bytes, 1) == UInt8(ascii: "x") {
                    AppleDefaultLine.readRest(bytes, cursor, into: &line)
                } else {
                    LogcatThreadtimeLine.readRest(bytes, cursor, into: &line)
                }
            } else if cursor.peek(bytes, 1) == UInt8(ascii: "/") || first == UInt8(ascii: ":") {
                LogcatTimeLine.readRest(bytes, cursor, into: &line)
            } else {
                readNamed(bytes, cursor, into: &line)
            }
        if isRead { return }
        StampedLine.readRest(bytes, cursor, into: &line)
        if line.isForeign, !line.beginsObject(bytes) { readTagged(bytes, cursor, into: &line) }
    }

    /// Reads `host program: message`, as rsyslog and `journalctl -o short-iso` write it of a program without a process id.
    private func readTagged(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        let host = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        let program = cursor.word(bytes)
        guard let last = program.last, bytes[last] == UInt8(ascii: ":"), let end = host.last,
            bytes[end] != UInt8(ascii: ":")
        else { return }
        var tagged = UnwrappedLine()
        tagged.stamp = line.stamp
        tagged.device = host
        tagged.noteProgram(program.dropLast(), bytes)
        tagged.readMessage(bytes, cursor)
        if !tagged.isForeign || tagged.beginsObject(bytes) { line = tagged }
    }

    /// Reads a name after the time: a process of Apple's log or syslog, or a logcat user.
    private func readNamed(_ bytes: Span<UInt8>, _ cursor: LineCursor, into line: inout UnwrappedLine) -> Bool {
        guard cursor.peek(bytes) != UInt8(ascii: "["), cursor.peek(bytes) != UInt8(ascii: "]") else { return false }
        guard let heading = ProcessHeading(bytes, cursor) else {
            return LogcatThreadtimeLine.readRest(bytes, cursor, into: &line)
        }
        return heading.hasThread
            ? XcodeLine.read(heading, bytes, cursor.end, into: &line)
            : AppleSyslogLine.read(heading, bytes, cursor.end, into: &line)
    }

    /// Reads a line that begins with a bracket: a marker, a time in brackets, or a header of `logcat -v long`.
    private mutating func readBracket(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        if let marker = bytes.marker(at: start.position, end: start.end) {
            line.read(marker, bytes, start.end)
            return
        }
        var cursor = LineCursor(start.position + 1, start.end)
        cursor.skipSpaces(bytes)
        if isArrayOfEvents(bytes, start) {
            line.become(eventIn: start.rest)
            return
        }
        guard cursor.peek(bytes).isDigit, stamps.logcatTime(bytes, &cursor, &line.stamp) else {
            line.findMessage(bytes, start)
            return
        }
        header = LogcatLongLine.header(bytes, cursor, stamp: line.stamp).map { .logcat($0) }
        if header == nil {
            _ = cursor.consume(UInt8(ascii: "]"), bytes)
            if isPassedOn(bytes, from: start.position + 1, cursor), readPassedOn(bytes, cursor, into: &line) { return }
            readAfterTime(bytes, cursor, into: &line)
        }
    }

    /// Reads a line that begins with a letter or a sign.
    private mutating func readWord(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        _ first: UInt8,
        into line: inout UnwrappedLine
    ) {
        if first == UInt8(ascii: "<") {
            if readSyslog(bytes, start, into: &line) { return }
        } else if first == UInt8(ascii: "_"), let time = JournalEntryLine.time(bytes, start) {
            header = .journal(time)
            return
        } else if LogcatTag.isPriority(first),
            start.peek(bytes, 1) == UInt8(ascii: "/") || start.peek(bytes, 1) == UInt8(ascii: "(")
        {
            if LogcatBriefLine.readRest(bytes, start, into: &line) { return }
        } else if start.peek(bytes, 3) == UInt8(ascii: " ") {
            var cursor = start
            if readMonth(bytes, start, into: &line) { return }
            if JournalShortLine.skipWeekday(bytes, &cursor) {
                line.stamp = stamps.dateAndTime(bytes, &cursor) ?? stamps.namedMonth(bytes, &cursor)
                if line.stamp != nil {
                    readAfterWeekday(bytes, cursor, into: &line)
                    return
                }
            }
        } else if AppleConsoleLine.read(bytes, start, into: &line) {
            return
        }
        line = UnwrappedLine()
        line.findMessage(bytes, start)
    }

    // MARK: Syslog

    /// Reads a syslog line that begins with its priority.
    mutating func readSyslog(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = start
        guard RFC3164Line.skipPriority(bytes, &cursor) else { return false }
        if RFC5424Line.readRest(bytes, cursor, stamps: &stamps, into: &line) { return true }
        if readMonth(bytes, cursor, into: &line) { return true }
        line.stamp = stamps.dateAndTime(bytes, &cursor)
        if line.stamp == nil || !RFC3164Line.readRest(bytes, cursor, into: &line) {
            StampedLine.readRest(bytes, cursor, into: &line)
        }
        return true
    }

    /// Reads a line that begins with the name of a month: syslog or idevicesyslog.
    mutating func readMonth(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = start
        guard let stamp = stamps.namedMonth(bytes, &cursor) else { return false }
        line.stamp = stamp
        let hasDecimals = bytes.contains(UInt8(ascii: "."), in: start.position..<cursor.position)
        if !IDeviceSyslogLine.readRest(bytes, cursor, hasDecimals: hasDecimals, into: &line),
            !RFC3164Line.readRest(bytes, cursor, into: &line)
        {
            StampedLine.readRest(bytes, cursor, into: &line)
        }
        return true
    }

    /// Reads what follows the time of `journalctl -o short-full` or `-o verbose`, which names the zone, or of a date of
    /// JavaScript.
    mutating func readAfterWeekday(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        cursor.skipSpaces(bytes)
        if line.stamp?.offsetSeconds == nil {
            _ = cursor.word(bytes)
        }
        // The zone's name, as JavaScript writes it.
        if cursor.peek(bytes) == UInt8(ascii: "(") { _ = cursor.skip(through: UInt8(ascii: ")"), bytes) }
        cursor.skipSpaces(bytes)
        if let stamp = line.stamp, JournalEntryLine.hasCursor(bytes, cursor) {
            header = .journal(stamp)
            line = UnwrappedLine()
            return
        }
        if !RFC3164Line.readRest(bytes, cursor, into: &line) { StampedLine.readRest(bytes, cursor, into: &line) }
    }

    /// Reads a syslog message with octet counting (RFC 6587).
    private mutating func readFramed(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) {
        var cursor = start
        if cursor.digits(bytes) != nil, cursor.consume(UInt8(ascii: " "), bytes),
            cursor.peek(bytes) == UInt8(ascii: "<"), readSyslog(bytes, cursor, into: &line)
        {
            return
        }
        line.findMessage(bytes, start)
    }
}

extension Span<UInt8> {
    /// Whether a buffer divider of logcat, such as `--------- beginning of main`, begins here.
    func hasDivider(at index: Int, end: Int) -> Bool {
        index + 10 <= end && word(at: index) == 0x2D2D_2D2D_2D2D_2D2D
    }

    fileprivate func contains(_ byte: UInt8, in range: Range<Int>) -> Bool {
        for index in range where self[index] == byte { return true }
        return false
    }
}
