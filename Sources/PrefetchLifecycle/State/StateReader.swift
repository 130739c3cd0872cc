// SPDX-License-Identifier: Apache-2.0

/// Writes the words of a page, little-endian.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

    mutating func append<Word: FixedWidthInteger>(_ word: Word) {
        unsafe withUnsafeBytes(of: word.littleEndian) { unsafe bytes.append(contentsOf: $0) }
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
        unsafe withUnsafeMutableBytes(of: &word) { target in
            unsafe page.value.withUnsafeBytes { source in
                unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<position + size]))
            }
        }
        position += size
        return Word(littleEndian: word)
    }
}
