// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import TelemetryEvents

/// Reads what is appended to the journal, in batches, on one thread, as libsystemd requires.
///
/// It resumes at its position whatever happens to the files, and never starts over at the head.
struct JournalFollower {
    /// What the operator should know.
    enum Notice: Equatable, Sendable {
        /// The journal has no entry at all.
        case empty
        /// An empty journal has entries now.
        case found
        /// The entry at the position is gone, and later ones may be, too.
        case gap
        /// Entries that cannot be read were skipped.
        case unreadable(entries: Int)
        case failed(String)
        case readable
    }

    /// How often the position moves to the journal's end while nothing matches, in microseconds.
    static let tailInterval: Int64 = 60_000_000
    /// The exponential backoff after failures.
    private static let shortestPauseMicroseconds: Int64 = 1_000_000
    private static let longestPauseMicroseconds: Int64 = 30_000_000
    /// How often an empty journal is searched for entries.
    private static let searchIntervalMicroseconds: Int64 = 2_000_000

    private let location: JournalLocation
    private let matches: [JournalMatch]
    private let tailInterval: Int64
    private var reader: JournalReader?
    private(set) var position: JournalPosition?
    /// The time up to which all matching entries are known to be read, in microseconds since 1970.
    private(set) var readUntil: Int64?
    private var isAtEnd = false
    private var notices: [Notice] = []
    private(set) var failures: UInt64 = 0
    private var failuresInARow: Int64 = 0
    private var retryAt = Int64.min
    private var tailDueAt: Int64 = 0
    private var isEmpty = false
    /// The cursor whose gap was already noticed.
    private var noticedGap: String?
    /// How many batches in a row were dropped because the reader had lost its place.
    private var lostBatches = 0
    private var streams: JournalStreams

    /// - Parameters:
    ///   - position: Where reading ended the last time; nil to begin with what is logged from now on.
    ///   - deviceField: The field that names the device of an entry.
    ///   - tailInterval: How often the position moves to the end while nothing matches, in microseconds.
    init(
        _ location: JournalLocation,
        matches: [JournalMatch],
        position: JournalPosition?,
        pseudonyms: any Pseudonymising,
        deviceField: JournalField? = nil,
        tailInterval: Int64 = Self.tailInterval
    ) {
        self.location = location
        self.matches = matches
        self.position = position
        streams = JournalStreams(pseudonyms, deviceField: deviceField)
        self.tailInterval = tailInterval
        readUntil = position?.realtime
    }

    /// Whether the journal is open.
    var isReading: Bool { reader != nil }
    /// Whether all that matches has been read.
    var hasReadAll: Bool { isReading && isAtEnd }

    mutating func takeNotices() -> [Notice] {
        defer { notices = [] }
        return notices
    }

    /// The next entries; nil if none came within the wait.
    ///
    /// - Parameters:
    ///   - now: The time in microseconds since 1970.
    ///   - monotonic: A monotonic time in microseconds.
    ///   - wait: How long to wait for entries.
    mutating func next(now: Int64, monotonic: Int64, wait: Duration) -> JournalBatch? {
        guard monotonic >= retryAt else { return nil }
        do throws(JournalReaderError) {
            if reader == nil, let begun = try open(now: now, monotonic: monotonic) { return begun }
            if let batch = try read(now, monotonic) { return batch }
            if monotonic >= tailDueAt { return try moveToTail(now, monotonic) }
            // The reader may have lost its place when files were rotated or deleted.
            if try reader?.wait(timeout: wait) == .filesChanged { close() }
            return nil
        } catch {
            fail(error, monotonic)
            return nil
        }
    }

    /// Closes the journal.
    mutating func close() { reader = nil }

    private func opened() throws(JournalReaderError) -> JournalReader {
        let reader = try JournalReader(location, scope: [.localOnly])
        try reader.setDataThreshold(JournalBatch.longestMessage + 64)
        // Starts the watch, and consumes the change that opening itself reports.
        try reader.process()
        return reader
    }

    /// Opens the journal at the position; without one, at its end, and returns a batch with that position.
    private mutating func open(now: Int64, monotonic: Int64) throws(JournalReaderError) -> JournalBatch? {
        let reader = try opened()
        var begun: JournalBatch?
        if let cursor = position?.cursor {
            try checkGap(reader, cursor)
        } else if position == nil {
            let end = try Self.end(of: reader)
            if end == nil { noticeEmpty() }
            let start = end ?? JournalPosition(cursor: nil, realtime: now)
            position = start
            readUntil = now
            begun = JournalBatch(at: start)
            begun?.isAtEnd = true
        }
        try reader.setMatches(matches)
        if let position { try Self.seek(position, reader) }
        setTailDue(monotonic)
        self.reader = reader
        return begun
    }

    private static func seek(_ position: JournalPosition, _ reader: JournalReader) throws(JournalReaderError) {
        if let cursor = position.cursor {
            try reader.seek(cursor: cursor)
        } else {
            try reader.seek(realtimeMicroseconds: UInt64(clamping: position.realtime))
        }
    }

    /// The position of the last entry; nil for an empty journal.
    private static func end(of reader: JournalReader) throws(JournalReaderError) -> JournalPosition? {
        try reader.seekToTail()
        guard try reader.previous() else { return nil }
        return JournalPosition(
            cursor: try reader.cursor(),
            realtime: Int64(clamping: try reader.realtimeMicroseconds())
        )
    }

