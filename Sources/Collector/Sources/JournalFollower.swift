// SPDX-License-Identifier: Apache-2.0

internal import Journald
internal import LedgerState
internal import TelemetryEvents

/// Reads what is appended to the journal, in batches. All of it runs on one thread, as the reader asks for.
///
/// It goes on at its position whatever happens to the files, and never begins again at the head.
struct JournalFollower {
    /// Something that the operator should know.
    enum Notice: Equatable, Sendable {
        /// There is no entry at all.
        case empty
        /// There are entries now.
        case found
        /// The entry at which reading goes on is gone: those behind it may be gone too.
        case gap
        /// Entries that cannot be read were passed over.
        case unreadable(entries: Int)
        case failed(String)
        case readable
    }

    /// How often the end of the journal is noted while nothing matches, in microseconds.
    static let tailInterval: Int64 = 60_000_000
    /// How long to wait before what failed is tried again, in microseconds; twice as long after each failure in a row.
    static let shortestPause: Int64 = 1_000_000
    static let longestPause: Int64 = 30_000_000
    /// How often a journal without any entry is looked for, in microseconds.
    static let searchInterval: Int64 = 2_000_000

    private let location: JournalLocation
    private let matches: [JournalMatch]
    private let tailInterval: Int64
    private var reader: JournalReader?
    private(set) var position: JournalPosition?
    /// Until when all that matches is known to have been read, in microseconds since 1970.
    private(set) var readUntil: Int64?
    private var isAtEnd = false
    private var notices: [Notice] = []
    private(set) var failures: UInt64 = 0
    private var failuresInARow: Int64 = 0
    private var retryAt = Int64.min
    private var tailDueAt: Int64 = 0
    private var isEmpty = false
    private var gapToldOf: String?
    /// How often in a row a batch was given up because the reader had lost its place.
    private var lostBatches = 0
    private var streams: JournalStreams

