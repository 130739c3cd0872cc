// SPDX-License-Identifier: Apache-2.0

/// A write position in a page; writing past the reserved room traps.
@safe
struct ByteCursor {
    /// The maximum bytes of a number, with what its writer may touch after it: a double has up to 24 characters, and
    /// digits are stored eight at a time.
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

    /// Writes the first `count` of eight characters in a word, the first one in its lowest byte.
    @inline(__always)
    mutating func write(characters: UInt64, count: Int) {
        precondition(unsafe room.count - written >= 8)
        unsafe room.storeBytes(of: characters.littleEndian, toByteOffset: written, as: UInt64.self)
        written += count
    }

    /// Reserves `count` bytes to be written later.
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

    /// Moves what was written from `place` on, to insert or remove room before it.
    mutating func shift(from place: Int, by offset: Int) {
        precondition(place >= 0 && place <= written && place + offset >= 0)
        precondition(unsafe room.count - written >= offset)
        if let base = unsafe room.baseAddress {
            unsafe (base + place + offset).copyMemory(from: base + place, byteCount: written - place)
        }
        written += offset
    }

    /// Removes a final `.0`.
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

    /// The standard library writes the characters of a number here, without creating a `String`.
    mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) {
        unsafe write(UnsafeRawBufferPointer(buffer))
    }
}

extension ByteCursor {
    /// Writes a whole number in decimal digits.
    @inline(__always)
    mutating func write(decimal value: UInt64) {
        if value < 100_000_000 {
            writeLeading(value)
        } else {
            writeLong(value)
        }
    }

    /// Writes a double as Prometheus reads it: `NaN`, `+Inf`, `-Inf`, a whole number below 2^53 without a fraction,
    /// anything else with the fewest digits that give the same double.
    mutating func write(double value: Double) {
        if value.magnitude < 0x1p53, value == value.rounded(.towardZero) {
            if value < 0 { write(UInt8(ascii: "-")) }
            write(decimal: UInt64(value.magnitude))
        } else if value.isFinite {
            value.write(to: &self)
            removeEmptyFraction()
        } else {
            write(value.isNaN ? "NaN" : value < 0 ? "-Inf" : "+Inf")
        }
    }

    /// Writes the decimals of a number of millionths between 1 and 999,999, without trailing zeros.
    mutating func write(millionths: UInt64) {
        let digits = Self.eightDigits(millionths) >> 16
        write(characters: digits | Self.zeros, count: 8 - digits.leadingZeroBitCount / 8)
    }

    @inline(never)
    private mutating func writeLong(_ value: UInt64) {
        let (high, low) = value.quotientAndRemainder(dividingBy: 100_000_000)
        write(decimal: high)
        write(characters: Self.eightDigits(low) | Self.zeros, count: 8)
    }

    @inline(__always)
    private mutating func writeLeading(_ value: UInt64) {
        let digits = Self.eightDigits(value)
        let leadingZeros = min(digits.trailingZeroBitCount / 8, 7)
        write(characters: (digits | Self.zeros) >> UInt64(8 * leadingZeros), count: 8 - leadingZeros)
    }

    private static var zeros: UInt64 { 0x3030_3030_3030_3030 }

    /// The eight digits of a number below 10^8, one a byte, the most significant in the lowest byte.
    ///
    /// The number is halved three times, in all lanes at once: into two of four digits, four of two, eight of one. A
    /// division by 100 of less than 10,000 is a multiplication by 10486 / 2^20, one by 10 of less than 100 a
    /// multiplication by 103 / 2^10.
    @inline(__always)
    static func eightDigits(_ value: UInt64) -> UInt64 {
        let (high, low) = value.quotientAndRemainder(dividingBy: 10_000)
        let fours = high | low << 32
        let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (twos &- tens &* 10) << 8
    }
}

extension UInt64 {
    /// The sum, saturating at the largest number, so that a cumulative count never falls.
    @inline(__always)
    func addingUpToMaximum(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// Writes a page over the bytes of an earlier one; the array only grows.
struct PageWriter: ~Copyable {
    private var bytes: [UInt8]
    private(set) var count = 0

    init(reusing bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// The page, without the rest of the earlier one.
    consuming func finish() -> [UInt8] {
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    mutating func write(_ source: [UInt8]) {
        withRoom(source.count) { cursor in
            unsafe source.withUnsafeBytes { unsafe cursor.write($0) }
        }
    }

    /// Reserves `count` bytes for `patch`.
    mutating func skip(_ count: Int) {
        withRoom(count) { $0.skip(count) }
    }

    /// Discards everything from `place` on.
    mutating func takeBack(from place: Int) {
        count = min(max(place, 0), count)
    }

    /// Lets `body` change what was written from `start` on, with `room` bytes more.
    mutating func patch(from start: Int, room: Int, _ body: (inout ByteCursor) -> Void) {
        let written = count - start
        count = start
        withRoom(written + room) { cursor in
            cursor.skip(written)
            body(&cursor)
        }
    }

    /// Lets `body` write up to `room` bytes.
    @inline(__always)
    mutating func withRoom(_ room: Int, _ body: (inout ByteCursor) -> Void) {
        let missing = count + room - bytes.count
        if missing > 0 {
            bytes.append(contentsOf: repeatElement(0, count: missing))
        }
        let start = count
        count += unsafe bytes.withUnsafeMutableBytes { all in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(rebasing: all[start..<start + room]))
            body(&cursor)
            return cursor.written
        }
    }
}
