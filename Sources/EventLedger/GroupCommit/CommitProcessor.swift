// SPDX-License-Identifier: Apache-2.0

/// What happens to submissions on the writer thread, in their order, around the transaction that stores them.
///
/// For each group the writer calls ``prepare(_:receivedAt:)`` for every submission, appends what that returned in one
/// transaction, and then either ``commit(_:at:)`` for every submission in the same order, ``groupCommitted(at:now:)``,
/// the submitters' resumption and ``settled(_:at:now:)``, or ``aborted(_:)`` alone. All calls are on one thread, so
/// that a processor needs no lock for what is its own.
public protocol CommitProcessor: ~Copyable, SendableMetatype {
    /// What is handed in.
    associatedtype Submission: Sendable
    /// What the submitter is told once its submission is durable.
    associatedtype Outcome: Sendable

    /// The bytes that a submission takes while it waits, about; called on the submitter's thread.
    static func cost(of submission: Submission) -> Int

    /// Decides what to store of a submission, such as the events that are no duplicates; nil when there is nothing.
    ///
    /// What it notes here (the keys of events now known) has to be undone by ``aborted(_:)``.
    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> LedgerBatch?

    /// Applies a submission that is stored now, as the batch at `placement`, or nil when there was nothing to store.
    mutating func commit(_ submission: Submission, at placement: CommitPlacement?) -> Outcome

    /// The whole group was applied; what others may see is published here, before the submitters go on.
    mutating func groupCommitted(at position: LedgerPosition, now: Int64)

    /// Nothing of the group was stored; everything that was prepared since the last group is undone here.
    mutating func aborted(_ error: LedgerError)

    /// The time to do what can wait, such as a checkpoint; called after each group and each tick.
    mutating func settled(_ ledger: EventLedger, at position: LedgerPosition, now: Int64)

    /// Called at the tick interval; a submission that it returns is stored and applied like any other, and its outcome
    /// is dropped.
    mutating func tick(now: Int64) -> Submission?

    /// Whether more can be done at once, such as the next part of a checkpoint. The writer then does not sleep: when no
    /// submission waits, it goes on as at a tick, or with ``settled(_:at:now:)`` alone where it has no tick interval.
    var wantsTurn: Bool { get }

    /// The last call: the queue is empty, and the ledger still open.
    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64)
}

extension CommitProcessor where Self: ~Copyable {
    /// Publishes nothing.
    public mutating func groupCommitted(at position: LedgerPosition, now: Int64) {}

    /// Does nothing.
    public mutating func settled(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {}

    /// Never.
    public var wantsTurn: Bool { false }

    /// Submits nothing.
    public mutating func tick(now: Int64) -> Submission? { nil }

    /// Does nothing.
    public mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {}
}
