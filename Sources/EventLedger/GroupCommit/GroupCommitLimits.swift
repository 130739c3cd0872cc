// SPDX-License-Identifier: Apache-2.0

/// How much may wait and how much is committed at once.
public struct GroupCommitLimits: Sendable, Hashable {
    /// The most submissions that may wait, those being committed included.
    public var waitingSubmissions: Int
    /// The most bytes of cost that may wait; a submission that alone exceeds it is taken when nothing else waits.
    public var waitingBytes: Int
    /// How long a commit may take: while one takes longer, or the last one did, what comes is rejected at once; nil: any
    /// time.
    public var commitTime: Duration?
    /// The most submissions of one transaction.
    public var groupSubmissions: Int
    /// The most bytes of cost of one transaction, unless it has a single submission.
    public var groupBytes: Int
    /// The most calls of ``GroupCommit/perform(_:)`` that may wait.
    public var waitingWork: Int

    /// Makes limits; the defaults are 4,096 submissions and 64 MiB waiting, any time for a commit, 1,024 submissions and
    /// 8 MiB in a transaction, and 256 calls.
    public init(
        waitingSubmissions: Int = 4096,
        waitingBytes: Int = 64 << 20,
        commitTime: Duration? = nil,
        groupSubmissions: Int = 1024,
        groupBytes: Int = 8 << 20,
        waitingWork: Int = 256
    ) {
        self.waitingSubmissions = max(1, waitingSubmissions)
        self.waitingBytes = max(1, waitingBytes)
        self.commitTime = commitTime
        self.groupSubmissions = max(1, groupSubmissions)
        self.groupBytes = max(1, groupBytes)
        self.waitingWork = max(1, waitingWork)
    }
}
