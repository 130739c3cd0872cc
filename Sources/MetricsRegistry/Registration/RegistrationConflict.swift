// SPDX-License-Identifier: Apache-2.0

/// Why a registration got a detached instrument: one that works and is on no page.
public struct RegistrationConflict: Error, Sendable, Hashable {
    /// The rule that the registration broke.
    public enum Reason: Sendable, Hashable {
        /// The metric's name is empty, holds control characters, is too long, or is not classic where it has to be.
        case invalidName
        /// A label's name is empty, holds colons or control characters, is too long, or is not classic where it has
        /// to be.
        case invalidLabelName(String)
        /// A label's name belongs to Prometheus (`__…`, escaped too) or to the kind (`le` of a histogram).
        case reservedLabelName(String)
        /// A label's name comes twice, or is shown as another's by one of the escapings.
        case repeatedLabelName(String)
        /// The bounds of a histogram do not rise strictly, or one is not a number.
        case unorderedBuckets
        /// The name is registered as something else.
        case otherKind
        /// The name is registered with other labels.
        case otherLabels
        /// The name is registered with another help text or unit.
        case otherMeaning
        /// The histogram is registered with other bounds or other native buckets.
        case otherBuckets
        /// A sample of the family would carry a name of another family.
        case occupiedName(String)
        /// The family is computed by a function that is already registered.
        case repeatedFunction
        /// A limit of the registry is reached.
        case limit
    }

    /// The name that was to be registered.
    public let name: String
    /// The rule that was broken.
    public let reason: Reason
    /// What would have been accepted.
    public let expected: String
    /// What was asked for.
    public let found: String
    /// What to do about it.
    public let advice: String
}

extension RegistrationConflict: CustomStringConvertible {
    /// One sentence for a log: the name, what was expected and found, and what to do.
    public var description: String {
        "metric \(name.debugDescription) is not exposed: expected \(expected), found \(found); \(advice)"
    }
}