    /// - Parameters:
    ///   - position: where reading ended the last time; nil to begin with what is logged from now on.
    ///   - tailInterval: how often the end is noted while nothing matches, in microseconds.
    init(
        _ location: JournalLocation,
        matches: [JournalMatch],
        position: JournalPosition?,
        pseudonyms: any Pseudonymising,
        tailInterval: Int64 = Self.tailInterval
    ) {
        self.location = location
        self.matches = matches
        self.position = position
        streams = JournalStreams(pseudonyms)
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

    /// The next entries; nil when there were none for some time.
    ///
    /// - Parameters:
    ///   - now: the time in microseconds since 1970.
    ///   - monotonic: any time that only goes on, in microseconds.
    ///   - wait: how long to wait for entries.
    mutating func next(now: Int64, monotonic: Int64, wait: Duration) -> JournalBatch? {
        guard monotonic >= retryAt else { return nil }
        do throws(JournalReaderError) {
            if reader == nil, let begun = try open(now: now, monotonic: monotonic) { return begun }
            if let batch = try read(now, monotonic) { return batch }
            if monotonic >= tailDueAt { return try noteTail(now, monotonic) }
            // What has happened to the files may have taken the reader's place from it.
            if try reader?.wait(timeout: wait) == .filesChanged { close() }
            return nil
        } catch {
            fail(error, monotonic)
            return nil
        }
    }

    /// Lets go of the journal.
    mutating func close() { reader = nil }

    private func opened() throws(JournalReaderError) -> JournalReader {
        let reader = try JournalReader(location, scope: [.localOnly])
        try reader.setDataThreshold(JournalBatch.longestMessage + 64)
        // Watches from here on, and leaves out the change that opening is.
        try reader.process()
        return reader
    }

    /// Opens the journal at the position; at its end when there is none yet, and that is a batch of its own.
    private mutating func open(now: Int64, monotonic: Int64) throws(JournalReaderError) -> JournalBatch? {
        let reader = try opened()
        var begun: JournalBatch?
        if let cursor = position?.cursor {
            try checkGap(reader, cursor)
        } else if position == nil {
            let end = try Self.end(of: reader)
            if end == nil { tellEmpty() }
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

    /// The last entry of the journal; nil when it has none.
    private static func end(of reader: JournalReader) throws(JournalReaderError) -> JournalPosition? {
        try reader.seekToTail()
        guard try reader.previous() else { return nil }
        return JournalPosition(
            cursor: try reader.cursor(),
            realtime: Int64(clamping: try reader.realtimeMicroseconds())
        )
    }

    /// Tells when the entry at which reading goes on is gone, unless all was read that was there before the oldest one.
    private mutating func checkGap(_ reader: JournalReader, _ cursor: String) throws(JournalReaderError) {
        guard try !reader.seek(cursor: cursor), gapToldOf != cursor else { return }
        if isAtEnd, let readUntil {
            try reader.seekToHead()
            guard try reader.next(), Int64(clamping: try reader.realtimeMicroseconds()) > readUntil else { return }
        }
        notices.append(.gap)
        gapToldOf = cursor
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
                batch.passUnreadable()
            }
        }
        guard reader.reopenings == openings else {
            lose(monotonic)
            return nil
        }
        if batch.count > 0 {
            batch.position = JournalPosition(
                cursor: try reader.cursor(),
                realtime: Int64(clamping: try reader.realtimeMicroseconds())
            )
        }
        recovered()
        isAtEnd = batch.isAtEnd
        if isAtEnd { readUntil = now }
        guard batch.count > 0 else { return nil }
        if batch.unreadable > 0 { notices.append(.unreadable(entries: batch.unreadable)) }
        self.position = batch.position
        found()
        return batch
    }

    /// Moves the position to the journal's end when nothing matches up to there, so that it does not grow old.
    private mutating func noteTail(_ now: Int64, _ monotonic: Int64) throws(JournalReaderError) -> JournalBatch? {
        let tail = try Self.end(of: try opened())
        // Anew, so that no file is missing that was there when the end was looked up.
        close()
        guard let tail else {
            tellEmpty()
            retryAt = monotonic + Self.searchInterval
            return nil
        }
        found()
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
        tailDueAt = monotonic + (isEmpty ? Self.searchInterval : tailInterval)
    }

    private mutating func tellEmpty() {
        if !isEmpty { notices.append(.empty) }
        isEmpty = true
    }

    private mutating func found() {
        if isEmpty { notices.append(.found) }
        isEmpty = false
    }

    private mutating func recovered() {
        if failuresInARow > 0 { notices.append(.readable) }
        failuresInARow = 0
        lostBatches = 0
    }

    /// Gives a batch up: the reader was opened anew, perhaps in front of what was delivered.
    private mutating func lose(_ monotonic: Int64) {
        close()
        failures += 1
        if lostBatches > 0 { retryAt = monotonic + Self.shortestPause }
        lostBatches += 1
    }

    private mutating func fail(_ error: JournalReaderError, _ monotonic: Int64) {
        close()
        failures += 1
        if failuresInARow == 0 { notices.append(.failed("\(error)")) }
        retryAt = monotonic + min(Self.shortestPause << min(failuresInARow, 10), Self.longestPause)
        failuresInARow += 1
    }
}

/// How far the journal has been read: behind an entry, or up to a time where there was none.
struct JournalPosition: Hashable, SourcePlace {
    private static let version: UInt64 = 1
    /// The longest cursor that is kept, in bytes; libsystemd's have about 200.
    static let maximumCursor = 1_024

    /// The cursor of the last entry, of whatever kind; nil while there was none.
    var cursor: String?
    /// When journald took that entry, or when reading began; in microseconds since 1970.
    var realtime: Int64

    /// What the position is kept under; the same for all conditions, so that another one goes on where reading is.
    static let sourceName = "followed journal"

    func encoded(with state: [UInt8]) -> [UInt8] {
        let cursor = Array((cursor ?? "").utf8.prefix(Self.maximumCursor))
        let words = [Self.version, UInt64(bitPattern: realtime), UInt64(cursor.count), UInt64(state.count)]
        return LittleEndianWords.bytes(words) + cursor + state
    }

    /// Reads a position back; nil for bytes that are none.
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
