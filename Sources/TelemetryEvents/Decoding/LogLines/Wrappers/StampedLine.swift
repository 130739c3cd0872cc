// SPDX-License-Identifier: Apache-2.0

/// `2025-11-15T05:48:00Z [DNP-FETCH] message`, `[2025-11-15 05:48:00.123] INFO [DNP-FETCH] message`
enum StampedLine {
    /// Takes what follows the time: the marker stands anywhere near.
    @inline(__always)
    static func takeRest(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) {
        var cursor = rest
        _ = cursor.consume(UInt8(ascii: "]"), bytes)
        cursor.skipSpaces(bytes)
        line.takeAnywhere(bytes, cursor)
    }
}
