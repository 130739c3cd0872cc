// SPDX-License-Identifier: Apache-2.0

/// Finds a name of a closed vocabulary from its bytes, without allocating.
///
/// An open hash table, at most a quarter full. Names are told apart by their length and by the words at their two ends,
/// two words each, which is all of a name of up to 32 bytes.
struct NameTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var length = 0
        var head: UInt64 = 0
        var tail: UInt64 = 0
        var second: UInt64 = 0
        var secondLast: UInt64 = 0
        var name: StaticString = ""
        var value: Value?
    }

    private var slots: [Slot]
    private let shift: UInt64
    private let longest: Int

    init(_ names: [(StaticString, Value)]) {
        var bits: UInt64 = 4
        while 1 << bits < names.count * 4 { bits += 1 }
        shift = 64 - bits
        slots = Array(repeating: Slot(), count: 1 << Int(bits))
        longest = names.map(\.0.utf8CodeUnitCount).max() ?? 0
        for (name, value) in names { insert(name, value) }
    }

    private mutating func insert(_ name: StaticString, _ value: Value) {
        let bytes = name.bytes
        let span = bytes.span
        let length = bytes.count
        var slot = Slot(length: length, head: span.packedHead(0..<length), name: name, value: value)
        slot.tail = span.packedTail(0..<length)
        if length > 16 {
            slot.second = span.word(at: 8)
            slot.secondLast = span.word(at: length - 16)
        }
        var index = firstSlot(slot.head, slot.tail)
        while slots[index].length > 0 { index = (index + 1) & (slots.count - 1) }
        slots[index] = slot
    }

    private func firstSlot(_ head: UInt64, _ tail: UInt64) -> Int {
        Int(truncatingIfNeeded: ((head ^ tail << 23 ^ tail >> 41) &* 0x9E37_79B9_7F4A_7C15) >> shift)
    }

    @inline(__always)
    func value(of bytes: Span<UInt8>, _ range: Range<Int>) -> Value? {
        let length = range.count
        guard length > 0, length <= longest else { return nil }
        let head = bytes.packedHead(range)
        let tail = length > 8 ? bytes.word(at: range.upperBound - 8).byteSwapped : head
        var index = firstSlot(head, tail)
        while true {
            let found = slots[index].length
            if found == 0 { return nil }
            if found == length, slots[index].head == head, slots[index].tail == tail,
                length <= 16 || isEqual(index, bytes, range)
            {
                return slots[index].value
            }
            index = (index + 1) & (slots.count - 1)
        }
    }

    /// Whether the bytes between the words at the ends are the same too.
    private func isEqual(_ index: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        slots[index].second == bytes.word(at: range.lowerBound + 8)
            && slots[index].secondLast == bytes.word(at: range.upperBound - 16)
            && (range.count <= 32 || bytes.equals(slots[index].name, in: range))
    }
}
