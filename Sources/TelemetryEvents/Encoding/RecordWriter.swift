// SPDX-License-Identifier: Apache-2.0

/// Writes the parts of a compact record one after the other, by words, into room that was made for it.
///
/// Every store is checked against the room's end; a word may reach past its part's last byte, so eight bytes of room
/// are needed behind the record.
struct RecordWriter {
    /// The room that must be left behind a record.
    static let slack = 8
    private(set) var position: Int

    init(at position: Int) {
        self.position = position
    }

    @inline(__always)
    mutating func byte(_ value: UInt8, _ room: inout MutableRawSpan) {
        room.storeBytes(of: value, toByteOffset: position, as: UInt8.self)
        position += 1
    }

    @inline(__always)
    mutating func littleEndian<Word: FixedWidthInteger & BitwiseCopyable>(_ value: Word, _ room: inout MutableRawSpan) {
        room.storeBytes(of: value.littleEndian, toByteOffset: position, as: Word.self)
        position += MemoryLayout<Word>.size
    }

    /// A number in groups of seven bits, the lowest first (LEB128).
    @inline(__always)
    mutating func varint(_ value: UInt64, _ room: inout MutableRawSpan) {
        if value < 0x80 {
            byte(UInt8(truncatingIfNeeded: value), &room)
        } else if value < 1 << 56 {
            let significant = 70 - value.leadingZeroBitCount
            let length = significant / 7
            let continued = 0x8080_8080_8080_8080 & (UInt64(1) << UInt64(8 * length - 8) - 1)
            let groups = SevenBitGroups.spread(value) | continued
            room.storeBytes(of: groups.littleEndian, toByteOffset: position, as: UInt64.self)
            position += length
        } else {
            longVarint(value, &room)
        }
    }

    private mutating func longVarint(_ value: UInt64, _ room: inout MutableRawSpan) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80, &room)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest), &room)
    }

    /// A signed number, so that small magnitudes take few bytes.
    @inline(__always)
    mutating func varint(zigzag value: Int64, _ room: inout MutableRawSpan) {
        varint(UInt64(bitPattern: value << 1 ^ value >> 63), &room)
    }

    /// A length and the bytes of a text.
    @inline(__always)
    mutating func text(_ text: TextRange, of texts: Span<UInt8>, _ room: inout MutableRawSpan) {
        let range = text.range
        varint(UInt64(range.count), &room)
        let start = range.lowerBound
        if range.count >= 8 {
            var offset = 0
            while offset + 8 <= range.count {
                copyWord(texts, from: start + offset, to: offset, &room)
                offset += 8
            }
            copyWord(texts, from: range.upperBound - 8, to: range.count - 8, &room)
        } else if start + 8 <= texts.count {
            copyWord(texts, from: start, to: 0, &room)
        } else {
            for offset in 0..<range.count {
                room.storeBytes(of: texts[start + offset], toByteOffset: position + offset, as: UInt8.self)
            }
        }
        position += range.count
    }

    @inline(__always)
    private func copyWord(_ texts: Span<UInt8>, from source: Int, to offset: Int, _ room: inout MutableRawSpan) {
        room.storeBytes(of: texts.word(at: source).littleEndian, toByteOffset: position + offset, as: UInt64.self)
    }
}

/// Numbers of up to 56 bits in groups of seven bits, one group a byte, the lowest first.
enum SevenBitGroups {
    /// Parts the 56 bits in two, the halves in two, and those again.
    @inline(__always)
    static func spread(_ value: UInt64) -> UInt64 {
        var groups = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4
        groups = groups & 0x0000_3FFF_0000_3FFF | (groups & 0x0FFF_C000_0FFF_C000) << 2
        return groups & 0x007F_007F_007F_007F | (groups & 0x3F80_3F80_3F80_3F80) << 1
    }

    /// The number that the low seven bits of each byte make.
    @inline(__always)
    static func joined(_ groups: UInt64) -> UInt64 {
        var value = groups & 0x007F_007F_007F_007F | (groups & 0x7F00_7F00_7F00_7F00) >> 1
        value = value & 0x0000_3FFF_0000_3FFF | (value & 0x3FFF_0000_3FFF_0000) >> 2
        return value & 0x0FFF_FFFF | (value & 0x0FFF_FFFF_0000_0000) >> 4
    }
}
