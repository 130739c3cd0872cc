// SPDX-License-Identifier: Apache-2.0

extension JournalReader {
    /// A descriptor that poll(2) reports readable when the journal has changed; call ``process()`` then.
    ///
    /// journald announces appended entries up to 250 ms late, but they can be read at once.
    public func descriptor() throws(JournalReaderError) -> Int32 {
        let descriptor = try handle.watch()
        isWatching = true
        return descriptor
    }

    /// Takes note of entries and files that came or went, without waiting.
    ///
    /// The first call starts to watch the journal; only what happens from then on is noticed.
    @discardableResult
    public func process() throws(JournalReaderError) -> JournalChange {
        if !isWatching { _ = try descriptor() }
        return try handle.process()
    }

    /// Waits until the journal changes.
    ///
    /// - Parameter timeout: How long at most.
    public func wait(timeout: Duration) throws(JournalReaderError) -> JournalChange {
        if !isWatching { _ = try descriptor() }
        return try handle.wait(microseconds: timeout.nanoseconds / 1_000)
    }
}
