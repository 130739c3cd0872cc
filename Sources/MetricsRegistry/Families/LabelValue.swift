// SPDX-License-Identifier: Apache-2.0

/// A value of one label: an integer, a `Bool`, a `String`, or an enumeration or structure with such a raw value that
/// declares its conformance.
///
///     enum Method: String, LabelValue { case get = "GET", post = "POST" }
public protocol LabelValue: Hashable, Sendable {
    /// The text of the value. Requested only for new series and at a limit of the family.
    var labelValue: String { get }
    /// A word that equal values share and different ones rarely do.
    var labelWord: UInt64 { get }
}

extension LabelValue {
    /// Whether two values are equal; one-byte values, such as enumerations, are compared as bytes.
    @inlinable @inline(__always)
    func isSame(as other: Self) -> Bool {
        MemoryLayout<Self>.size == 1 ? LabelByte.of(self) == LabelByte.of(other) : self == other
    }
}

@usableFromInline
enum LabelByte {
    /// The byte of a one-byte value.
    @inlinable @inline(__always)
    static func of<Value>(_ value: Value) -> UInt8 {
        unsafe withUnsafeBytes(of: value) { unsafe $0[0] }
    }
}

extension LabelValue where Self: BinaryInteger {
    /// The decimal digits.
    @inlinable public var labelValue: String { String(self) }
    /// The lowest 64 bits.
    @inlinable public var labelWord: UInt64 { UInt64(truncatingIfNeeded: self) }
}

extension LabelValue where Self: RawRepresentable, RawValue: LabelValue {
    /// That of the raw value.
    @inlinable public var labelValue: String { rawValue.labelValue }
    /// The byte of a one-byte value, such as an enumeration; otherwise the word of the raw value.
    @inlinable public var labelWord: UInt64 {
        MemoryLayout<Self>.size == 1 ? UInt64(LabelByte.of(self)) : rawValue.labelWord
    }
}

extension Int: LabelValue {}
extension Int8: LabelValue {}
extension Int16: LabelValue {}
extension Int32: LabelValue {}
extension Int64: LabelValue {}
extension UInt: LabelValue {}
extension UInt8: LabelValue {}
extension UInt16: LabelValue {}
extension UInt32: LabelValue {}
extension UInt64: LabelValue {}

extension Bool: LabelValue {
    /// `true` or `false`.
    @inlinable public var labelValue: String { self ? "true" : "false" }
    /// 1 or 0.
    @inlinable public var labelWord: UInt64 { self ? 1 : 0 }
}

extension String: LabelValue {
    /// The text itself.
    @inlinable public var labelValue: String { self }
    /// A seeded hash of the bytes.
    @inlinable public var labelWord: UInt64 { LabelWord.text(self) }
}

/// Arithmetic on the words that start lookups.
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
