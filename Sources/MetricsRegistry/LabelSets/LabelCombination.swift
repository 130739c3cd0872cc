// SPDX-License-Identifier: Apache-2.0

/// One combination of label values in a form of the program's own, with which a series is looked up.
public protocol LabelCombination: Hashable, Sendable {
    /// The values as a page shows them, one for each label name, in their order; asked for only when a series is new
    /// or the family is at a limit.
    var labelValues: [String] { get }

    /// A word that equal combinations share and that different ones rarely do.
    ///
    /// It begins each look-up. `hashValue` unless told, which is safe against values that are chosen to collide and
    /// takes some 10 ns; `Self.word(_:_:)` makes a word of integers and small enumerations in 1 ns.
    var labelWord: UInt64 { get }
}

extension LabelCombination {
    /// `hashValue`.
    @inlinable public var labelWord: UInt64 {
        UInt64(truncatingIfNeeded: hashValue)
    }

    /// A word for one label.
    @inlinable
    public static func word(_ value: some LabelValue) -> UInt64 {
        value.labelWord
    }

    /// A word for two labels.
    @inlinable
    public static func word(_ first: some LabelValue, _ second: some LabelValue) -> UInt64 {
        LabelWord.joined(first.labelWord, second.labelWord)
    }

    /// A word for three labels.
    @inlinable
    public static func word(
        _ first: some LabelValue,
        _ second: some LabelValue,
        _ third: some LabelValue
    ) -> UInt64 {
        LabelWord.joined(LabelWord.joined(first.labelWord, second.labelWord), third.labelWord)
    }
}
