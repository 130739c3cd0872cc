// SPDX-License-Identifier: Apache-2.0

/// The tag of a logcat line, which stands in for the marker: `DNP-FETCH`, padded with spaces.
enum LogcatTag {
    /// How long a tag may be.
    static let longest = 256

    /// Whether the letter is one of logcat's priorities.
    @inline(__always)
    static func isPriority(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "V"), UInt8(ascii: "D"), UInt8(ascii: "I"), UInt8(ascii: "W"), UInt8(ascii: "E"),
            UInt8(ascii: "F"), UInt8(ascii: "S"), UInt8(ascii: "A"):
            true
        default: false
        }
    }

    /// Takes `tag: message`; false when there is no colon.
    @inline(__always)
    static func takeTagged(_ bytes: Span<UInt8>, _ rest: LineCursor, into line: inout UnwrappedLine) -> Bool {
        let start = rest.position
        let limit = Swift.min(rest.end, start + longest)
        var index = start
        while index < limit {
            if bytes[index] == UInt8(ascii: ":"), index + 1 == rest.end || bytes[index + 1] == UInt8(ascii: " ") {
                take(start..<index, bytes, into: &line)
                line.takeMessage(bytes, LineCursor(index + 1, rest.end))
                return true
            }
            index += 1
        }
        return false
    }

    /// Takes the component that the tag names.
    @inline(__always)
    static func take(_ tag: Range<Int>, _ bytes: Span<UInt8>, into line: inout UnwrappedLine) {
        guard bytes.hasMarkerHead(at: tag.lowerBound, end: tag.upperBound) else { return }
        var end = tag.upperBound
        while end > tag.lowerBound, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        let name = tag.lowerBound + 4
        if let found = bytes.componentName(at: name, end: end), name + found.length == end {
            line.component = found.component
        } else {
            line.hasUnknownMarker = name < end && bytes.endOfMarkerName(at: name, end: end) == end
        }
    }
}
