// SPDX-License-Identifier: Apache-2.0

/// Arithmetic on the words with which look-ups begin.
@usableFromInline
enum LabelWord {
    /// An odd constant with balanced bits: the fractional part of the golden ratio.
    @inlinable static var golden: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    /// The seeds of words made from text and from several words, against values that are chosen to collide.
    static let textSeed = UInt64.random(in: 0...UInt64.max)
    @usableFromInline static let joinSeed = UInt64.random(in: 0...UInt64.max)

    @inlinable @inline(__always)
    static func joined(_ first: UInt64, _ second: UInt64) -> UInt64 {
        spread(first, seed: joinSeed) ^ second
    }

    /// Spreads a word over all bits by the two halves of a multiplication.
    @inlinable @inline(__always)
    static func spread(_ word: UInt64, seed: UInt64) -> UInt64 {
        let product = (word ^ seed).multipliedFullWidth(by: golden)
        return product.high ^ product.low
    }

    @usableFromInline
    static func text(_ text: String) -> UInt64 {
        var hash = LabelHash(seed: textSeed)
        hash.combine(text)
        return hash.value
    }
}
