// SPDX-License-Identifier: Apache-2.0

/// The control sequences with which programs colour their output (ECMA-48).
enum ANSISequences {
    private static let escape: UInt8 = 0x1B
    private static let bell: UInt8 = 0x07

    /// Whether the range holds the byte that begins one.
    @inline(__always)
    static func areIn(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        let end = range.upperBound
        while index + 32 <= end {
            let first = bytes.word(at: index).bytes(equalTo: escape) | bytes.word(at: index + 8).bytes(equalTo: escape)
            let second =
                bytes.word(at: index + 16).bytes(equalTo: escape) | bytes.word(at: index + 24).bytes(equalTo: escape)
            if first | second != 0 { return true }
            index += 32
        }
        while index + 8 <= end {
            if bytes.word(at: index).bytes(equalTo: escape) != 0 { return true }
            index += 8
        }
        while index < end {
            if bytes[index] == escape { return true }
            index += 1
        }
        return false
    }

    /// Appends the range without its sequences. One that is cut short takes the rest with it.
    static func appendPlain(_ bytes: Span<UInt8>, _ range: Range<Int>, to output: inout [UInt8]) {
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == escape {
                index = endOfSequence(bytes, from: index + 1, to: range.upperBound)
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
    }

    private static func endOfSequence(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        guard start < end else { return end }
        switch bytes[start] {
        case UInt8(ascii: "["):
            var index = start + 1
            while index < end, 0x20...0x3F ~= bytes[index] { index += 1 }
            return min(index + 1, end)
        case UInt8(ascii: "]"):
            var index = start + 1
            while index < end, bytes[index] != bell, bytes[index] != escape { index += 1 }
            if index + 1 < end, bytes[index] == escape { index += 1 }
            return min(index + 1, end)
        case 0x20...0x2F:
            var index = start
            while index < end, 0x20...0x2F ~= bytes[index] { index += 1 }
            return min(index + 1, end)
        default:
            return start + 1
        }
    }
}
