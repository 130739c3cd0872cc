// SPDX-License-Identifier: Apache-2.0

/// From where a ``ConfirmedJournalWriter`` goes on after a restart.
public struct JournalCheckpoint: Hashable, Sendable {
    /// All entries up to this number stand in the journal.
    public let position: UInt64
    /// A place in the journal behind which every entry above ``position`` stands; nil when none is known.
    ///
    /// It may be old, and its file may be gone: it only shortens the search for what stands already.
    public let cursor: String?

    /// The checkpoint of a stream of which nothing was delivered.
    public static let start = JournalCheckpoint(position: 0, cursor: nil)

    /// A checkpoint as it was kept.
    public init(position: UInt64, cursor: String?) {
        self.position = position
        self.cursor = cursor
    }
}