    /// Notices that the entry at the position is gone, unless everything before the oldest entry was read.
    private mutating func checkGap(_ reader: JournalReader, _ cursor: String) throws(JournalReaderError) {
        guard try !reader.seek(cursor: cursor), noticedGap != cursor else { return }
        if isAtEnd, let readUntil {
            try reader.seekToHead()
            guard try reader.next(), Int64(clamping: try reader.realtimeMicroseconds()) > readUntil else { return }
        }
        notices.append(.gap)
        noticedGap = cursor
    }

    private mutating func read(_ now: Int64, _ monotonic: Int64) throws(JournalReaderError) -> JournalBatch? {
        guard let reader, let position else { return nil }
        let openings = reader.reopenings
        var batch = JournalBatch(at: position)
        while !batch.isFull, !batch.isAtEnd, reader.reopenings == openings {
            guard try reader.next() else {
                batch.isAtEnd = true
                break
            }
            do throws(JournalReaderError) {
                try batch.take(reader, &streams)
            } catch {
                guard error.isOfOneEntry else { throw error }
                batch.skipUnreadable()
            }
        }
        guard reader.reopenings == openings else {
            dropBatch(monotonic)
            return nil
        }
        if batch.count > 0 {
            batch.position = JournalPosition(
                cursor: try reader.cursor(),
                realtime: Int64(clamping: try reader.realtimeMicroseconds())
            )
        }
        noticeRecovery()
        isAtEnd = batch.isAtEnd
        if isAtEnd { readUntil = now }
        guard batch.count > 0 else { return nil }
        if batch.unreadable > 0 { notices.append(.unreadable(entries: batch.unreadable)) }
        self.position = batch.position
        noticeEntries()
        return batch
    }

    /// Moves the position to the journal's end when nothing matches up to there, so that rotation does not delete its entry.
    private mutating func moveToTail(_ now: Int64, _ monotonic: Int64) throws(JournalReaderError) -> JournalBatch? {
        let tail = try Self.end(of: try opened())
        // Opened again below, so that no file is missing that existed when the end was found.
        close()
        guard let tail else {
            noticeEmpty()
            retryAt = monotonic + Self.searchIntervalMicroseconds
            return nil
        }
        noticeEntries()
        setTailDue(monotonic)
        guard let position, tail.cursor != position.cursor else { return nil }
        let fresh = try opened()
        try fresh.setMatches(matches)
        try Self.seek(position, fresh)
        reader = fresh
        if let batch = try read(now, monotonic) { return batch }
        guard reader != nil else { return nil }
        self.position = tail
        try Self.seek(tail, fresh)
        var batch = JournalBatch(at: tail)
        batch.isAtEnd = true
        return batch
    }

    private mutating func setTailDue(_ monotonic: Int64) {
        tailDueAt = monotonic + (isEmpty ? Self.searchIntervalMicroseconds : tailInterval)
    }

    private mutating func noticeEmpty() {
        if !isEmpty { notices.append(.empty) }
        isEmpty = true
    }

    private mutating func noticeEntries() {
        if isEmpty { notices.append(.found) }
        isEmpty = false
    }

    private mutating func noticeRecovery() {
        if failuresInARow > 0 { notices.append(.readable) }
        failuresInARow = 0
        lostBatches = 0
    }

    /// Drops a batch: the reader was reopened, perhaps before what was delivered.
    private mutating func dropBatch(_ monotonic: Int64) {
        close()
        failures += 1
        if lostBatches > 0 { retryAt = monotonic + Self.shortestPauseMicroseconds }
        lostBatches += 1
    }

    private mutating func fail(_ error: JournalReaderError, _ monotonic: Int64) {
        close()
        failures += 1
        if failuresInARow == 0 { notices.append(.failed("\(error)")) }
        retryAt =
            monotonic + min(Self.shortestPauseMicroseconds << min(failuresInARow, 10), Self.longestPauseMicroseconds)
        failuresInARow += 1
    }
}

/// How far the journal has been read: after an entry, or up to a time while there was none.
struct JournalPosition: Hashable, SourcePlace {
    private static let version: UInt64 = 1
    /// The longest cursor that is stored, in bytes; libsystemd's have about 200.
    private static let maximumCursor = 1_024

    /// The cursor of the last entry, matching or not; nil while there was none.
    var cursor: String?
    /// When journald received that entry, or when reading began; in microseconds since 1970.
    var realtime: Int64

    /// The key of the position in the ledger; the same for all conditions, so that a changed condition resumes there.
    static let sourceName = "followed journal"

    func encoded(with state: [UInt8]) -> [UInt8] {
        let cursor = Array((cursor ?? "").utf8.prefix(Self.maximumCursor))
        let words = [Self.version, UInt64(bitPattern: realtime), UInt64(cursor.count), UInt64(state.count)]
        return LittleEndianWords.bytes(words) + cursor + state
    }

    /// Decodes a position; nil for invalid bytes.
    static func decode(_ bytes: [UInt8]) -> (position: JournalPosition, state: [UInt8])? {
        guard
            let words = LittleEndianWords.words(Array(bytes.prefix(32))), words.count == 4, words[0] == version,
            words[2] <= UInt64(maximumCursor), words[3] <= UInt64(bytes.count),
            32 + Int(words[2]) + Int(words[3]) == bytes.count
        else { return nil }
        let stateStart = 32 + Int(words[2])
        let cursor = String(decoding: bytes[32..<stateStart], as: UTF8.self)
        let position = JournalPosition(
            cursor: cursor.isEmpty ? nil : cursor,
            realtime: Int64(bitPattern: words[1])
        )
        return (position, Array(bytes[stateStart...]))
    }
}
