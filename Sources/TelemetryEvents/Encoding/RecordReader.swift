// SPDX-License-Identifier: Apache-2.0

/// Reads the parts of a compact record in order; every read is bounds-checked.
struct RecordReader {
    private let start: Int
    private(set) var position: Int

    init(start: Int) {
        self.start = start
        position = start
    }

    func error(_ problem: StaticString) -> EventRecordError {
        EventRecordError(offset: start, problem: problem)
    }

    @inline(__always)
    mutating func byte(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt8 {
        guard position < bytes.count else { throw error("a record cut short") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func littleEndian(_ bytes: Span<UInt8>, size: Int) throws(EventRecordError) -> UInt64 {
        guard position + size <= bytes.count else { throw error("a record cut short") }
        if size == 8 {
            defer { position += 8 }
            return bytes.word(at: position)
        }
        var word: UInt64 = 0
        for index in 0..<size { word |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += size
        return word
    }

    @inline(__always)
    mutating func littleEndian64(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt64 {
        guard position + 8 <= bytes.count else { throw error("a record cut short") }
        defer { position += 8 }
        return bytes.word(at: position)
    }

    @inline(__always)
    mutating func littleEndian32(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt32 {
        guard position + 8 <= bytes.count else {
            return UInt32(truncatingIfNeeded: try littleEndian(bytes, size: 4))
        }
        defer { position += 4 }
        return UInt32(truncatingIfNeeded: bytes.word(at: position))
    }

    /// Reads a LEB128 number; up to eight bytes are decoded as one word.
    @inline(__always)
    mutating func varint(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt64 {
        guard position + 8 <= bytes.count else { return try longVarint(bytes) }
        let word = bytes.word(at: position)
        if word & 0x80 == 0 {
            position += 1
            return word & 0x7F
        }
        let ends = ~word & 0x8080_8080_8080_8080
        if ends == 0 { return try longVarint(bytes) }
        position += (ends.trailingZeroBitCount + 1) >> 3
        return SevenBitGroups.joined(word & (ends ^ (ends &- 1)))
    }

    @inline(never)
    private mutating func longVarint(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte(bytes)
            guard shift < 63 || next <= 1 else { throw error("a number of more than 64 bits") }
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return value }
            shift += 7
        }
    }

    @inline(__always)
    mutating func zigzag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Int64 {
        let value = try varint(bytes)
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// Validates a time against the years 1970 to 9999, the range that RFC 3339 can write.
    @inline(__always)
    func time(_ microseconds: Int64) throws(EventRecordError) -> Timestamp {
        guard 0..<253_402_300_800_000_000 ~= microseconds else { throw error("a time out of range") }
        return Timestamp(microseconds: microseconds)
    }

    @inline(__always)
    mutating func text(_ bytes: Span<UInt8>) throws(EventRecordError) -> Event.Text {
        let count = try varint(bytes)
        guard count <= UInt64(bytes.count - position) else { throw error("a text cut short") }
        defer { position += Int(count) }
        return position..<position + Int(count)
    }
}
