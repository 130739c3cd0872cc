// SPDX-License-Identifier: Apache-2.0

/// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding): each field is a tag, which holds its
/// number and wire type, and a value.
extension ByteCursor {
    /// Bytes that a varint takes at most.
    static var varintRoom: Int { 10 }

    @inline(__always)
    mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            write(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        write(UInt8(truncatingIfNeeded: rest))
    }

    /// Writes a signed number so that a small magnitude takes few bytes.
    @inline(__always)
    mutating func write(zigzag value: Int64) {
        write(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    @inline(__always)
    mutating func write(tag: UInt8, varint value: UInt64) {
        write(tag)
        write(varint: value)
    }

    /// Writes a double, whose bits are given, as a field of eight bytes.
    @inline(__always)
    mutating func write(tag: UInt8, fixed value: UInt64) {
        write(tag)
        write(characters: value, count: 8)
    }

    mutating func write(tag: UInt8, text: String) {
        write(tag: tag, varint: UInt64(text.utf8.count))
        write(text)
    }

    /// Writes a field that is a message, which `body` writes. Its length, in front of it, is known only then: one byte
    /// is left for it, and a body that needs more is moved on.
    @inline(__always)
    mutating func write(tag: UInt8, _ body: (inout ByteCursor) -> Void) {
        write(tag)
        let start = written
        skip(1)
        body(&self)
        let length = written - start - 1
        if length < 0x80 {
            replace(at: start, by: UInt8(truncatingIfNeeded: length))
        } else {
            writeLength(at: start, reserved: 1)
        }
    }

    /// Writes the length of what follows the `reserved` bytes at `start` into them, and moves it where they are more or
    /// less than the length takes.
    @inline(never)
    mutating func writeLength(at start: Int, reserved: Int) {
        let length = UInt64(written - start - reserved)
        let size = Self.size(ofVarint: length)
        if size != reserved { shift(from: start + reserved, by: size - reserved) }
        for place in 0..<size {
            let more: UInt8 = place < size - 1 ? 0x80 : 0
            replace(at: start + place, by: UInt8(truncatingIfNeeded: length >> UInt64(7 * place)) & 0x7F | more)
        }
    }

    static func size(ofVarint value: UInt64) -> Int {
        ((64 - (value | 1).leadingZeroBitCount) * 9 + 64) / 64
    }
}
