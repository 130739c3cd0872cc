// SPDX-License-Identifier: Apache-2.0

/// Who is responsible for a violation, in the behaviour classification of the plugin's documentation.
public enum ViolationBucket: String, CaseIterable, Sendable {
    /// Deterministic: a bug of the plugin.
    case a = "A"
    /// A fault of the app's or the plugin's logic.
    case b = "B"
    /// The operating system's timing: a note, not a bug.
    case c = "C"
}
