// SPDX-License-Identifier: Apache-2.0

/// What a ``ConfirmedJournalWriter`` has done since it was made.
public struct JournalDeliveryStatistics: Hashable, Sendable {
    /// How the writer stands with journald.
    public internal(set) var state = JournalDeliveryState.absent
    /// All entries up to this number stand in the journal.
    public internal(set) var position: UInt64 = 0
    /// Entries handed to journald, those sent again included.
    public internal(set) var written: UInt64 = 0
    /// Entries that were found in the journal, those of an earlier writer included.
    public internal(set) var confirmed: UInt64 = 0
    /// Entries that were handed to journald once more.
    public internal(set) var retried: UInt64 = 0
    /// Entries that journald had taken and is proven to have discarded. They are sent again.
    public internal(set) var lost: UInt64 = 0
    /// Numbers that the source left out.
    public internal(set) var skipped: UInt64 = 0
    /// Entries that were read back although they were known to stand.
    public internal(set) var repeated: UInt64 = 0
    /// Entries handed to journald and not confirmed yet.
    public internal(set) var unconfirmed: UInt64 = 0
    /// Connections made after the first.
    public internal(set) var reconnects: UInt64 = 0
    /// How often the writer went to find out what journald has stored.
    public internal(set) var synchronisations: UInt64 = 0
    /// Whether journald has been seen to store several entries from one datagram.
    public internal(set) var isBatchingProven = false
    /// The last trouble, in words.
    public internal(set) var lastError: String?
}
