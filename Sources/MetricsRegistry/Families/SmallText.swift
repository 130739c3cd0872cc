// SPDX-License-Identifier: Apache-2.0

/// A text of up to 15 bytes in two words: the bytes from the lowest on, and their number in the highest.
///
/// So a `String` itself keeps a short text, apart from the four highest bits, on every platform of 64 bits so far. Where it
/// does, the words are taken as they are, which is several times faster than a look at the bytes; whether it does, is
/// found out once in each process.
struct SmallText: Equatable {
    static var maximumBytes: Int { 15 }

    let first: UInt64
    let second: UInt64

    /// The text, if its bytes lie in the `String` itself and can be taken as they are.
    @inline(__always)
    init?(ofSmallForm text: String) {
        guard MemoryLayout<String>.size == 2 * MemoryLayout<UInt64>.size, Self.isFormKnown else { return nil }
        let words = unsafe unsafeBitCast(text, to: (first: UInt64, second: UInt64).self)
        guard words.second & Self.smallMark != 0 else { return nil }
        first = words.first
        second = words.second & Self.textBits
    }

    /// The text, byte by byte; what is longer than 15 bytes is cut off.
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

    /// The bit of the second word that tells that the bytes lie in the words.
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
