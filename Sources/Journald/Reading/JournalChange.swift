// SPDX-License-Identifier: Apache-2.0

/// What has happened to a journal since it was last looked at.
public enum JournalChange: Hashable, Sendable {
    /// Nothing.
    case none
    /// Entries were appended.
    case appended
    /// Files came or went; entries may stand before the reader's position that weren't there before.
    case filesChanged
}
