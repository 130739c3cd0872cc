// SPDX-License-Identifier: Apache-2.0

/// How a ``ConfirmedJournalWriter`` stands with journald.
public enum JournalDeliveryState: String, Hashable, Sendable, CaseIterable {
    /// journald doesn't answer; the writer tries again after a pause.
    case absent
    /// The writer is finding out what journald has stored.
    case synchronising
    /// Entries flow.
    case streaming
}
