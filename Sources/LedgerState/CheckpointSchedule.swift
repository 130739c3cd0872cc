// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import PrefetchLifecycle

/// When the projections are saved: so often that a recovery has little to fold, so seldom that saving costs little; and in
/// steps that are each so small that no commit waits for long.
///
/// A checkpoint is true for the position at which it began. Until its last step has succeeded, the one before it counts.
package struct CheckpointSchedule: Sendable {
    /// What is to be done next.
    package enum Step {
        /// Delete a part of what the last checkpoint, or one that was cut off, has left behind.
        case tidy
        /// Take the changes of the projections.
        case begin
        case write(StateChanges)
        case commit(LedgerPosition)
    }

    private static let events: UInt64 = 250_000
    private static let microseconds: Int64 = 10_000_000
    private static let pauseAfterFailure: Int64 = 1_000_000

    /// How many bytes of pages one step writes, about.
    package static let partBytes = 256 << 10

    /// The position that the last checkpoint is true for.
    package private(set) var last = LedgerPosition.start
    private var isTidy = false
    private var savedAt: Int64?
    private var retryAt: Int64?
    /// What was taken and is not committed yet, and the part of it that is being written.
    private var changes: ProjectionChanges?
    private var part: StateChanges?

    package init() {}

    /// The next step; it is told below how that went.
    package mutating func next(at position: LedgerPosition, now: Int64) -> Step? {
        guard wantsStep(at: position, now: now) else { return nil }
        if !isTidy { return .tidy }
        return nextOfCheckpoint()
    }

    /// The next step on the way to a checkpoint of the very end, whenever the last one was and whatever has failed.
    package mutating func last(at position: LedgerPosition) -> Step? {
        guard changes != nil || position.batch > last.batch else { return nil }
        return isTidy ? nextOfCheckpoint() : .tidy
    }

    /// Whether there is a step to take.
    package func wantsStep(at position: LedgerPosition, now: Int64) -> Bool {
        if let retryAt, now < retryAt, now >= retryAt - 2 * Self.pauseAfterFailure { return false }
        return changes != nil || !isTidy || isDue(at: position, now: now)
    }

    private func isDue(at position: LedgerPosition, now: Int64) -> Bool {
        guard position.batch > last.batch else { return false }
        guard let savedAt else { return true }
        return position.sequence - last.sequence >= Self.events || now - savedAt >= Self.microseconds || now < savedAt
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
    }

    package mutating func wrote() {
        part = nil
        retryAt = nil
    }

    package mutating func committed(at position: LedgerPosition, now: Int64) {
        last = position
        savedAt = now
        changes = nil
        isTidy = false
        retryAt = nil
    }

    /// The step could not be taken; after a pause it is the next one again.
    package mutating func failed(now: Int64) {
        retryAt = now + Self.pauseAfterFailure
    }
}

/// What has changed in the projections since the last checkpoint, as of one position, to be written in parts.
package struct ProjectionChanges: Sendable {
    /// What a name to delete counts for in the size of a part.
    private static let deletionBytes = 16 << 10

    /// The position that the projections' state is true for with these changes.
    let position: LedgerPosition
    private var small: StateChanges?
    private var fold: StateDelta

    /// - Parameters:
    ///   - small: changes that fit into one part.
    ///   - fold: the fold's.
    init(at position: LedgerPosition, small: StateChanges, fold: StateDelta) {
        self.position = position
        self.small = small
        self.fold = fold
    }

    /// The next part, of about so many bytes or a page more; nil when all were taken.
    package mutating func takePart(bytes: Int) -> StateChanges? {
        var part = small ?? StateChanges()
        small = nil
        let deleted = fold.takeDeletedPrefixes(max(0, bytes - part.bytes) / Self.deletionBytes + 1)
        for prefix in deleted { part.removeAll(prefix: StateKey("fold/" + prefix)) }
        let rest = bytes - deleted.count * Self.deletionBytes
        while part.bytes < rest, let page = fold.takePage() { part.put(StateKey("fold/" + page.key), page.value) }
        return part.isEmpty ? nil : part
    }
}
