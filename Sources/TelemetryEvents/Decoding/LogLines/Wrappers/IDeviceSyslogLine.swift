// SPDX-License-Identifier: Apache-2.0

/// `Nov 15 05:48:00 iPhone App(Library)[4242] <Notice>: message`; where the time has decimals, without the device.
enum IDeviceSyslogLine {
    /// Takes what follows the time; false when it is in another wrapper.
    static func takeRest(
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
        if !hasDecimals { line.device = heading.device(bytes) }
        line.takeAppleMessage(bytes, cursor)
        return true
    }

    private static func isLevel(_ bytes: Span<UInt8>, _ cursor: LineCursor) -> Bool {
        cursor.peek(bytes) == UInt8(ascii: " ") && cursor.peek(bytes, 1) == UInt8(ascii: "<")
    }
}
