// SPDX-License-Identifier: Apache-2.0

/// A rule that a cycle has broken.
public struct CycleViolation: Hashable, Sendable {
    /// The rule.
    public var kind: ViolationKind
    /// What happened, as a sentence with its figures.
    public var detail: String

    /// Makes a violation.
    public init(kind: ViolationKind, detail: String) {
        self.kind = kind
        self.detail = detail
    }
}
