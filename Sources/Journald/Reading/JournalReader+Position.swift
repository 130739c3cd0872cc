// SPDX-License-Identifier: Apache-2.0

extension JournalReader {
    /// Goes in front of the first entry.
    public func seekToHead() throws(JournalReaderError) {
        try handle.seekToHead()
        begin(at: .head)
    }

    /// Goes behind the last entry: ``previous()`` reads it, ``next()`` reads what is appended from now on.
    public func seekToTail() throws(JournalReaderError) {
        try handle.seekToTail()
        begin(at: .tail)
    }

    /// Goes in front of the first entry that journald took at a time or later.
    ///
    /// - Parameter realtimeMicroseconds: The time in microseconds since 1970.
    public func seek(realtimeMicroseconds: UInt64) throws(JournalReaderError) {
        try handle.seek(realtime: realtimeMicroseconds)
        begin(at: .time(realtimeMicroseconds))
    }

    /// Goes to the entry of a cursor, so that ``next()`` reads the one behind it.
    ///
    /// - Returns: Whether that entry is there. When it is gone (or doesn't match), ``next()`` reads the first entry
    ///   behind the place where it was. A text that is no cursor leaves the reader in front of the first entry.
    @discardableResult
    public func seek(cursor: String) throws(JournalReaderError) -> Bool {
        guard try handle.seek(cursor: cursor) else {
            try seekToHead()
            return false
        }
        begin(at: .cursor(cursor))
        if handle.step(.forward) > 0, try handle.isAt(cursor: cursor) {
            isBeforeFirstStep = false
            return true
        }
        _ = try handle.seek(cursor: cursor)
        return false
    }

    /// Moves to the following entry.
    ///
    /// - Returns: Whether there is one.
    public func next() throws(JournalReaderError) -> Bool {
        if isBeforeFirstStep, case .tail = origin {
            // libsystemd leaves it open what follows the tail; the last entry is a place to go on from.
            guard try step(.backward) else {
                try seekToHead()
                return try step(.forward)
            }
        }
        return try step(.forward)
    }

    /// Moves to the preceding entry.
    ///
    /// - Returns: Whether there is one.
    public func previous() throws(JournalReaderError) -> Bool {
        try step(.backward)
    }

    /// The current entry's cursor, by which it is found again as long as its file is there.
    public func cursor() throws(JournalReaderError) -> String {
        let cursor = try handle.cursor()
        origin = .cursor(cursor)
        stepsSinceCursor = 0
        return cursor
    }

    private func begin(at origin: Origin) {
        self.origin = origin
        isBeforeFirstStep = true
        stepsSinceCursor = 0
    }

    private func step(_ direction: JournalDirection) throws(JournalReaderError) -> Bool {
        var attempts = 0
        while true {
            let result = handle.step(direction)
            if result >= 0 {
                guard result > 0 else { return false }
                isBeforeFirstStep = false
                stepsSinceCursor += 1
                if stepsSinceCursor >= Self.stepsPerCursor { _ = try cursor() }
                return true
            }
            guard attempts < Self.maximumReopenings else {
                throw .unreadable(attempts: attempts, SystemError(code: result))
            }
            attempts += 1
            try reopen()
        }
    }
}
