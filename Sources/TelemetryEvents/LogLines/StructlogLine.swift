// SPDX-License-Identifier: Apache-2.0

/// `{"event":"[DNP-FETCH] message","level":"info","timestamp":"2025-11-15T05:48:00Z"}`
enum StructlogLine {
    /// Reads an object whose texts have no escapes.
    static func read(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        stamps: inout LogStampReader,
        into line: inout UnwrappedLine
    ) {
        guard let message = object.structlogEvent else { return }
        line.stamp = (object.timestamp ?? object.carriedTime).flatMap { stamps.time(bytes, of: $0) }
        line.readMessage(bytes, LineCursor(bytes.trimmedLine(message)))
    }

    /// Reads the message of an object that was cut within it or behind it, as far as it goes; false for a line that is none.
    @inline(never)
    static func readCut(_ bytes: Span<UInt8>, _ range: Range<Int>, into line: inout UnwrappedLine) -> Bool {
        guard let last = range.last, bytes[last] != UInt8(ascii: "}") else { return false }
        var place = range.lowerBound + 1
        while place < range.upperBound {
            place = bytes.firstIndex(of: UInt8(ascii: "["), or: UInt8(ascii: "{"), in: place..<range.upperBound)
            // What is nested is not the object's own.
            guard place < range.upperBound, bytes[place] == UInt8(ascii: "[") else { return false }
            if isMessage(bytes, from: range.lowerBound, at: place),
                bytes.marker(at: place, end: range.upperBound) != nil
            {
                let end = bytes.firstIndex(of: UInt8(ascii: "\""), in: place..<range.upperBound) ?? range.upperBound
                line.readMessage(bytes, LineCursor(place, end))
                return !line.isForeign
            }
            place += 1
        }
        return false
    }

    /// Whether the value of `event` begins at a place.
    private static func isMessage(_ bytes: Span<UInt8>, from start: Int, at place: Int) -> Bool {
        func isSpace(_ index: Int) -> Bool { index >= start && bytes[index] == UInt8(ascii: " ") }
        let name: StaticString = #""event""#
        var end = place - 1
        guard end >= start, bytes[end] == UInt8(ascii: "\"") else { return false }
        while isSpace(end - 1) { end -= 1 }
        end -= 1
        guard end >= start, bytes[end] == UInt8(ascii: ":") else { return false }
        while isSpace(end - 1) { end -= 1 }
        let length = name.utf8CodeUnitCount
        return end - length >= start && bytes.equals(name, in: end - length..<end)
    }
}
