// SPDX-License-Identifier: Apache-2.0

/// What a judgement comes to (SPEC 10).
package enum Verdict: String, Sendable {
    /// No cycle breaks a rule that counts.
    case coherent
    /// A cycle breaks a rule of bucket A; in a strict judgement, of A or B.
    case incoherent
    /// The input holds no cycle.
    case empty
}
