// SPDX-License-Identifier: Apache-2.0

/// Compresses into snappy's block format (google/snappy, `format_description.txt`), which remote write demands.
///
/// A block is the length of the content as a varint, then literals and copies. Copies are found with a table of hashes of
/// four bytes within fragments of 64 KiB, as in the reference encoder, so that an offset takes two bytes.
package enum SnappyBlock {
    private static let fragment = 1 << 16
    private static let tableBits = 14
    /// The last bytes of a fragment, which are never looked up, so that each look reads whole words.
    private static let margin = 15

    /// The content as one block.
    package static func compress(_ content: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(32 + content.count + content.count / 6)
        var rest = content.count
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(rest))
        var table = [UInt16](repeating: 0, count: 1 << tableBits)
        for start in stride(from: 0, to: content.count, by: fragment) {
            let end = min(start + fragment, content.count)
            compress(content.span.extracting(start..<end), &table, &output)
        }
        return output
    }

    private static func compress(_ input: Span<UInt8>, _ table: inout [UInt16], _ output: inout [UInt8]) {
        guard input.count > margin else { return literal(input, 0..<input.count, &output) }
        for slot in table.indices { table[slot] = 0 }
        let limit = input.count - margin
        var (literalStart, place, misses) = (0, 1, 32)
        while place < limit {
            let word = load(input, place)
            let slot = Int(truncatingIfNeeded: (word &* 0x1E35_A7BD) >> UInt32(32 - tableBits))
            let candidate = Int(table[slot])
            table[slot] = UInt16(truncatingIfNeeded: place)
            guard candidate < place, load(input, candidate) == word else {
                // What does not compress is skipped ever faster.
                place += misses >> 5
                misses += 1
                continue
            }
            literal(input, literalStart..<place, &output)
            var length = 4
            while place + length < input.count, input[candidate + length] == input[place + length] { length += 1 }
            copy(offset: place - candidate, length: length, &output)
            place += length
            (literalStart, misses) = (place, 32)
        }
        literal(input, literalStart..<input.count, &output)
    }

    @inline(__always)
    private static func load(_ input: Span<UInt8>, _ place: Int) -> UInt32 {
        UInt32(input[place]) | UInt32(input[place + 1]) << 8 | UInt32(input[place + 2]) << 16
            | UInt32(input[place + 3]) << 24
    }

    private static func literal(_ input: Span<UInt8>, _ range: Range<Int>, _ output: inout [UInt8]) {
        if range.isEmpty { return }
        let length = range.count - 1
        if length < 60 {
            output.append(UInt8(length) << 2)
        } else if length < 1 << 8 {
            output += [60 << 2, UInt8(length)]
        } else {
            output += [61 << 2, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8)]
        }
        unsafe input.extracting(range).withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
    }

    /// Writes copies of at most 64 bytes; a rest below 4 bytes would have no short form, so it is kept from arising.
    private static func copy(offset: Int, length: Int, _ output: inout [UInt8]) {
        var rest = length
        while rest >= 68 {
            wideCopy(offset, 64, &output)
            rest -= 64
        }
        if rest > 64 {
            wideCopy(offset, 60, &output)
            rest -= 60
        }
        if rest < 12, offset < 1 << 11 {
            output += [
                UInt8(offset >> 8) << 5 | UInt8(rest - 4) << 2 | 1, UInt8(truncatingIfNeeded: offset),
            ]
        } else {
            wideCopy(offset, rest, &output)
        }
    }

    private static func wideCopy(_ offset: Int, _ length: Int, _ output: inout [UInt8]) {
        output += [
            UInt8(length - 1) << 2 | 2, UInt8(truncatingIfNeeded: offset), UInt8(truncatingIfNeeded: offset >> 8),
        ]
    }
}
