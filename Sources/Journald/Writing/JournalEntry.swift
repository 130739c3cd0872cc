// SPDX-License-Identifier: Apache-2.0

/// One entry being encoded in journald's native protocol, at the end of a ``JournalEntryBuffer``.
///
/// A value without a newline stands as `NAME=value\n`; one with a newline as `NAME\n`, its length in 64 bits little
/// endian, its bytes and `\n` (systemd, "Native Journal Protocol"). Nothing is allocated for a field.
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
        endValue(of: field, at: bytes.count - value.byteCount)
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
        endValue(of: field, at: start)
    }

    /// Appends a field whose value is known when the program is compiled.
    public mutating func append(_ field: JournalField, _ value: StaticString) {
        beginValue(of: field)
        let start = bytes.count
        value.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
        endValue(of: field, at: start)
    }

    /// Appends a field whose value is a number in decimal.
    public mutating func append(_ field: JournalField, _ value: some FixedWidthInteger) {
        beginValue(of: field)
        bytes.append(decimal: value)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends a field whose value the closure writes at the end of the bytes that it is given.
    public mutating func append(_ field: JournalField, writing value: (inout [UInt8]) -> Void) {
        beginValue(of: field)
        let start = bytes.count
        value(&bytes)
        guard bytes.count >= start else {
            isOverwritten = true
            return
        }
        endValue(of: field, at: start)
    }

    /// Appends fields that were encoded before.
    mutating func append(encoded: [UInt8]) {
        bytes.append(contentsOf: encoded)
    }

    /// Gives the bytes back, with the entry at their end.
    consuming func finished() -> [UInt8] { bytes }

    private mutating func beginValue(of field: JournalField) {
        fields += 1
        bytes.append(contentsOf: field.assignment)
    }

    private mutating func endValue(of field: JournalField, at start: Int) {
        let length = bytes.count - start
        if bytes.contains(UInt8(ascii: "\n"), from: start) {
            bytes[start - 1] = UInt8(ascii: "\n")
            bytes.insertLength(UInt64(length), at: start)
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
