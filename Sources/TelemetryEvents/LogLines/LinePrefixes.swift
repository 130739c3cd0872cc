// SPDX-License-Identifier: Apache-2.0

// Lines that something has passed on behind a prefix of its own: the time, the job and the step of a build server, the name
// of a container, the number of `grep -n`, or a quote.
//
// Behind one prefix another time is looked for right before the line, and behind two none: a line of nothing but times would
// be read again for each of them.
extension LineUnwrapper {
    /// Whether a line, as far as it was read, may be one that something else has passed on behind a prefix of its own: it is
    /// foreign, or its time may be in the prefix.
    @inline(__always)
    func mayHavePrefix(_ line: UnwrappedLine, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        if line.isForeign { return true }
        return line.stamp == nil && line.process == 0 && !line.isInScratch && !line.isEvent
            && bytes.opening(at: range.lowerBound, end: range.upperBound) == nil
    }

    /// Reads a line of any wrapper behind a prefix, where it is an app's.
    ///
    /// - Returns: whether it names an app anywhere.
    @inline(never)
    mutating func readBehindPrefix(_ bytes: Span<UInt8>, _ range: Range<Int>, into line: inout UnwrappedLine) -> Bool {
        guard bytes.namesApp(in: range) else { return false }
        var places = LinePrefixes(range)
        while let place = places.next(bytes) {
            if readInner(bytes, LineCursor(place, range.upperBound), into: &line) { break }
        }
        return true
    }

    /// Whether something else that is no marker follows a time such as `2026-03-02T03:04:05Z`, which may be that of a build
    /// server or of a container runtime.
    @inline(__always)
    func isPassedOn(_ bytes: Span<UInt8>, from start: Int, _ rest: LineCursor) -> Bool {
        guard prefixes < 2, LineCursor(start, rest.end).peek(bytes, 10) == UInt8(ascii: "T") else { return false }
        var cursor = rest
        cursor.skipSpaces(bytes)
        return bytes.opening(at: cursor.position, end: cursor.end) == nil
    }

    /// Reads a line of any wrapper behind such a time, at once or behind more of a prefix.
    @inline(never)
    mutating func readPassedOn(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard bytes.namesApp(in: cursor.rest) else { return false }
        if readInner(bytes, cursor, into: &line) { return true }
        guard prefixes == 0 else { return false }
        var places = LinePrefixes(cursor.rest)
        while let place = places.next(bytes) {
            if readInner(bytes, LineCursor(place, rest.end), into: &line) { return true }
        }
        return false
    }

    /// Reads a whole line that begins here; one without a time keeps that of its prefix.
    ///
    /// - Returns: whether it is an app's.
    private mutating func readInner(
        _ bytes: Span<UInt8>,
        _ start: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard beginsWrappedLine(bytes, start) else { return false }
        var inner = UnwrappedLine()
        let header = header
        prefixes += 1
        readText(bytes, start, into: &inner)
        prefixes -= 1
        // A header's message is in the lines behind it, which have the prefix as well.
        self.header = header
        guard !inner.isForeign, !inner.isEvent else { return false }
        inner.stamp = inner.stamp ?? line.stamp
        line = inner
        return true
    }

    /// Whether a line begins here as those of wrappers do: with a time, a weekday, the priority of syslog, or
    /// logcat's with a tag.
    private mutating func beginsWrappedLine(_ bytes: Span<UInt8>, _ start: LineCursor) -> Bool {
        var cursor = start
        if LogcatTag.isPriority(cursor.peek(bytes)), cursor.peek(bytes, 1) == UInt8(ascii: "/") { return true }
        if RFC3164Line.skipPriority(bytes, &cursor) || JournalShortLine.skipWeekday(bytes, &cursor) { return true }
        _ = cursor.consume(UInt8(ascii: "["), bytes)
        var stamp: LogStamp?
        if cursor.peek(bytes).isDigit { return stamps.logcatTime(bytes, &cursor, &stamp) }
        return cursor.position == start.position && stamps.namedMonth(bytes, &cursor) != nil
    }
}

/// The places where a line may begin that was passed on.
///
/// A prefix is a preamble as loggers write it, with at most two words of its own; between tabs it may be any text. The line may
/// begin right behind a quote or a parenthesis that opens.
private struct LinePrefixes {
    /// How far into the line the other may begin.
    private static let reach = 256
    private static let mostPlainWords = 2

    private var cursor: LineCursor
    private let limit: Int
    private var plainWords = 0
    /// Whether the last place was right behind an opening, in the middle of a part.
    private var isOpened = false

    init(_ line: Range<Int>) {
        cursor = LineCursor(line)
        limit = Swift.min(line.upperBound, line.lowerBound + Self.reach)
    }

    /// The next such place; nil where there is no other.
    mutating func next(_ bytes: Span<UInt8>) -> Int? {
        let start = cursor.position
        if !isOpened, let opened = placeBehindOpening(bytes) {
            isOpened = true
            return opened
        }
        isOpened = false
        skipPart(bytes)
        if plainWords > Self.mostPlainWords {
            guard cursor.skip(through: UInt8(ascii: "\t"), bytes) else { return nil }
            plainWords = 0
        }
        while cursor.position < limit, cursor.peek(bytes) == 0x20 || cursor.peek(bytes) == UInt8(ascii: "\t") {
            if cursor.peek(bytes) == UInt8(ascii: "\t") { plainWords = 0 }
            cursor.position += 1
        }
        return cursor.position > start && cursor.position < limit ? cursor.position : nil
    }

    /// The place behind what opens a quote or a parenthesis here, such as `>` or `(`; nil where nothing does.
    private func placeBehindOpening(_ bytes: Span<UInt8>) -> Int? {
        var index = cursor.position
        while index < limit, Self.opens(bytes[index]) { index += 1 }
        return index > cursor.position && index < limit ? index : nil
    }

    private static func opens(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: "`"), UInt8(ascii: "'"), UInt8(ascii: "\""): true
        default: byte >= 0x80
        }
    }

    /// Skips text in brackets, or a word up to its end or to a colon within it.
    private mutating func skipPart(_ bytes: Span<UInt8>) {
        if LogPreamble.skipBrackets(bytes, &cursor) { return }
        var ahead = cursor
        let word = ahead.word(bytes)
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: word) {
            cursor.position = colon + 1
            return
        }
        cursor.position = word.upperBound
        if !LogPreamble.isPreamble(bytes, word) { plainWords += 1 }
    }
}

extension Span<UInt8> {
    /// Whether a line names an app anywhere: the plugin by its marker or tag in capitals or by its subsystem, or the
    /// background refresh.
    func namesApp(in line: Range<Int>) -> Bool {
        var index = line.lowerBound
        while index < line.upperBound {
            let word = paddedWord(at: index)
            // A letter of each name that is rare elsewhere.
            var found = word.bytes(equalTo: UInt8(ascii: "P")) | word.bytes(equalTo: UInt8(ascii: "y"))
            found |= word.bytes(equalTo: UInt8(ascii: "R"))
            while found != 0 {
                let letter = index + found.trailingZeroBitCount / 8
                let isNamed =
                    has("DNP-", from: letter - 2, in: line) || has("dailynotification", from: letter - 4, in: line)
                if isNamed || has("BackgroundRefresh", from: letter - 10, in: line) { return true }
                found &= found &- 1
            }
            index += 8
        }
        return false
    }

    private func has(_ name: StaticString, from start: Int, in line: Range<Int>) -> Bool {
        let end = start + name.utf8CodeUnitCount
        return start >= line.lowerBound && end <= line.upperBound && equals(name, in: start..<end)
    }
}
