// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// When the projections are saved: so often that a recovery has little to fold, so seldom that saving costs little.
struct CheckpointSchedule: Sendable {
    private static let events: UInt64 = 250_000
    private static let microseconds: Int64 = 10_000_000
    private static let pauseAfterFailure: Int64 = 1_000_000

    /// The position that the last checkpoint is true for.
    private(set) var last = LedgerPosition.start
    /// What was taken from the projections and could not be saved, with the position that it is true for.
    private(set) var unsaved: (changes: StateChanges, position: LedgerPosition)?
    private var savedAt: Int64?
    private var retryAt: Int64 = 0

    func isDue(at position: LedgerPosition, now: Int64) -> Bool {
        let mayRetry = now >= retryAt || now < retryAt - 2 * Self.pauseAfterFailure
        guard mayRetry, position.batch > last.batch else { return false }
        guard let savedAt else { return true }
        return position.sequence - last.sequence >= Self.events || now - savedAt >= Self.microseconds || now < savedAt
    }

    mutating func saved(at position: LedgerPosition, now: Int64) {
        last = position
        savedAt = now
        unsaved = nil
    }

    mutating func failed(_ unsaved: (changes: StateChanges, position: LedgerPosition), now: Int64) {
        self.unsaved = unsaved
        retryAt = now + Self.pauseAfterFailure
    }
}
