// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import LifecycleState

/// Decides when to write checkpoints of the projections, and in which steps.
///
/// They are frequent enough that a recovery has little to fold, and rare enough to cost little; the steps are so small
/// that no commit waits long. A checkpoint is valid for the position at which it began; until it is committed, the one
/// before it is in force.
package struct CheckpointSchedule: Sendable {
    /// The next step to take.
    package enum Step {
        /// Delete a part of what the last checkpoint, or an interrupted one, has left over.
        case tidy
        /// Take the changes of the projections.
        case begin
        case write(StateChanges)
        case commit(LedgerPosition)
    }

    private static let events: UInt64 = 250_000
    private static let microseconds: Int64 = 10_000_000
    private static let pauseAfterFailure: Int64 = 1_000_000
    /// The shortest time between two checkpoints while batches wait for one that take room.
    private static let hurriedMicroseconds: Int64 = 250_000

    /// The approximate number of bytes of pages that one step writes.
    package static let partBytes = 256 << 10

    /// The position of the last checkpoint.
    package private(set) var last = LedgerPosition.start
    private var isTidy = false
    private var savedAt: Int64?
    private var retryAt: Int64?
    /// The changes taken and not committed yet, and the part of them that is being written.
    private var changes: ProjectionChanges?
    private var part: StateChanges?
    /// What has been written of them.
    private var writtenBytes = 0

    package init() {}

    /// The next step, or nil; the caller reports its result with the methods below.
    ///
    /// - Parameter isHurried: whether batches that take room could be deleted after a checkpoint.
    package mutating func next(at position: LedgerPosition, now: Int64, isHurried: Bool = false) -> Step? {
        guard wantsStep(at: position, now: now, isHurried: isHurried) else { return nil }
        if !isTidy { return .tidy }
        return nextOfCheckpoint()
    }

    /// The next step of the final checkpoint at shutdown, regardless of the interval and of failures.
    package mutating func last(at position: LedgerPosition) -> Step? {
        guard changes != nil || position.batch > last.batch else { return nil }
        return isTidy ? nextOfCheckpoint() : .tidy
    }

    /// Whether a step is due.
    package func wantsStep(at position: LedgerPosition, now: Int64, isHurried: Bool = false) -> Bool {
        if let retryAt, now < retryAt, now >= retryAt - 2 * Self.pauseAfterFailure { return false }
        return changes != nil || !isTidy || isDue(at: position, now: now, isHurried: isHurried)
    }

    private func isDue(at position: LedgerPosition, now: Int64, isHurried: Bool) -> Bool {
        guard position.batch > last.batch else { return false }
        guard let savedAt else { return true }
        let pause = isHurried ? Self.hurriedMicroseconds : Self.microseconds
        return position.sequence - last.sequence >= Self.events || now - savedAt >= pause || now < savedAt
    }

    /// What is still to be written until the next checkpoint is committed, at most.
    ///
    /// - Parameter state: what a checkpoint that began now would take.
    package func pendingBytes(state: Int) -> Int {
        max(0, max(state, changes?.bytes ?? 0) - writtenBytes)
    }

    private mutating func nextOfCheckpoint() -> Step {
        guard let position = changes?.position else { return .begin }
        if part == nil { part = changes?.takePart(bytes: Self.partBytes) }
        return part.map { .write($0) } ?? .commit(position)
    }

    package mutating func tidied(isDone: Bool) {
        isTidy = isDone
        retryAt = nil
    }

    package mutating func began(_ changes: ProjectionChanges) {
        self.changes = changes
        writtenBytes = 0
    }

    package mutating func wrote() {
        writtenBytes += part?.bytes ?? 0
        part = nil
        retryAt = nil
    }

    package mutating func committed(at position: LedgerPosition, now: Int64) {
        last = position
        savedAt = now
        changes = nil
        writtenBytes = 0
        isTidy = false
        retryAt = nil
    }

    /// Reports a failed step, which is retried after a pause.
    package mutating func failed(now: Int64) {
        retryAt = now + Self.pauseAfterFailure
    }
}

/// The changes of the projections since the last checkpoint, as of one position, to be written in parts.
package struct ProjectionChanges: Sendable {
    /// The cost of a deleted prefix, counted in bytes of a part.
    private static let deletionBytes = 16 << 10

    /// The position for which the state with these changes is valid.
    let position: LedgerPosition
    /// The size of all of them, at most.
    let bytes: Int
    private var small: StateChanges?
    private var folds: StateDelta

    /// - Parameters:
    ///   - small: changes that fit into one part.
    ///   - folds: the changes of the folds.
    ///   - bytes: the size of all of them, at most.
    init(at position: LedgerPosition, small: StateChanges, folds: StateDelta, bytes: Int = 0) {
        self.position = position
        self.bytes = bytes
        self.small = small
        self.folds = folds
    }

    /// The next part of about `bytes` bytes, at most a page more; nil after the last.
    package mutating func takePart(bytes: Int) -> StateChanges? {
        var part = small ?? StateChanges()
        small = nil
        let deleted = folds.takeDeletedPrefixes(max(0, bytes - part.bytes) / Self.deletionBytes + 1)
        for prefix in deleted { part.removeAll(prefix: StateKey(LedgerProjection.foldPrefix + prefix)) }
        let rest = bytes - deleted.count * Self.deletionBytes
        while part.bytes < rest, let page = folds.takePage() {
            part.put(StateKey(LedgerProjection.foldPrefix + page.key), page.value)
        }
        return part.isEmpty ? nil : part
    }
}
