// SPDX-License-Identifier: Apache-2.0

/// The value of the only label of a family.
public struct LabelSingle<Value: LabelValue>: LabelCombination {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) {
        self.value = value
    }

    /// The one value.
    public var labelValues: [String] { [value.labelValue] }

    /// Made from the words of the values.
    @inlinable public var labelWord: UInt64 { value.labelWord }

    /// Whether the values are equal.
    @inlinable
    public static func == (left: LabelSingle, right: LabelSingle) -> Bool {
        left.value.isSame(as: right.value)
    }

    /// Hashes the word.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(labelWord)
    }
}

/// The values of the two labels of a family.
public struct LabelPair<First: LabelValue, Second: LabelValue>: LabelCombination {
    @usableFromInline let first: First
    @usableFromInline let second: Second

    @inlinable
    init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// The two values.
    public var labelValues: [String] { [first.labelValue, second.labelValue] }

    /// Made from the words of the values.
    @inlinable public var labelWord: UInt64 {
        Self.word(first, second)
    }

    /// Whether the values are equal.
    @inlinable
    public static func == (left: LabelPair, right: LabelPair) -> Bool {
        left.first.isSame(as: right.first) && left.second.isSame(as: right.second)
    }

    /// Hashes the word.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(labelWord)
    }
}
