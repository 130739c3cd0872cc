// SPDX-License-Identifier: Apache-2.0

extension UnwrappedLine {
    /// Takes the marker that stands anywhere in text of unknown form, and the message behind it.
    @inline(__always)
    mutating func takeAnywhere(_ bytes: Span<UInt8>, _ cursor: LineCursor) {
        if let marker = bytes.marker(at: cursor.position, end: cursor.end) {
            take(marker, bytes, cursor.end)
        } else if let marker = bytes.firstMarker(in: cursor.rest),
            LogPreamble.fills(bytes, cursor.position..<marker.start, plainWords: 2)
        {
            take(marker, bytes, cursor.end)
        }
    }

    /// Takes the message of a known wrapper: a marker begins it, or a tag or category has already told the component.
    @inline(__always)
    mutating func takeMessage(_ bytes: Span<UInt8>, _ message: LineCursor) {
        var cursor = message
        cursor.skipSpaces(bytes)
        if let marker = bytes.marker(at: cursor.position, end: cursor.end) {
            take(marker, bytes, cursor.end)
        } else if component != nil || hasUnknownMarker {
            text = cursor.rest
        } else if let marker = bytes.firstMarker(in: cursor.rest),
            LogPreamble.fills(bytes, cursor.position..<marker.start)
        {
            take(marker, bytes, cursor.end)
        }
    }

    /// Takes a marker and the message behind it.
    @inline(__always)
    mutating func take(_ marker: LogMarker, _ bytes: Span<UInt8>, _ end: Int) {
        component = marker.component
        hasUnknownMarker = marker.component == nil
        var cursor = LineCursor(marker.end, end)
        _ = cursor.consume(UInt8(ascii: ":"), bytes)
        cursor.skipSpaces(bytes)
        text = cursor.rest
    }
}
