// SPDX-License-Identifier: Apache-2.0

/// The control sequences with which programs colour their output (ECMA-48).
enum ANSISequences {
    private static let escape: UInt8 = 0x1B
    private static let bell: UInt8 = 0x07

    /// Whether the range contains an escape byte. Scans branch-free to the end, because hardly any line has one.
    @inline(__always)
    static func arePresent(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let wanted = SIMD16<UInt8>(repeating: escape)
        var found = SIMD2<UInt64>.zero
        var index = range.lowerBound
        while index + 16 <= range.upperBound {
            let block = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
            found |= unsafe unsafeBitCast(block .== wanted, to: SIMD2<UInt64>.self)
            index += 16
        }
        var isInRest = false
        while index < range.upperBound {
            isInRest = isInRest || bytes[index] == escape
            index += 1
        }
        return isInRest || found[0] | found[1] != 0
    }

    /// The range as it was before something passed it on: with escapes for those that are spelled `#033[` or `^[[`, with
    /// spaces for no-break spaces, which pages put in; nil where there is neither.
    static func unspelled(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8]? {
        let spellings: [StaticString] = ["#033[", "^[["]
        var raw: [UInt8] = []
        var isChanged = false
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == 0xC2, index + 1 < range.upperBound, bytes[index + 1] == 0xA0 {
                isChanged = true
                raw.append(UInt8(ascii: " "))
                index += 2
                continue
            }
            let spelling =
                bytes[index] != UInt8(ascii: "#") && bytes[index] != UInt8(ascii: "^")
                ? nil
                : spellings.first {
                    index + $0.utf8CodeUnitCount <= range.upperBound
                        && bytes.equals($0, in: index..<index + $0.utf8CodeUnitCount)
                }
            if let spelling {
                isChanged = true
                raw += [escape, UInt8(ascii: "[")]
                index += spelling.utf8CodeUnitCount
            } else {
                raw.append(bytes[index])
                index += 1
            }
        }
        return isChanged ? raw : nil
    }

    /// Appends the range without its sequences; a truncated sequence drops the rest.
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
