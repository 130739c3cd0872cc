// SPDX-License-Identifier: Apache-2.0

extension JournalReader {
    /// Gives the bytes of one of the current entry's values to a closure, without a copy.
    ///
    /// - Returns: The closure's result, or nil when the entry has no such field.
    /// - Complexity: O(number of the entry's fields).
    public func withValue<Result>(
        of field: JournalField,
        _ body: (borrowing RawSpan) -> Result
    ) throws(JournalReaderError) -> Result? {
        try handle.withValue(of: field, body)
    }

    /// One of the current entry's values, or nil when the entry has no such field.
    ///
    /// - Parameter maximumBytes: How much of it is taken.
    public func value(
        of field: JournalField,
        maximumBytes: Int = .max
    ) throws(JournalReaderError) -> [UInt8]? {
        try withValue(of: field) { value in
            var bytes: [UInt8] = []
            bytes.append(span: value.extracting(first: max(0, maximumBytes)))
            return bytes
        }
    }

    /// Whether the current entry has a field.
    public func hasValue(of field: JournalField) throws(JournalReaderError) -> Bool {
        try withValue(of: field) { _ in true } ?? false
    }

    /// One of the current entry's values as a decimal number, or nil when it isn't one.
    public func number(of field: JournalField) throws(JournalReaderError) -> UInt64? {
        let number = try withValue(of: field) { UInt64(decimal: $0) }
        return number ?? nil
    }

    /// Whether one of the current entry's values is the given one.
    public func hasValue(_ expected: [UInt8], of field: JournalField) throws(JournalReaderError) -> Bool {
        try withValue(of: field) { $0.elementsEqual(expected) } ?? false
    }

    /// When journald took the current entry, in microseconds since 1970.
    public func realtimeMicroseconds() throws(JournalReaderError) -> UInt64 {
        try handle.realtimeMicroseconds()
    }
}
