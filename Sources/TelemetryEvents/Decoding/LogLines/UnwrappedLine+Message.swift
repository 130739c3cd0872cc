// SPDX-License-Identifier: Apache-2.0

extension UnwrappedLine {
    /// Takes the marker that stands anywhere in text of unknown form, and the message behind it.
    mutating func takeAnywhere(_ bytes: Span<UInt8>, _ cursor: LineCursor) {
        guard let marker = bytes.firstMarker(in: cursor.rest) else { return }
        take(marker, bytes, cursor.end)
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
