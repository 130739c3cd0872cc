// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15 05:48:00.123456+0000 App[4242:123456] [category] message`
enum XcodeLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        cursor.skipSpaces(bytes)
        guard let heading = ProcessHeading(bytes, cursor) else { return false }
        return take(heading, bytes, cursor.end, into: &line)
    }

    /// Takes what follows the process; false when it is in another wrapper.
    static func take(
        _ heading: ProcessHeading,
        _ bytes: Span<UInt8>,
        _ end: Int,
        into line: inout UnwrappedLine
    ) -> Bool {
        guard heading.hasThread else { return false }
        line.process = heading.process
        var cursor = LineCursor(heading.end, end)
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        line.takeAppleMessage(bytes, cursor)
        return true
    }
}
