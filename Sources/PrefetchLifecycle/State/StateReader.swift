// SPDX-License-Identifier: Apache-2.0

/// Writes the words of a page, little-endian.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append<Word: FixedWidthInteger>(_ word: Word) {
        var rest = word
        for _ in 0..<MemoryLayout<Word>.size {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

/// Reads the words of a page; every read is checked against its end.
struct StateReader {
    private let page: StatePage
    private var position = 0

    init(_ page: StatePage) {
        self.page = page
    }

    var remaining: Int { page.value.count - position }

    mutating func word() throws(StateError) -> UInt64 { try integer() }

    mutating func integer<Word: FixedWidthInteger>() throws(StateError) -> Word {
        let size = MemoryLayout<Word>.size
        guard remaining >= size else { throw StateError(key: page.key, problem: "a page cut short") }
        var word: Word = 0
        for index in (0..<size).reversed() { word = word << 8 | Word(truncatingIfNeeded: page.value[position + index]) }
        position += size
        return word
    }
}
