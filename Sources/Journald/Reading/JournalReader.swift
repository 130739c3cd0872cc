// SPDX-License-Identifier: Apache-2.0

/// Reads a journal through libsystemd.
///
/// Bound to the thread that made it, as `sd_journal` is. When libsystemd can't go on (files were vacuumed or damaged
/// under the reader), the journal is opened anew at the last entry read, a bounded number of times; the reader never
/// starts over from the head.
public final class JournalReader {
    /// Where reading began, so that it can begin there again.
    enum Origin {
        case head
        case tail
        case time(UInt64)
        case cursor(String)
    }

    /// How often the journal is opened anew for one step.
    static let maximumReopenings = 3
    /// How many entries are read before the position is noted again; asking for it costs more than a step.
    static let stepsPerCursor = 512

    /// The journal that is read.
    public let location: JournalLocation
    let scope: JournalScope
    var handle: JournalHandle
    var matches: [JournalMatch] = []
    var origin = Origin.head
    var isBeforeFirstStep = true
    var stepsSinceCursor = 0
    var dataThreshold: Int?
    var isWatching = false
    /// How often the journal was opened anew.
    public internal(set) var reopenings = 0

    /// Opens a journal.
    ///
    /// - Parameters:
    ///   - location: Which journal.
    ///   - scope: Which of its files.
    /// - Throws: ``JournalReaderError``, among others when this process may not read the journal.
    public init(
        _ location: JournalLocation = .machine,
        scope: JournalScope = [.localOnly, .system]
    ) throws(JournalReaderError) {
        try JournalAccess.check(location)
        self.location = location
        self.scope = scope
        handle = try JournalHandle(location, scope: scope)
        try handle.seekToHead()
    }

    /// Limits the length to which a value is unpacked; 0 for no limit, 64 KiB when nothing is set.
    public func setDataThreshold(_ bytes: Int) throws(JournalReaderError) {
        dataThreshold = max(0, bytes)
        try handle.setDataThreshold(max(0, bytes))
    }

    /// Opens the journal anew, finding files that came since, and goes back to the last entry read.
    public func reopen() throws(JournalReaderError) {
        let last = isBeforeFirstStep ? nil : try? handle.cursor()
        if let last { origin = .cursor(last) }
        let fresh = try JournalHandle(location, scope: scope)
        if let dataThreshold { try fresh.setDataThreshold(dataThreshold) }
        if isWatching { _ = try fresh.watch() }
        handle = fresh
        reopenings += 1
        try apply(matches)
        switch origin {
        case .head: try seekToHead()
        case .tail: try seekToTail()
        case .time(let microseconds): try seek(realtimeMicroseconds: microseconds)
        case .cursor(let cursor): try seek(cursor: cursor)
        }
    }
}

@available(*, unavailable)
extension JournalReader: Sendable {}
