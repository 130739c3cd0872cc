// SPDX-License-Identifier: Apache-2.0

/// What a ``ConfirmedJournalWriter`` delivers: numbered entries that can be read again until they are confirmed.
public protocol JournalSource: Sendable {
    /// Appends the entries that follow a number, in ascending order.
    ///
    /// Called on the writer's thread, again for the same entries when some of them were lost. A number left out
    /// between two entries is skipped for good. Stop when the buffer is full. Append nothing when there is nothing
    /// more; the writer asks again after ``ConfirmedJournalWriter/wake()``.
    ///
    /// - Parameters:
    ///   - sequence: The number behind which to start.
    ///   - limit: How many entries at most, at least 1.
    ///   - buffer: Takes the entries; empty at the call. It adds the stream, the number and the identifier itself.
    /// - Throws: Any error; it is shown in the statistics, and the source is asked again after a pause.
    func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws
}
