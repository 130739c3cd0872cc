// SPDX-License-Identifier: Apache-2.0

/// What became of one group.
public struct CommitReport: Sendable, Equatable {
    /// How many submissions it had.
    public let submissions: Int
    /// How many batches were appended, or would have been.
    public let batches: Int
    /// How many events they carry.
    public let events: UInt64
    /// The bytes of their receipts and events.
    public let bytes: Int
    /// The time that the transaction took, in nanoseconds; 0 when there was nothing to append.
    public let nanoseconds: UInt64
    /// Why nothing was stored; nil when it was.
    public let error: LedgerError?
}
