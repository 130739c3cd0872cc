// SPDX-License-Identifier: Apache-2.0

/// `11-15 05:40:00.000 I/DNP-FETCH( 4242): message`
enum LogcatTimeLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        var cursor = rest
        // The old debugger of Android writes a colon behind the time.
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        cursor.skipSpaces(bytes)
        return LogcatBriefLine.takeRest(bytes, cursor, into: &line)
    }
}
