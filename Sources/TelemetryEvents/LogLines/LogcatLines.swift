// SPDX-License-Identifier: Apache-2.0

/// `I/DNP-FETCH( 4242): message`, `-v tag`: `I/DNP-FETCH: message`, `-v process`: `I( 4242) message  (DNP-FETCH)`.
enum LogcatBriefLine {
    /// Takes a line, or what follows its time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        guard LogcatTag.isPriority(cursor.peek(bytes)) else { return false }
        cursor.position += 1
        if cursor.peek(bytes) == UInt8(ascii: "(") { return takeProcessLine(bytes, cursor, into: &line) }
        guard cursor.consume(UInt8(ascii: "/"), bytes) else { return false }
        let start = cursor.position
        while !cursor.isAtEnd, cursor.position - start < LogcatTag.longest {
            switch bytes[cursor.position] {
            case UInt8(ascii: "("):
                var ahead = cursor
                if let ids = LogcatProcess(bytes, &ahead), ahead.consume(UInt8(ascii: ":"), bytes) {
                    line.process = ids.last
                    LogcatTag.take(start..<cursor.position, bytes, into: &line)
                    line.takeMessage(bytes, ahead)
                    return true
                }
            case UInt8(ascii: ":") where cursor.position + 1 >= cursor.end || cursor.peek(bytes, 1) == 0x20:
                LogcatTag.take(start..<cursor.position, bytes, into: &line)
                cursor.position += 1
                line.takeMessage(bytes, cursor)
                return true
            default: break
            }
            cursor.position += 1
        }
        return false
    }

    /// `( 4242) message  (TAG)`, or `( 4242: 4260) message` of `-v thread`, which has no tag.
    private static func takeProcessLine(
        _ bytes: Span<UInt8>,
        _ rest: LineCursor,
        into line: inout UnwrappedLine
    ) -> Bool {
        var cursor = rest
        guard let ids = LogcatProcess(bytes, &cursor), cursor.consume(UInt8(ascii: " "), bytes) else { return false }
        line.process = ids.first ?? ids.last
        var end = cursor.end
        if let tag = lastGroup(bytes, cursor.rest) {
            line.process = ids.last
            end = tag.lowerBound - 3
            LogcatTag.take(tag, bytes, into: &line)
        }
        line.takeMessage(bytes, LineCursor(cursor.position, end))
        return true
    }

    /// What is in the brackets that end the text behind two spaces.
    private static func lastGroup(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        guard let last = range.last, bytes[last] == UInt8(ascii: ")") else { return nil }
        var index = last
        while index > range.lowerBound + 2, last - index <= LogcatTag.longest {
            index -= 1
            if bytes[index] == UInt8(ascii: "("), bytes[index - 1] == 0x20, bytes[index - 2] == 0x20 {
                return index + 1..<last
            }
        }
        return nil
    }
}
