// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15 05:48:00.123456+0000 0x1f2e  Default  0x0  4242  0  App: (Library) [subsystem:category] message`
enum AppleDefaultLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard skipHexadecimal(bytes, &cursor) else { return false }
        cursor.skipSpaces(bytes)
        _ = cursor.word(bytes)
        cursor.skipSpaces(bytes)
        // The type `State dump` has two words.
        if cursor.peek(bytes) != UInt8(ascii: "0") { _ = cursor.word(bytes) }
        cursor.skipSpaces(bytes)
        guard skipHexadecimal(bytes, &cursor) else { return false }
        cursor.skipSpaces(bytes)
        guard let process = cursor.digits(bytes) else { return false }
        cursor.skipSpaces(bytes)
        guard cursor.digits(bytes) != nil else { return false }
        line.process = process
        line.platform = .ios
        let names = cursor.position
        while cursor.skip(through: UInt8(ascii: ":"), bytes) {
            if cursor.peek(bytes) == UInt8(ascii: " ") {
                line.noteProcess(bytes.trimmed(names..<cursor.position - 1), bytes)
                line.readAppleMessage(bytes, cursor)
                break
            }
        }
        return true
    }

    private static func skipHexadecimal(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        guard cursor.peek(bytes) == UInt8(ascii: "0"), cursor.peek(bytes, 1) == UInt8(ascii: "x") else { return false }
        cursor.position += 2
        while cursor.peek(bytes).isHexDigit { cursor.position += 1 }
        return cursor.peek(bytes) == UInt8(ascii: " ")
    }
}

/// `2025-11-15 05:48:00.123 Df App[4242:1f2e] (Library) [subsystem:category] message`
enum AppleCompactLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        XcodeLine.readRest(bytes, rest, into: &line)
    }
}

/// `2025-11-15 05:48:00.123456+0000  localhost App[4242]: (Library) [subsystem:category] message`
enum AppleSyslogLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard let heading = ProcessHeading(bytes, cursor) else { return false }
        line.platform = .ios
        return read(heading, bytes, cursor.end, into: &line)
    }

    /// Parses what follows the process; false if the line has another format. That of the journal is the same but for
    /// the library and the name of the host.
    static func read(
        _ heading: ProcessHeading,
        _ bytes: Span<UInt8>,
        _ end: Int,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = LineCursor(heading.end, end)
        guard !heading.hasThread, heading.skipSeparator(bytes, &cursor) else { return false }
        line.process = heading.process
        line.device = heading.device(bytes)
        line.noteProgram(heading.program(bytes), bytes)
        var message = cursor
        message.skipSpaces(bytes)
        if message.peek(bytes) == UInt8(ascii: "(") || bytes.equals("localhost", in: line.device) {
            line.platform = .ios
        }
        line.readAppleMessage(bytes, cursor)
        return true
    }
}

/// `2025-11-15 05:48:00.123456+0000 App[4242:123456] [category] message`
enum XcodeLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard let heading = ProcessHeading(bytes, cursor) else { return false }
        return read(heading, bytes, cursor.end, into: &line)
    }

    /// Parses what follows the process; false if the line has another format.
    static func read(
        _ heading: ProcessHeading,
        _ bytes: Span<UInt8>,
        _ end: Int,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard heading.hasThread else { return false }
        line.process = heading.process
        line.platform = .ios
        line.noteProcess(heading.program(bytes), bytes)
        var cursor = LineCursor(heading.end, end)
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        line.readAppleMessage(bytes, cursor, showsSubsystem: false)
        return true
    }
}

/// `Nov 15 05:48:00 iPhone App(Library)[4242] <Notice>: message`; without the device if the time has decimals.
enum IDeviceSyslogLine {
    /// Parses what follows the time; false if the line has another format.
    static func readRest(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        hasDecimals: Bool,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard let heading = ProcessHeading(bytes, cursor), isLevel(bytes, LineCursor(heading.end, cursor.end)),
            heading.skipSeparator(bytes, &cursor)
        else { return false }
        line.process = heading.process
        line.platform = .ios
        if !hasDecimals { line.device = heading.device(bytes) }
        line.noteProcess(heading.program(bytes), bytes)
        line.readAppleMessage(bytes, cursor)
        return true
    }

    private static func isLevel(_ bytes: Span<UInt8>, _ cursor: LineCursor) -> Bool {
        cursor.peek(bytes) == UInt8(ascii: " ") && cursor.peek(bytes, 1) == UInt8(ascii: "<")
    }
}

/// `default<TAB>05:48:00.123456+0000<TAB>App<TAB>message`, as copied from Console.app: the time has no date.
enum AppleConsoleLine {
    /// Parses a line; false if it has another format.
    static func read(_ bytes: Span<UInt8>, _ start: LineCursor, into line: inout UnwrappedLine) -> Bool {
        let tab = UInt8(ascii: "\t")
        var cursor = start
        guard LogPreamble.isLevel(bytes, cursor.word(bytes)), cursor.consume(tab, bytes), cursor.peek(bytes).isDigit,
            cursor.skip(through: tab, bytes)
        else { return false }
        let process = cursor.position
        guard cursor.skip(through: tab, bytes) else { return false }
        line.platform = .ios
        line.noteProcess(process..<cursor.position - 1, bytes)
        line.readMessage(bytes, cursor)
        return true
    }
}

