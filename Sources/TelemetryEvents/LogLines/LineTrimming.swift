// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// The line without its terminator, surrounding white space and control characters, and byte order mark.
    @inline(__always)
    package func trimmedLine(_ line: Range<Int>) -> Range<Int> {
        var start = Swift.min(Swift.max(line.lowerBound, 0), count)
        var end = Swift.min(Swift.max(line.upperBound, start), count)
        while end > start, self[end - 1].isBlank { end -= 1 }
        while start < end, self[start].isBlank { start += 1 }
        if start < end, self[start] >= 0x80 { start = endOfInvalidBytes(from: start, end: end) }
        if start + 3 <= end, self[start] == 0xEF, self[start + 1] == 0xBB, self[start + 2] == 0xBF {
            start += 3
            while start < end, self[start].isBlank { start += 1 }
        }
        return start..<end
    }

    /// The first byte behind bytes that begin no UTF-8 character, and behind the white space among them.
    ///
    /// What is left of a line that was cut in the middle, or garbage of a serial port, must not hide what follows it.
    @inline(never)
    private func endOfInvalidBytes(from start: Int, end: Int) -> Int {
        var index = start
        while index < end, self[index].isBlank || (self[index] >= 0x80 && !beginsCharacter(at: index, end: end)) {
            index += 1
        }
        return index
    }

    /// Whether a UTF-8 character of several bytes begins here that does not stand for invalid bytes.
    private func beginsCharacter(at index: Int, end: Int) -> Bool {
        let length =
            switch self[index] {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 0
            }
        guard length > 0, index + length <= end else { return false }
        for next in index + 1..<index + length where self[next] & 0xC0 != 0x80 { return false }
        let isReplacement = length == 3 && self[index] == 0xEF && self[index + 1] == 0xBF && self[index + 2] == 0xBD
        return !isReplacement
    }
}

extension UInt8 {
    /// White space or a control character, except the escape that begins an ANSI sequence.
    @inline(__always)
    fileprivate var isBlank: Bool { self <= 0x20 && self != 0x1B }
}
