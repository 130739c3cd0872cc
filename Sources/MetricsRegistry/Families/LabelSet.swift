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
