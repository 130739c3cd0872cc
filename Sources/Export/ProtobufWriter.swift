// SPDX-License-Identifier: Apache-2.0

/// Writes protocol buffers (protobuf.dev/programming-guides/encoding) by hand: the generated code for the messages of two
/// protocols would take longer to build than the rest of the target.
///
/// As proto3 demands of its canonical form, a number of 0 and an empty text are left out, except where the caller says
/// that their presence means something.
package struct ProtobufWriter: Sendable {
    /// What was written.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

    /// Takes the bytes out, which leaves the writer empty.
    mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    private mutating func tag(_ field: Int, _ type: UInt64) { varint(UInt64(field) << 3 | type) }

    /// Writes a whole number; a negative one as its two's complement of 64 bits.
    @inline(__always)
    mutating func integer(_ field: Int, _ value: some BinaryInteger) {
        if value == 0 { return }
        tag(field, 0)
        varint(UInt64(truncatingIfNeeded: value))
    }

    /// Writes a whole number also where it is 0, as the choice of a `oneof` or a field with presence.
    mutating func presentInteger(_ field: Int, _ value: UInt64) {
        tag(field, 0)
        varint(value)
    }

    /// Writes a signed number so that a small magnitude takes few bytes.
    mutating func signed(_ field: Int, _ value: Int64) {
        if value == 0 { return }
        tag(field, 0)
        varint(Self.zigzag(value))
    }

    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    @inline(__always)
    mutating func fixed64(_ field: Int, _ value: UInt64) {
        if value != 0 { presentFixed64(field, value) }
    }

    @inline(__always)
    mutating func presentFixed64(_ field: Int, _ value: UInt64) {
        tag(field, 1)
        word(value)
    }

    /// Writes a double also where it is 0.
    mutating func double(_ field: Int, _ value: Double) { presentFixed64(field, value.bitPattern) }

    @inline(__always)
    mutating func word(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func text(_ field: Int, _ value: String) {
        if !value.isEmpty { presentText(field, value) }
    }

    /// Writes a text also where it is empty, as an element of a list or the choice of a `oneof`.
    mutating func presentText(_ field: Int, _ value: String) {
        tag(field, 2)
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    /// Writes bytes, or UTF-8, also where there are none.
    @inline(__always)
    mutating func data(_ field: Int, _ value: some Collection<UInt8>) {
        tag(field, 2)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Writes a text of the program.
    @inline(__always)
    mutating func write(_ field: Int, _ text: StaticString) {
        tag(field, 2)
        varint(UInt64(text.utf8CodeUnitCount))
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Lets a closure append the content of a field or message.
    @inline(__always)
    mutating func write(_ content: (inout [UInt8]) -> Void) { content(&bytes) }

    /// Writes a message, whose content `body` writes.
    ///
    /// Its length precedes the content and is known only afterwards: so many bytes are reserved for it as the length of
    /// `expected` bytes takes, and content whose length takes another number is moved.
    @inline(__always)
    mutating func message(_ field: Int, expecting expected: Int = 0, _ body: (inout ProtobufWriter) -> Void) {
        tag(field, 2)
        let reserved = Self.size(ofVarint: UInt64(expected))
        let start = bytes.count
        for _ in 0..<reserved { bytes.append(0) }
        body(&self)
        let length = bytes.count - start - reserved
        if reserved == 1, length < 0x80 {
            bytes[start] = UInt8(truncatingIfNeeded: length)
        } else {
            writeLength(at: start, reserved: reserved)
        }
    }

    private mutating func writeLength(at start: Int, reserved: Int) {
        let length = UInt64(bytes.count - start - reserved)
        let size = Self.size(ofVarint: length)
        if size > reserved {
            bytes.insert(contentsOf: repeatElement(0, count: size - reserved), at: start)
        } else if size < reserved {
            bytes.removeSubrange(start..<start + reserved - size)
        }
        for place in 0..<size {
            let more: UInt8 = place < size - 1 ? 0x80 : 0
            bytes[start + place] = UInt8(truncatingIfNeeded: length >> UInt64(7 * place)) & 0x7F | more
        }
    }

    /// Appends fields that were encoded before.
    mutating func append(_ encoded: [UInt8]) { bytes.append(contentsOf: encoded) }

    /// Writes a list of numbers as one field.
    mutating func packed(_ field: Int, _ values: some Collection<UInt64>) {
        if values.isEmpty { return }
        message(field, expecting: values.count) { list in
            for value in values { list.varint(value) }
        }
    }

    /// Writes a list of words of eight bytes as one field.
    mutating func packedFixed64(_ field: Int, _ values: some Collection<UInt64>) {
        if values.isEmpty { return }
        message(field, expecting: values.count * 8) { list in
            for value in values { list.word(value) }
        }
    }

    private static func size(ofVarint value: UInt64) -> Int {
        ((64 - (value | 1).leadingZeroBitCount) * 9 + 64) / 64
    }
}

/// Reads the fields of a protobuf message in order. Total: any bytes give fields, the end or an error.
package struct ProtobufReader {
    /// Why bytes are no message.
    package enum Failure: Error, Equatable {
        /// The message ends inside a field.
        case cutShort
        /// A varint has more than ten bytes, a field the number 0, or a wire type is unknown.
        case malformed
        /// A text is no UTF-8.
        case notUTF8
    }

    /// The value of a field, by its wire type.
    package enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(ArraySlice<UInt8>)
        case fixed32(UInt32)
    }

    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    package var isAtEnd: Bool { rest.isEmpty }

    /// The next field; nil at the end.
    package mutating func next() throws(Failure) -> (number: Int, value: Value)? {
        if rest.isEmpty { return nil }
        let tag = try varint()
        let number = Int(truncatingIfNeeded: tag >> 3)
        guard number > 0, number < 1 << 29 else { throw .malformed }
        switch tag & 7 {
        case 0: return (number, .varint(try varint()))
        case 1: return (number, .fixed64(try word(8)))
        case 2: return (number, .bytes(try delimited()))
        case 5: return (number, .fixed32(UInt32(truncatingIfNeeded: try word(4))))
        default: throw .malformed
        }
    }

    package mutating func varint() throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<10 {
            guard let byte = rest.popFirst() else { throw .cutShort }
            value |= UInt64(byte & 0x7F) << UInt64(7 * place)
            if byte < 0x80 { return value }
        }
        throw .malformed
    }

    /// Bytes behind their length.
    package mutating func delimited() throws(Failure) -> ArraySlice<UInt8> {
        let length = try varint()
        guard length <= UInt64(rest.count) else { throw .cutShort }
        let bytes = rest.prefix(Int(length))
        rest = rest.dropFirst(Int(length))
        return bytes
    }

    package mutating func word(_ size: Int) throws(Failure) -> UInt64 {
        guard rest.count >= size else { throw .cutShort }
        var value: UInt64 = 0
        for place in (0..<size).reversed() { value = value << 8 | UInt64(rest[rest.startIndex + place]) }
        rest = rest.dropFirst(size)
        return value
    }
}

extension ProtobufReader.Value {
    var number: UInt64 {
        switch self {
        case .varint(let value), .fixed64(let value): value
        case .fixed32(let value): UInt64(value)
        case .bytes: 0
        }
    }

    var double: Double { Double(bitPattern: number) }

    var message: ArraySlice<UInt8> { if case .bytes(let bytes) = self { bytes } else { [] } }

    /// A signed number in the form that keeps small magnitudes small.
    var signed: Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }

    func text() throws(ProtobufReader.Failure) -> String {
        guard let text = String(validating: message, as: UTF8.self) else { throw .notUTF8 }
        return text
    }
}
