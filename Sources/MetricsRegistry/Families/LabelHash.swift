// SPDX-License-Identifier: Apache-2.0

/// A hash of the bytes of label values, seeded against values chosen to collide.
///
/// It folds sixteen bytes at a time with a 64 by 64 bit multiplication whose halves are mixed, several times faster on
/// short strings than the standard library's hasher.
struct LabelHash {
    private(set) var value: UInt64

    init(seed: UInt64) {
        value = seed
    }

    /// Adds a text; up to 15 bytes are hashed as a `SmallText`, longer ones by their bytes.
    @inline(__always)
    mutating func combine(_ text: String) {
        if let small = SmallText(ofSmallForm: text) {
            value = Self.fold(small, into: value)
        } else {
            combine(long: text)
        }
    }

    @inline(never)
    private mutating func combine(long text: String) {
        if text.utf8.count <= SmallText.maximumBytes {
            value = Self.fold(SmallText(packing: text), into: value)
            return
        }
        let state = value
        let contiguous = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            unsafe Self.fold(UnsafeRawBufferPointer(bytes), into: state)
        }
        if let contiguous {
            value = contiguous
        } else {
            var copy = text
            value = copy.withUTF8 { unsafe Self.fold(UnsafeRawBufferPointer($0), into: state) }
        }
    }

    @inline(__always)
    private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inline(__always)
    private static func fold(_ text: SmallText, into state: UInt64) -> UInt64 {
        mix(text.first ^ state, text.second ^ golden ^ (state >> 32 | state << 32))
    }

    /// Odd constants with balanced bits: the fractional parts of the golden ratio and of the square root of two.
    private static let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let silver: UInt64 = 0x6A09_E667_F3BC_C909

    @inline(__always)
    private static func fold(_ bytes: UnsafeRawBufferPointer, into state: UInt64) -> UInt64 {
        let count = bytes.count
        var folded = state ^ (UInt64(truncatingIfNeeded: count) &* silver)
        var offset = 0
        while count - offset > 16 {
            let left = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let right = unsafe bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)
            folded = mix(left ^ folded, right ^ golden)
            offset += 16
        }
        let first = unsafe bytes.loadUnaligned(fromByteOffset: min(offset, count - 8), as: UInt64.self)
        let last = unsafe bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        return mix(first ^ folded, last ^ golden ^ (folded >> 32 | folded << 32))
    }
}

/// A text of up to 15 bytes in two words: the bytes from the lowest on, and their number in the highest.
///
/// A small `String` has this form, apart from the four highest bits, on every 64-bit platform so far. If so, its words
/// are used directly, which is several times faster than reading its bytes; each process checks this once.
private struct SmallText: Equatable {
    static var maximumBytes: Int { 15 }

    let first: UInt64
    let second: UInt64

    /// The text, if its bytes are stored inline in the `String`.
    @inline(__always)
    init?(ofSmallForm text: String) {
        guard MemoryLayout<String>.size == 2 * MemoryLayout<UInt64>.size, Self.isFormKnown else { return nil }
        let words = unsafe unsafeBitCast(text, to: (first: UInt64, second: UInt64).self)
        guard words.second & Self.smallMark != 0 else { return nil }
        first = words.first
        second = words.second & Self.textBits
    }

    /// The first 15 bytes of the text.
    init(packing text: String) {
        var words: (UInt64, UInt64) = (0, 0)
        var count = 0
        for byte in text.utf8.prefix(Self.maximumBytes) {
            let bits = UInt64(byte) << UInt64(count % 8 * 8)
            if count < 8 { words.0 |= bits } else { words.1 |= bits }
            count += 1
        }
        first = words.0
        second = words.1 | UInt64(count) << 56
    }

    /// The bit of the second word that marks an inline string.
    private static var smallMark: UInt64 { 0x2000_0000_0000_0000 }
    private static var textBits: UInt64 { 0x0FFF_FFFF_FFFF_FFFF }

    private static let isFormKnown: Bool = {
        guard MemoryLayout<String>.size == 2 * MemoryLayout<UInt64>.size else { return false }
        let letters = "abcdefghijklmno"
        let samples = (0...maximumBytes).map { String(letters.prefix($0)) } + ["\u{E9}t\u{E9}", "\u{1F600}", "\0"]
        let long = [letters + "p", String(repeating: "\u{E9}", count: 8), String(repeating: "x", count: 1_000)]
        func words(_ text: String) -> (first: UInt64, second: UInt64) {
            unsafe unsafeBitCast(text, to: (first: UInt64, second: UInt64).self)
        }
        return samples.allSatisfy { sample in
            var spacious = sample
            spacious.reserveCapacity(100)
            let small = words(String(decoding: Array(sample.utf8), as: UTF8.self))
            let packed = SmallText(packing: sample)
            return small.second & smallMark != 0 && small.first == packed.first
                && small.second & textBits == packed.second && words(spacious).second & smallMark == 0
        } && long.allSatisfy { words($0).second & smallMark == 0 }
    }()
}
