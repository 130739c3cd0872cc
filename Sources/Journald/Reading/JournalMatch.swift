// SPDX-License-Identifier: Apache-2.0

/// A part of the condition that a reader's entries fulfil.
///
/// Values of one field are alternatives, different fields must all match (sd_journal_add_match(3)).
public enum JournalMatch: Hashable, Sendable {
    /// The field has this value.
    case equal(JournalField, [UInt8])
    /// What stands before and what comes behind are alternatives.
    case or
    /// What stands before and what comes behind must both hold.
    case and

    /// The field has the UTF-8 of this text as its value.
    public static func equal(_ field: JournalField, _ value: String) -> JournalMatch {
        .equal(field, Array(value.utf8))
    }
}
