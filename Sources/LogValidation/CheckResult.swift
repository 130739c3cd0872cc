// SPDX-License-Identifier: Apache-2.0

/// The result of one check beside the rules: a scenario, the sequence, or a schedule that was given.
package struct CheckResult: Sendable {
    /// The JUnit suite: "scenarios", "sequence" or "schedule".
    let suite: String
    /// The case.
    package let name: String
    /// What is not as expected; empty where the check passes.
    package var failures: [String] = []
    /// What should be known beside.
    var notes: [String] = []

    /// Whether everything is as expected.
    package var isPassed: Bool { failures.isEmpty }
}
