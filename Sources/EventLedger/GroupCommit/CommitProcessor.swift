// SPDX-License-Identifier: Apache-2.0

/// Decides on the writer thread what is stored of each submission, and applies what was stored.
///
/// For each group of submissions the writer calls ``prepare(_:receivedAt:)`` for each one in order, appends the returned
/// batches in one transaction, and then either
///
/// - on success: ``commit(_:of:at:)`` for each appended batch in order, ``applied(through:now:)`` before it resumes
///   submitters, and ``maintain(_:at:now:)`` at the end; or
/// - on failure: ``abort(_:)`` for each batch, the last one first, ``groupAborted(_:)``, and resumes the submitters with
///   the error. Maintenance goes on with every tick, because it is what makes room in a full ledger.
///
/// The writer holds each ``Preparation`` with its batch in between, so a processor keeps no list of its own. All calls are
/// on one thread, so a processor needs no lock for its state.
public protocol CommitProcessor: ~Copyable, SendableMetatype {
    /// What a submitter hands in.
    associatedtype Submission: Sendable
    /// What ``prepare(_:receivedAt:)`` found out and ``commit(_:of:at:)`` or ``abort(_:)`` needs.
    associatedtype Preparation
    /// What the submitter gets once its submission is durable.
    associatedtype Outcome: Sendable

    /// The size of a submission while it waits, in bytes, about; called on the submitter's thread.
    static func cost(of submission: Submission) -> Int

    /// By how much an event may make the next checkpoint larger, in bytes (``LedgerRoom``).
    static var stateBytesPerEvent: Int { get }

    /// Decides what to store of a submission, such as the events that are no duplicates.
    ///
    /// What it changes here, such as the keys of known events, has to be undone by ``abort(_:)`` or ``groupAborted(_:)``.
    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> CommitDecision<Preparation, Outcome>

    /// Applies a batch that is durable now at `placement`.
    mutating func commit(_ preparation: Preparation, of batch: LedgerBatch, at placement: CommitPlacement) -> Outcome

    /// Undoes the preparation of a batch that was not stored.
    mutating func abort(_ preparation: Preparation)

    /// Called when a group, or a part of a large one, is applied: publish what others may see, before the submitters of it
    /// resume.
    mutating func applied(through position: LedgerPosition, now: Int64)

    /// Called when nothing of the group was stored, after ``abort(_:)`` for each batch.
    mutating func groupAborted(_ error: LedgerError)

    /// Called after each committed group and each tick: the time for what can wait, such as a checkpoint.
    mutating func maintain(_ ledger: EventLedger, at position: LedgerPosition, now: Int64)

    /// Called at the tick interval; the returned submission is stored and applied like any other, without a submitter.
    mutating func tick(now: Int64) -> Submission?

    /// Whether there is more to do at once, such as the next part of a checkpoint.
    ///
    /// The writer then does not sleep: while no submission waits, it ticks, or calls ``maintain(_:at:now:)`` alone where
    /// it has no tick interval.
    var hasPendingMaintenance: Bool { get }

    /// The last call: the queue is empty, and the ledger still open.
    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64)
}

extension CommitProcessor where Self: ~Copyable {
    /// Nothing: there are no checkpoints.
    public static var stateBytesPerEvent: Int { 0 }

    /// Does nothing.
    public mutating func abort(_ preparation: Preparation) {}

    /// Publishes nothing.
    public mutating func applied(through position: LedgerPosition, now: Int64) {}

    /// Does nothing.
    public mutating func maintain(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {}

    /// False.
    public var hasPendingMaintenance: Bool { false }

    /// Submits nothing.
    public mutating func tick(now: Int64) -> Submission? { nil }

    /// Does nothing.
    public mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {}
}

/// What a ``CommitProcessor`` decided about a submission.
public enum CommitDecision<Preparation, Outcome> {
    /// The batch is appended; ``CommitProcessor/commit(_:of:at:)`` gets both back and gives the outcome.
    case append(LedgerBatch, Preparation)
    /// Nothing of it is stored; the submitter gets the outcome once the group that it is in is durable.
    ///
    /// Not sooner, because the outcome may rest on a submission of the same group, as that of a duplicate does.
    case answer(Outcome)
}

/// The id and the sequence numbers that a batch got.
public struct CommitPlacement: Sendable, Hashable {
    /// The batch's id.
    public let batch: Int64
    /// The sequence number of its first event, or of the next batch's first event when it has none.
    public let firstSequence: UInt64
    /// How many events it has.
    public let count: UInt32

    /// The position after the batch.
    public var position: LedgerPosition {
        LedgerPosition(batch: batch, sequence: firstSequence + UInt64(count) - 1)
    }

    init(following position: LedgerPosition, count: UInt32) {
        batch = position.batch + 1
        firstSequence = position.sequence + 1
        self.count = count
    }
}
