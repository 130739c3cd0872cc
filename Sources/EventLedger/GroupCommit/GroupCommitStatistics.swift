// SPDX-License-Identifier: Apache-2.0

/// What the writer has done since it was started, and what waits now.
public struct GroupCommitStatistics: Sendable, Equatable {
    /// Transactions that were committed.
    public internal(set) var commits: UInt64 = 0
    /// Groups that could not be stored.
    public internal(set) var failedGroups: UInt64 = 0
    /// Submissions that were stored or had nothing to store.
    public internal(set) var submissions: UInt64 = 0
    /// Submissions in groups that could not be stored.
    public internal(set) var failedSubmissions: UInt64 = 0
    /// Submissions that were rejected because too much waited.
    public internal(set) var overloads: UInt64 = 0
    /// Batches that were appended.
    public internal(set) var batches: UInt64 = 0
    /// Events that were appended.
    public internal(set) var events: UInt64 = 0
    /// Bytes of receipts and events that were appended.
    public internal(set) var bytes: UInt64 = 0
    /// The time that committed transactions took, in nanoseconds.
    public internal(set) var commitNanoseconds: UInt64 = 0
    /// Submissions that wait, those being committed included.
    public internal(set) var waitingSubmissions = 0
    /// The cost of those, in bytes.
    public internal(set) var waitingBytes = 0

    mutating func record(_ report: CommitReport) {
        guard report.error == nil else {
            failedGroups += 1
            failedSubmissions += UInt64(report.submissions)
            return
        }
        submissions += UInt64(report.submissions)
        guard report.batches > 0 else { return }
        commits += 1
        batches += UInt64(report.batches)
        events += report.events
        bytes += UInt64(report.bytes)
        commitNanoseconds += report.nanoseconds
    }
}
