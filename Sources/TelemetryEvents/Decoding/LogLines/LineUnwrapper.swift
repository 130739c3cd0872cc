// SPDX-License-Identifier: Apache-2.0

/// Takes device-log lines out of their wrappers (SPEC 3.3).
///
/// It is total: every line is one of the plugin's or foreign, and no read passes the line's end.
struct LineUnwrapper: Sendable {
    /// How much of a line is read.
    static let longestLine = 64 * 1_024
    /// How far into a longer line its message may begin.
    static let longestHead = 4 * 1_024

    let wrapper: LogWrapper?
    var stamps = LogStampReader()
    /// The header of `logcat -v long` whose message the next lines are; it outlives the end of the bytes.
    var header: UnwrappedLine?
    private var plain: [UInt8] = []

    /// - Parameter wrapper: the one that all lines are in; nil: told apart line by line.
    init(wrapper: LogWrapper?) {
        self.wrapper = wrapper
    }

    /// Takes a line out of its wrapper. The line feed may be part of the range or not.
    mutating func unwrap(_ bytes: Span<UInt8>, _ line: Range<Int>, scratch: inout [UInt8]) -> UnwrappedLine {
        let range = bytes.trimmedLine(line)
        if range.count > Self.longestLine { return unwrapLong(bytes, range, scratch: &scratch) }
        return unwrapWhole(bytes, range, scratch: &scratch)
    }

    /// Takes the start of a line that is too long, if its message begins near; an event stays whole, to be refused.
    @inline(never)
    private mutating func unwrapLong(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        let head = range.lowerBound..<range.lowerBound + Self.longestLine
        var line = unwrapWhole(bytes, head, scratch: &scratch)
        if line.isEvent, !line.isInScratch { line.text = range }
        let start = line.isInScratch ? 0 : range.lowerBound
        return line.text.lowerBound - start <= Self.longestHead ? line : UnwrappedLine()
    }

    @inline(__always)
    private mutating func unwrapWhole(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        if ANSISequences.areIn(bytes, range) { return unwrapColoured(bytes, range, scratch: &scratch) }
        return unwrapPlain(bytes, range, scratch: &scratch)
    }

    private mutating func unwrapColoured(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        var copy: [UInt8] = []
        swap(&copy, &plain)
        copy.removeAll(keepingCapacity: true)
        ANSISequences.appendPlain(bytes, range, to: &copy)
        var unwrapped = unwrapPlain(copy.span, copy.span.trimmedLine(0..<copy.count), scratch: &scratch)
        if !unwrapped.isInScratch {
            swap(&copy, &scratch)
            unwrapped.isInScratch = true
        }
        swap(&copy, &plain)
        return unwrapped
    }

    @inline(__always)
    private mutating func unwrapPlain(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        var line = UnwrappedLine()
        if let wrapper {
            takeForced(wrapper, bytes, range, scratch: &scratch, into: &line)
        } else {
            takeUnknown(bytes, range, scratch: &scratch, into: &line)
        }
        return line
    }
}

extension Span<UInt8> {
    /// The line without its end, without white space and control characters around it, and without a byte order mark.
    @inline(__always)
    func trimmedLine(_ line: Range<Int>) -> Range<Int> {
        var start = Swift.min(Swift.max(line.lowerBound, 0), count)
        var end = Swift.min(Swift.max(line.upperBound, start), count)
        while end > start, self[end - 1].isBlank { end -= 1 }
        while start < end, self[start].isBlank { start += 1 }
        if start + 3 <= end, self[start] == 0xEF, self[start + 1] == 0xBB, self[start + 2] == 0xBF {
            start += 3
            while start < end, self[start].isBlank { start += 1 }
        }
        return start..<end
    }
}

extension UInt8 {
    /// White space or a control character, but not the one that begins an ANSI sequence.
    @inline(__always)
    fileprivate var isBlank: Bool { self <= 0x20 && self != 0x1B }
}