/// `{"eventMessage":"message","subsystem":"...","category":"fetch","timestamp":"...","processID":4242}`
enum AppleNDJSONLine {
    /// Reads an object whose texts have no escapes.
    static func read(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) {
        guard let message = object.eventMessage else { return }
        line.platform = .ios
        if let timestamp = object.timestamp {
            var cursor = LineCursor(timestamp)
            line.stamp = stamps.dateAndTime(bytes, &cursor)
        }
        if let process = object.processID {
            var cursor = LineCursor(process)
            line.process = cursor.digits(bytes) ?? 0
        }
        if let path = object.processPath { line.noteProcess(bytes.lastPathPart(path), bytes) }
        if let subsystem = object.subsystem, let category = object.category, !subsystem.isEmpty {
            line.isUnmarked = false
            line.component = AppleSubsystem.component(bytes, subsystem: subsystem, category: category)
        }
        line.readMessage(bytes, ofMember: message, stamps: &stamps)
    }
}

/// `host name(library)[pid]` or `name[pid:thread]`, as Apple's tools and syslog write it.
struct ProcessHeading {
    /// The maximum length of the names before the process id.
    static let reach = 256

    /// The text before the bracket: a host or a level, and a process name, which may contain spaces.
    var names: Range<Int>
    var process: UInt64
    /// Whether a thread id follows the process id.
    var hasThread: Bool
    /// The index after the closing bracket.
    var end: Int

    /// Nil if no such heading begins here.
    init?(_ bytes: Span<UInt8>, _ cursor: LineCursor) {
        let limit = Swift.min(cursor.end, cursor.position + Self.reach)
        var index = cursor.position
        while index < limit {
            switch bytes[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "="): return nil
            case UInt8(ascii: "["):
                guard index > cursor.position, bytes[index - 1] != UInt8(ascii: " ") else { return nil }
                names = cursor.position..<index
                var inside = LineCursor(index + 1, cursor.end)
                guard let process = inside.digits(bytes) else { return nil }
                self.process = process
                hasThread = inside.consume(UInt8(ascii: ":"), bytes)
                if hasThread {
                    let thread = inside.position
                    while inside.peek(bytes).isHexDigit || inside.peek(bytes) | 0x20 == UInt8(ascii: "x") {
                        inside.position += 1
                    }
                    guard inside.position > thread else { return nil }
                }
                guard inside.consume(UInt8(ascii: "]"), bytes) else { return nil }
                end = inside.position
                return
            default: index += 1
            }
        }
        return nil
    }

    /// The first of several names: a host or a device. Empty if there is only one name, or if it is a log level.
    func device(_ bytes: Span<UInt8>) -> Range<Int> {
        var cursor = LineCursor(names)
        let first = cursor.word(bytes)
        guard !cursor.isAtEnd, !LogPreamble.isLevel(bytes, first) else { return 0..<0 }
        return first
    }

    /// The last of the names: the program's.
    func program(_ bytes: Span<UInt8>) -> Range<Int> {
        var start = names.upperBound
        while start > names.lowerBound, bytes[start - 1] != UInt8(ascii: " ") { start -= 1 }
        return start..<names.upperBound
    }

    /// Consumes the separator before the message: ` <Level>`, a colon or both. False if there is none.
    func skipSeparator(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Bool {
        cursor.position = end
        var ahead = cursor
        ahead.skipSpaces(bytes)
        if ahead.consume(UInt8(ascii: "<"), bytes), ahead.skip(through: UInt8(ascii: ">"), bytes),
            ahead.consume(UInt8(ascii: ":"), bytes)
        {
            cursor = ahead
            return true
        }
        return cursor.consume(UInt8(ascii: ":"), bytes)
    }
}

extension UnwrappedLine {
    /// Reads a message after an optional `(library)` and `[subsystem:category]` or `[category]`.
    ///
    /// - Parameter showsSubsystem: whether the wrapper always tells a category's subsystem. If not, a category of the plugin's
    ///   may be another library's, so that only messages of a known form are the plugin's.
    mutating func readAppleMessage(_ bytes: Span<UInt8>, _ message: LineCursor, showsSubsystem: Bool = true) {
        var cursor = message
        cursor.skipSpaces(bytes)
        if cursor.peek(bytes) == UInt8(ascii: "(") {
            var ahead = cursor
            if ahead.skip(through: UInt8(ascii: ")"), bytes), ahead.peek(bytes) == UInt8(ascii: " ") {
                ahead.skipSpaces(bytes)
                cursor = ahead
            }
        }
        if cursor.peek(bytes) == UInt8(ascii: "["), bytes.marker(at: cursor.position, end: cursor.end) == nil {
            let group = cursor.position + 1
            var ahead = LineCursor(group, Swift.min(cursor.end, group + AppleSubsystem.reach))
            if ahead.skip(through: UInt8(ascii: "]"), bytes) {
                let name = group..<ahead.position - 1
                component = AppleSubsystem.component(bytes, name)
                isUnmarked = false
                if component != nil {
                    platform = .ios
                } else if !showsSubsystem, let named = AppleSubsystem.component(bytes, category: name), named != .debug
                {
                    component = named
                    isUnmarked = true
                }
                cursor.position = ahead.position
            }
        }
        readMessage(bytes, cursor)
    }
}
