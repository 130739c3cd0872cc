// SPDX-License-Identifier: Apache-2.0

/// Looks up a name of a closed vocabulary by its bytes, without allocating.
///
/// An open-addressing hash table, at most a quarter full. Names are compared by length and by two words at each end,
/// which cover all of a name of up to 32 bytes.
struct NameTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        var head: UInt64 = 0
        var tail: UInt64 = 0
        var length = 0
        var value: Value?
    }

    /// The words between the ends of names longer than 16 bytes.
    private struct Middle: Sendable {
        var second: UInt64 = 0
        var secondLast: UInt64 = 0
        var name: StaticString = ""
    }

    private var slots: [Slot]
    private var middles: [Middle]
    private let shift: UInt64
    private let longest: Int

    init(_ names: [(StaticString, Value)]) {
        var bits: UInt64 = 4
        while 1 << bits < names.count * 4 { bits += 1 }
        shift = 64 - bits
        slots = Array(repeating: Slot(), count: 1 << Int(bits))
        middles = Array(repeating: Middle(), count: 1 << Int(bits))
        longest = names.map(\.0.utf8CodeUnitCount).max() ?? 0
        for (name, value) in names { insert(name, value) }
    }

    private mutating func insert(_ name: StaticString, _ value: Value) {
        let bytes = name.bytes
        let span = bytes.span
        let length = bytes.count
        let (head, tail) = Self.ends(span, 0..<length)
        let slot = Slot(head: head, tail: tail, length: length, value: value)
        var index = firstSlot(slot.head, slot.tail)
        while slots[index].length > 0 { index = (index + 1) & (slots.count - 1) }
        slots[index] = slot
        if length > 16 {
            middles[index] = Middle(second: span.word(at: 8), secondLast: span.word(at: length - 16), name: name)
        }
    }

    @inline(__always)
    private func firstSlot(_ head: UInt64, _ tail: UInt64) -> Int {
        let mixed = (head ^ tail &<< 23 ^ tail &>> 41) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed &>> shift)
    }

    @inline(__always)
    func value(of bytes: Span<UInt8>, _ range: Range<Int>) -> Value? {
        let length = range.upperBound &- range.lowerBound
        guard length > 0, length <= 16, let first = bytes.wordIfInBounds(at: range.lowerBound) else {
            return valueOfLongName(bytes, range)
        }
        let (head, tail): (UInt64, UInt64)
        if length <= 8 {
            (head, tail) = (first & (.max &>> UInt64(64 &- 8 &* length)), 0)
        } else {
            (head, tail) = (first, bytes.wordIfInBounds(at: range.upperBound &- 8) ?? 0)
        }
        let index = firstSlot(head, tail)
        let slot = slots[index]
        if slot.head == head, slot.tail == tail, slot.length == length { return slot.value }
        return slot.length == 0 ? nil : value(head, tail, from: index, bytes, range)
    }

    /// Looks up a name of up to 15 bytes that a quote terminates; nil for any other text.
    @inline(__always)
    func valueOfQuotedName(_ bytes: Span<UInt8>, at start: Int) -> (value: Value, length: Int)? {
        guard let first = bytes.wordIfInBounds(at: start) else { return nil }
        var length: Int
        var (head, tail) = (first, UInt64(0))
        var quotes = first.bytes(equalTo: UInt8(ascii: "\""))
        if quotes != 0 {
            length = quotes.trailingZeroBitCount &>> 3
            head &= 1 &<< UInt64(8 &* length) &- 1
        } else {
            guard let second = bytes.wordIfInBounds(at: start &+ 8) else { return nil }
            quotes = second.bytes(equalTo: UInt8(ascii: "\""))
            if quotes == 0 { return nil }
            length = 8 &+ quotes.trailingZeroBitCount &>> 3
            if length > 8 { tail = bytes.wordIfInBounds(at: start &+ length &- 8) ?? 0 }
        }
        let slot = slots[firstSlot(head, tail)]
        guard slot.head == head, slot.tail == tail, slot.length == length, let value = slot.value else { return nil }
        return (value, length)
    }

    /// Looks up names that the fast path cannot: longer than 16 bytes, or within the input's last bytes.
    @inline(never)
    private func valueOfLongName(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Value? {
        guard range.count <= longest, !range.isEmpty else { return nil }
        let (head, tail) = Self.ends(bytes, range)
        return value(head, tail, from: firstSlot(head, tail), bytes, range)
    }

    private static func ends(_ bytes: Span<UInt8>, _ range: Range<Int>) -> (head: UInt64, tail: UInt64) {
        let head = bytes.packedHead(range).byteSwapped &>> UInt64(64 &- 8 &* min(range.count, 8))
        return (head, range.count > 8 ? bytes.word(at: range.upperBound &- 8) : 0)
    }

    private func value(
        _ head: UInt64,
        _ tail: UInt64,
        from first: Int,
        _ bytes: Span<UInt8>,
        _ range: Range<Int>
    ) -> Value? {
        var index = first
        while slots[index].length > 0 {
            if slots[index].head == head, slots[index].tail == tail, slots[index].length == range.count,
                range.count <= 16 || hasMiddle(index, bytes, range)
            {
                return slots[index].value
            }
            index = (index &+ 1) & (slots.count &- 1)
        }
        return nil
    }

    /// Whether the bytes between the end words match too.
    private func hasMiddle(_ index: Int, _ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        middles[index].second == bytes.word(at: range.lowerBound &+ 8)
            && middles[index].secondLast == bytes.word(at: range.upperBound &- 16)
            && (range.count <= 32 || bytes.equals(middles[index].name, in: range))
    }
}
