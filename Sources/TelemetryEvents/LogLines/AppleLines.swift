// SPDX-License-Identifier: Apache-2.0

/// `host name(library)[pid]` or `name[pid:thread]`, as Apple's tools and syslog write it.
struct ProcessHeading {
    /// How long the names in front of the process id may be.
    static let reach = 256

    /// What stands in front of the bracket: a host or a level, and a name, which may hold spaces.
    var names: Range<Int>
    /// The process id.
    var process: UInt64
    /// Whether a thread follows the process id.
    var hasThread: Bool
    /// Behind the closing bracket.
    var end: Int

    /// Nil: no such heading begins here.
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

    /// The first of several names: a host or a device. Empty when there is only one, or when it is a level.
    func device(_ bytes: Span<UInt8>) -> Range<Int> {
        var cursor = LineCursor(names)
        let first = cursor.word(bytes)
        guard !cursor.isAtEnd, !LogPreamble.isLevel(bytes, first) else { return 0..<0 }
        return first
    }

    /// Consumes what stands between the heading and the message: ` <Level>`, a colon. False when neither is there.
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
