// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An entry being encoded in journald's native protocol, at the end of a ``JournalEntryBuffer``.
///
/// A value without a newline is encoded as `NAME=value\n`; one with a newline as `NAME\n`, its length in 64 bits little
/// endian, its bytes and `\n` (systemd, JOURNAL_NATIVE_PROTOCOL). No field allocates.
public struct JournalEntry: ~Copyable, Sendable {
    private(set) var bytes: [UInt8]
    private(set) var fields = 0
    private(set) var isOverwritten = false

    init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// Appends a field whose value is the given bytes.
    public mutating func append(_ field: JournalField, _ value: borrowing RawSpan) {
        beginValue(of: field)
        bytes.append(span: value)
        endValue(at: bytes.count - value.byteCount)
    }

    /// Appends a field whose value is the given bytes.
    public mutating func append(_ field: JournalField, _ value: [UInt8]) {
        unsafe append(field, value.span.bytes)
    }

    /// Appends a field whose value is the UTF-8 of the given text.
    public mutating func append(_ field: JournalField, _ value: String) {
        beginValue(of: field)
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        endValue(at: start)
    }

    /// Appends a field whose value is a compile-time constant.
    public mutating func append(_ field: JournalField, _ value: StaticString) {
        beginValue(of: field)
        let start = bytes.count
        value.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        endValue(at: start)
    }

    /// Appends a field whose value is a number in decimal.
    public mutating func append(_ field: JournalField, _ value: some FixedWidthInteger) {
        beginValue(of: field)
        bytes.append(decimal: value)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends a field whose value the closure appends to the bytes that it gets.
    public mutating func append(_ field: JournalField, writing value: (inout [UInt8]) -> Void) {
        beginValue(of: field)
        let start = bytes.count
        value(&bytes)
        guard bytes.count >= start else {
            isOverwritten = true
            return
        }
        endValue(at: start)
    }

    /// Appends encoded fields.
    mutating func append(encoded: [UInt8]) {
        bytes.append(contentsOf: encoded)
    }

    /// Returns the bytes, with the entry at their end.
    consuming func finished() -> [UInt8] { bytes }

    private mutating func beginValue(of field: JournalField) {
        fields += 1
        bytes.append(contentsOf: field.bytes)
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func endValue(at start: Int) {
        let length = bytes.count - start
        if bytes.contains(UInt8(ascii: "\n"), from: start) {
            bytes[start - 1] = UInt8(ascii: "\n")
            bytes.insertLength(UInt64(length), at: start)
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}

extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(span: borrowing RawSpan) {
        unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }

    /// Appends a number's decimal digits.
    fileprivate mutating func append(decimal value: some FixedWidthInteger) {
        if value < 0 { append(UInt8(ascii: "-")) }
        let start = count
        var rest = value.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest != 0
        self[start...].reverse()
    }

    /// Whether a byte occurs at or after an offset. O(n).
    fileprivate func contains(_ byte: UInt8, from offset: Int) -> Bool {
        unsafe withUnsafeBytes { all in
            guard offset < all.count, let base = all.baseAddress else { return false }
            return unsafe memchr(base + offset, Int32(byte), all.count - offset) != nil
        }
    }

    /// Inserts a 64-bit length, little endian.
    fileprivate mutating func insertLength(_ length: UInt64, at offset: Int) {
        append(contentsOf: repeatElement(0, count: 8))
        for index in stride(from: count - 9, through: offset, by: -1) { self[index + 8] = self[index] }
        for position in 0..<8 { self[offset + position] = UInt8(truncatingIfNeeded: length >> (8 * UInt64(position))) }
    }
}
