// SPDX-License-Identifier: Apache-2.0

/// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding): each field is a tag, which holds its
/// number and wire type, and a value.
extension ByteCursor {
    /// The maximum bytes of a varint.
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

    /// Writes a message field, whose content `body` writes.
    ///
    /// The length precedes the content and is known only afterwards: one byte is reserved for it, and longer content
    /// is moved.
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

    /// Writes the length of what follows the `reserved` bytes at `start` into them, moving it if the length needs more
    /// or fewer.
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

/// Messages of `io.prometheus.client` that several fields have.
extension ByteCursor {
    /// The maximum bytes of a timestamp, with tag and length.
    static var timestampRoom: Int { 2 + 2 * (1 + varintRoom) }

    /// Writes a `google.protobuf.Timestamp` of non-negative microseconds since 1970.
    @inline(__always)
    mutating func write(tag: UInt8, timestamp microseconds: Int64) {
        let (seconds, fraction) = UInt64(max(microseconds, 0)).quotientAndRemainder(dividingBy: 1_000_000)
        write(tag: tag) { message in
            if seconds != 0 { message.write(tag: 0x08, varint: seconds) }
            if fraction != 0 { message.write(tag: 0x10, varint: fraction * 1_000) }
        }
    }

    /// Writes the creation time of a series, if it is known.
    @inline(__always)
    mutating func write(tag: UInt8, created: Span<UInt64>, ofSeries place: Int) {
        guard place < created.count else { return }
        let microseconds = Int64(bitPattern: created[place])
        if microseconds > 0 { write(tag: tag, timestamp: microseconds) }
    }

    mutating func write(tag: UInt8, labelName name: String, value: String) {
        write(tag: tag) { pair in
            pair.write(tag: 0x0A, text: name)
            pair.write(tag: 0x12, text: value)
        }
    }

    mutating func write(tag: UInt8, _ exemplar: Exemplar) {
        write(tag: tag) { message in
            for label in exemplar.labels { message.write(tag: 0x0A, labelName: label.name, value: label.value) }
            message.write(tag: 0x11, fixed: exemplar.value.bitPattern)
            message.write(tag: 0x1A, timestamp: exemplar.timestamp)
        }
    }
}

extension Exemplar {
    /// The maximum bytes of the message, with tag and length.
    var messageRoom: Int {
        let fixed = 3 * ByteCursor.varintRoom + 16 + ByteCursor.timestampRoom
        return labels.reduce(fixed) { $0 + ProtobufLabels.room($1.name, $1.value) }
    }
}

/// The labels of a series in a `Metric`.
enum ProtobufLabels {
    static func bytes(_ labels: [(name: String, value: String)]) -> [UInt8] {
        let room = labels.reduce(0) { $0 + Self.room($1.name, $1.value) }
        return unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            var cursor = unsafe ByteCursor(UnsafeMutableRawBufferPointer(buffer))
            for label in labels { cursor.write(tag: 0x0A, labelName: label.name, value: label.value) }
            count = cursor.written
        }
    }

    /// The maximum bytes of a label.
    static func room(_ name: String, _ value: String) -> Int {
        name.utf8.count + value.utf8.count + 3 * (1 + ByteCursor.varintRoom)
    }
}
