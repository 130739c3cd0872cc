// SPDX-License-Identifier: Apache-2.0

/// The labels of a family as a type of the program's own, usually a structure of enumerations and integers.
///
///     struct Route: LabelSet {
///         static let labelNames = ["method", "status"]
///         var method: Method
///         var status: Int
///         var labelValues: [String] { [method.rawValue, String(status)] }
///         var labelWord: UInt64 { Self.word(method, status) }
///     }
public protocol LabelSet: LabelCombination {
    /// The label names, in the order of `labelValues`.
    static var labelNames: [String] { get }
}

/// One combination of label values as a type of the program, used to look a series up.
public protocol LabelCombination: Hashable, Sendable {
    /// The label values, one per label name, in their order. Requested only for new series and at a limit of the
    /// family.
    var labelValues: [String] { get }

    /// A word that equal combinations share and different ones rarely do.
    ///
    /// It starts each lookup. The default is `hashValue`, which resists values chosen to collide and takes about 10
    /// ns; `Self.word(_:_:)` makes a word of integers and small enumerations in 1 ns.
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
