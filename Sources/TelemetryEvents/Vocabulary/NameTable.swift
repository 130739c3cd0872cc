// SPDX-License-Identifier: Apache-2.0

/// Finds a name of a closed vocabulary from its bytes, without hashing and without allocating.
///
/// Entries are grouped by length; within a length the first and last eight bytes single out the candidate, which is
/// then compared whole. Looking up is O(names of that length), at most four in the vocabularies here.
struct NameTable<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let head: UInt64
        let tail: UInt64
        let name: StaticString
        let value: Value
    }

    private let entries: [Entry]
    private let firstOfLength: [Int]

    init(_ names: [(StaticString, Value)]) {
        let byLength = names.sorted { $0.0.utf8CodeUnitCount < $1.0.utf8CodeUnitCount }
        let longest = byLength.last?.0.utf8CodeUnitCount ?? 0
        entries = byLength.map { name, value in
            let bytes = name.bytes
            return Entry(
                head: bytes.span.packedHead(0..<bytes.count),
                tail: bytes.span.packedTail(0..<bytes.count),
                name: name,
                value: value
            )
        }
        var first = [Int](repeating: 0, count: longest + 2)
        for (name, _) in byLength { first[name.utf8CodeUnitCount + 1] += 1 }
        for length in first.indices.dropFirst() { first[length] += first[length - 1] }
        firstOfLength = first
    }

    func value(of bytes: Span<UInt8>, _ range: Range<Int>) -> Value? {
        let length = range.count
        guard length > 0, length < firstOfLength.count - 1 else { return nil }
        let head = bytes.packedHead(range)
        let tail = bytes.packedTail(range)
        for index in firstOfLength[length]..<firstOfLength[length + 1]
        where entries[index].head == head && entries[index].tail == tail {
            if length <= 16 || bytes.equals(entries[index].name, in: range) { return entries[index].value }
        }
        return nil
    }
}
