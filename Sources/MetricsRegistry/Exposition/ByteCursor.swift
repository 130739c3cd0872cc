// SPDX-License-Identifier: Apache-2.0

/// A place in a page that is being written; writing past the room that was made traps.
@safe
struct ByteCursor {
    /// Bytes that a number takes at most, with what its writer may touch behind it: a double has up to 24 characters,
    /// and digits are stored eight at a time.
    static var numberRoom: Int { 40 }

    private let room: UnsafeMutableRawBufferPointer
    private(set) var written = 0

    init(_ room: UnsafeMutableRawBufferPointer) {
        unsafe self.room = room
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        precondition(unsafe room.count > written)
        unsafe room.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
        written += 1
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(unsafe room.count - written >= bytes.count)
        if let target = unsafe room.baseAddress, let source = bytes.baseAddress {
            unsafe (target + written).copyMemory(from: source, byteCount: bytes.count)
        }
        written += bytes.count
    }

    /// Writes the first `count` of eight characters that lie in a word, the first in its lowest byte.
    @inline(__always)
    mutating func write(characters: UInt64, count: Int) {
        precondition(unsafe room.count - written >= 8)
        unsafe room.storeBytes(of: characters.littleEndian, toByteOffset: written, as: UInt64.self)
        written += count
    }

    /// Leaves `count` bytes for what is written into them later.
    @inline(__always)
    mutating func skip(_ count: Int) {
        precondition(unsafe room.count - written >= count)
        written += count
    }

    /// Replaces a byte that was written or skipped.
    @inline(__always)
    mutating func replace(at place: Int, by byte: UInt8) {
        precondition(place >= 0 && place < written)
        unsafe room.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }

    /// Moves what was written from `place` on, to make room in front of it or to take some away.
    mutating func shift(from place: Int, by offset: Int) {
        precondition(place >= 0 && place <= written && place + offset >= 0)
        precondition(unsafe room.count - written >= offset)
        if let base = unsafe room.baseAddress {
            unsafe (base + place + offset).copyMemory(from: base + place, byteCount: written - place)
        }
        written += offset
    }

    /// Takes back a final `.0`.
    mutating func removeEmptyFraction() {
        guard written >= 2, unsafe room[written - 1] == UInt8(ascii: "0"),
            unsafe room[written - 2] == UInt8(ascii: ".")
        else { return }
        written -= 2
    }
}

extension ByteCursor: TextOutputStream {
    mutating func write(_ string: String) {
        for byte in string.utf8 { write(byte) }
    }

    /// The standard library hands a number's characters over here, so that none is put into a `String` first.
    mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) {
        unsafe write(UnsafeRawBufferPointer(buffer))
    }
}
