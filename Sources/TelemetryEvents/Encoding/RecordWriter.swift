// SPDX-License-Identifier: Apache-2.0

/// Writes the parts of a compact record in order, word by word, into preallocated space.
///
/// Every store is bounds-checked. A word store may reach past the last byte of its part, so `slack` bytes must be
/// available after the record.
struct RecordWriter {
    /// The bytes that must be available after a record.
    static let slack = 8
    private(set) var position: Int

    init(at position: Int) {
        self.position = position
    }

    @inline(__always)
    mutating func byte(_ value: UInt8, _ output: inout MutableRawSpan) {
        output.storeBytes(of: value, toByteOffset: position, as: UInt8.self)
        position += 1
    }

    @inline(__always)
    mutating func littleEndian<Word: FixedWidthInteger & BitwiseCopyable>(_ value: Word, _ output: inout MutableRawSpan)
    {
        output.storeBytes(of: value.littleEndian, toByteOffset: position, as: Word.self)
        position += MemoryLayout<Word>.size
    }

    /// Writes a number as LEB128.
    @inline(__always)
    mutating func varint(_ value: UInt64, _ output: inout MutableRawSpan) {
        if value < 0x80 {
            byte(UInt8(truncatingIfNeeded: value), &output)
        } else if value < 1 << 56 {
            let significant = 70 - value.leadingZeroBitCount
            let length = significant / 7
            let continued = 0x8080_8080_8080_8080 & (UInt64(1) << UInt64(8 * length - 8) - 1)
            let groups = SevenBitGroups.spread(value) | continued
            output.storeBytes(of: groups.littleEndian, toByteOffset: position, as: UInt64.self)
            position += length
        } else {
            longVarint(value, &output)
        }
    }

    private mutating func longVarint(_ value: UInt64, _ output: inout MutableRawSpan) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80, &output)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest), &output)
    }

    /// Writes a signed number as zigzag LEB128, so that small magnitudes take few bytes.
    @inline(__always)
    mutating func varint(zigzag value: Int64, _ output: inout MutableRawSpan) {
        varint(UInt64(bitPattern: value << 1 ^ value >> 63), &output)
    }

    /// Writes a text as its length and its bytes.
    @inline(__always)
    mutating func text(_ text: TextRange, of texts: Span<UInt8>, _ output: inout MutableRawSpan) {
        let range = text.range
        varint(UInt64(range.count), &output)
        let start = range.lowerBound
        if range.count >= 8 {
            var offset = 0
            while offset + 8 <= range.count {
                copyWord(texts, from: start + offset, to: offset, &output)
                offset += 8
            }
            copyWord(texts, from: range.upperBound - 8, to: range.count - 8, &output)
        } else if start + 8 <= texts.count {
            copyWord(texts, from: start, to: 0, &output)
        } else {
            for offset in 0..<range.count {
                output.storeBytes(of: texts[start + offset], toByteOffset: position + offset, as: UInt8.self)
            }
        }
        position += range.count
    }

    @inline(__always)
    private func copyWord(_ texts: Span<UInt8>, from source: Int, to offset: Int, _ output: inout MutableRawSpan) {
        output.storeBytes(of: texts.word(at: source).littleEndian, toByteOffset: position + offset, as: UInt64.self)
    }
}

/// Converts numbers of up to 56 bits to and from seven-bit groups, one per byte, lowest first.
enum SevenBitGroups {
    /// Splits 56 bits in halves, the halves in halves, and those again.
    @inline(__always)
    fileprivate static func spread(_ value: UInt64) -> UInt64 {
        var groups = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4
        groups = groups & 0x0000_3FFF_0000_3FFF | (groups & 0x0FFF_C000_0FFF_C000) << 2
        return groups & 0x007F_007F_007F_007F | (groups & 0x3F80_3F80_3F80_3F80) << 1
    }

    /// Joins the low seven bits of each byte into one number.
    @inline(__always)
    static func joined(_ groups: UInt64) -> UInt64 {
        var value = groups & 0x007F_007F_007F_007F | (groups & 0x7F00_7F00_7F00_7F00) >> 1
        value = value & 0x0000_3FFF_0000_3FFF | (value & 0x3FFF_0000_3FFF_0000) >> 2
        return value & 0x0FFF_FFFF | (value & 0x0FFF_FFFF_0000_0000) >> 4
    }
}

extension [UInt8] {
    mutating func appendLittleEndian<Word: FixedWidthInteger>(_ value: Word) {
        var rest = value
        for _ in 0..<MemoryLayout<Word>.size {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Appends a number as LEB128.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a signed number as zigzag LEB128.
    mutating func appendVarint(zigzag value: Int64) {
        appendVarint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }
}
