// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import SystemPrimitives

/// Reads a journal through libsystemd.
///
/// It is bound to the thread that made it, as `sd_journal` is. When libsystemd fails because files were vacuumed or
/// damaged under the reader, it reopens the journal at the last entry read, a bounded number of times; it never starts
/// over from the head.
public final class JournalReader {
    /// Where reading began, to resume there after reopening.
    private enum Origin {
        case head
        case tail
        case time(UInt64)
        case cursor(String)
    }

    /// How often one step may reopen the journal.
    private static let maximumReopenings = 3
    /// How many entries are read between two cursors, because a cursor costs more than a step.
    private static let stepsPerCursor = 512

    /// The journal that is read.
    public let location: JournalLocation
    private let scope: JournalScope
    private var handle: JournalHandle
    private var matches: [JournalMatch] = []
    private var origin = Origin.head
    private var isBeforeFirstStep = true
    private var stepsSinceCursor = 0
    private var dataThreshold: Int?
    private var isWatching = false
    /// How often the journal was reopened.
    public private(set) var reopenings = 0

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

    /// Limits the length to which values are decompressed; 0 for no limit. The default is 64 KiB.
    public func setDataThreshold(_ bytes: Int) throws(JournalReaderError) {
        dataThreshold = max(0, bytes)
        try handle.setDataThreshold(max(0, bytes))
    }

    /// Reopens the journal with the files that are there now, at the last entry read.
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

    // MARK: Matches

    /// Restricts reading to entries that fulfil a condition; an empty one admits all.
    ///
    /// Seek afterwards, because a new condition leaves no position.
    public func setMatches(_ matches: [JournalMatch]) throws(JournalReaderError) {
        self.matches = matches
        try apply(matches)
    }

    private func apply(_ matches: [JournalMatch]) throws(JournalReaderError) {
        handle.clearMatches()
        for match in matches {
            switch match {
            case .equal(let field, let value): try handle.match(field.bytes + [UInt8(ascii: "=")] + value)
            case .or: try handle.disjunction()
            case .and: try handle.conjunction()
            }
        }
    }

    // MARK: Position

    /// Seeks to the position before the first entry.
    public func seekToHead() throws(JournalReaderError) {
        try handle.seekToHead()
        begin(at: .head)
    }

    /// Seeks to the position after the last entry: ``previous()`` reads it, ``next()`` reads what is appended later.
    public func seekToTail() throws(JournalReaderError) {
        try handle.seekToTail()
        begin(at: .tail)
    }

    /// Seeks to the position before the first entry that journald got at a time or later.
    ///
    /// - Parameter realtimeMicroseconds: The time in microseconds since 1970.
    public func seek(realtimeMicroseconds: UInt64) throws(JournalReaderError) {
        try handle.seek(realtime: realtimeMicroseconds)
        begin(at: .time(realtimeMicroseconds))
    }

    /// Seeks to the entry of a cursor, so that ``next()`` reads the one after it.
    ///
    /// - Returns: Whether that entry exists. When it is gone or does not match, ``next()`` reads the first entry after
    ///   its place. After a text that is no cursor, the reader is before the first entry.
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

    /// Moves to the next entry.
    ///
    /// - Returns: Whether there is one.
    public func next() throws(JournalReaderError) -> Bool {
        if isBeforeFirstStep, case .tail = origin {
            // libsystemd does not define what follows the tail, so continue from the last entry.
            guard try step(.backward) else {
                try seekToHead()
                return try step(.forward)
            }
        }
        return try step(.forward)
    }

    /// Moves to the previous entry.
    ///
    /// - Returns: Whether there is one.
    public func previous() throws(JournalReaderError) -> Bool {
        try step(.backward)
    }

    /// The current entry's cursor, which is valid as long as its file exists.
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

    // MARK: Values

    /// Passes the bytes of one of the current entry's values to a closure, without a copy.
    ///
    /// - Returns: The closure's result, or nil when the entry has no such field.
    /// - Complexity: O(number of the entry's fields).
    public func withValue<Result>(
        of field: JournalField,
        _ body: (borrowing RawSpan) -> Result
    ) throws(JournalReaderError) -> Result? {
        try handle.withValue(of: field, body)
    }

    /// One of the current entry's values, or nil when the entry has no such field.
    ///
    /// - Parameter maximumBytes: The maximum length; the rest is cut off.
    public func value(
        of field: JournalField,
        maximumBytes: Int = .max
    ) throws(JournalReaderError) -> [UInt8]? {
        try withValue(of: field) { value in
            var bytes: [UInt8] = []
            bytes.append(span: value.extracting(first: max(0, maximumBytes)))
            return bytes
        }
    }

    /// Whether the current entry has a field.
    public func hasValue(of field: JournalField) throws(JournalReaderError) -> Bool {
        try withValue(of: field) { _ in true } ?? false
    }

    /// One of the current entry's values as a decimal number, or nil when it is none.
    public func number(of field: JournalField) throws(JournalReaderError) -> UInt64? {
        let number = try withValue(of: field) { UInt64(decimal: $0) }
        return number ?? nil
    }

    /// Whether one of the current entry's fields has a value.
    public func hasValue(_ expected: [UInt8], of field: JournalField) throws(JournalReaderError) -> Bool {
        try withValue(of: field) { $0.elementsEqual(expected) } ?? false
    }

    /// When journald got the current entry, in microseconds since 1970.
    public func realtimeMicroseconds() throws(JournalReaderError) -> UInt64 {
        try handle.realtimeMicroseconds()
    }

    // MARK: Following

    /// A descriptor that poll(2) reports readable when the journal has changed; call ``process()`` then.
    ///
    /// journald announces appended entries up to 250 ms late, but they are readable at once.
    public func descriptor() throws(JournalReaderError) -> Int32 {
        let descriptor = try handle.watch()
        isWatching = true
        return descriptor
    }

    /// Processes changes of the journal's files, without waiting.
    ///
    /// The first call starts to watch the journal; it reports only later changes.
    @discardableResult
    public func process() throws(JournalReaderError) -> JournalChange {
        if !isWatching { _ = try descriptor() }
        return try handle.process()
    }

    /// Waits until the journal changes.
    ///
    /// - Parameter timeout: The maximum time.
    public func wait(timeout: Duration) throws(JournalReaderError) -> JournalChange {
        if !isWatching { _ = try descriptor() }
        return try handle.wait(microseconds: timeout.clampedNanoseconds / 1_000)
    }
}

@available(*, unavailable)
extension JournalReader: Sendable {}

/// What happened to a journal since the last ``JournalReader/process()``.
public enum JournalChange: Hashable, Sendable {
    /// Nothing.
    case none
    /// Entries were appended.
    case appended
    /// Files appeared or disappeared; there may be new entries before the reader's position.
    case filesChanged
}

/// Why a journal could not be read.
public enum JournalReaderError: Error, Hashable, CustomStringConvertible {
    /// libsystemd could not open the journal.
    case open(JournalLocation, SystemError)
    /// The process may not read the journal's files; libsystemd would show an empty journal.
    case permission(path: String, user: UInt32)
    /// A call of libsystemd failed.
    case call(String, SystemError)
    /// Reading failed again after the journal was reopened at its last entry.
    case unreadable(attempts: Int, SystemError)

    /// Whether only one entry is unreadable: damaged, or compressed with an algorithm that libsystemd lacks here.
    public var isOfOneEntry: Bool {
        guard case .call(_, let error) = self else { return false }
        return error.code == EBADMSG || error.code == EPROTONOSUPPORT
    }

    /// The problem and what to do about it.
    public var description: String {
        switch self {
        case .open(let location, let error):
            "\(location) couldn't be opened: \(error)"
        case .permission(let path, let user):
            """
            user \(user) may not read \(path), so no entry would ever be seen; run as root or in group \
            systemd-journal or adm
            """
        case .call(let name, let error):
            "\(name) failed: \(error)"
        case .unreadable(let attempts, let error):
            """
            the journal was reopened \(attempts) times at the last entry read and is still unreadable: \(error); check \
            its files with journalctl --verify
            """
        }
    }
}

extension RawSpan {
    /// Whether the bytes equal others.
    fileprivate func elementsEqual(_ bytes: [UInt8]) -> Bool {
        guard byteCount == bytes.count else { return false }
        return unsafe withUnsafeBytes { unsafe $0.elementsEqual(bytes) }
    }
}

extension UInt64 {
    /// The number whose decimal digits the bytes are; nil for anything else.
    init?(decimal text: borrowing RawSpan) {
        guard (1...20).contains(text.byteCount) else { return nil }
        var number: UInt64 = 0
        for offset in 0..<text.byteCount {
            let digit = unsafe text.unsafeLoad(fromByteOffset: offset, as: UInt8.self) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tens, tensOverflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = tens.addingReportingOverflow(UInt64(digit))
            guard !tensOverflow, !sumOverflow else { return nil }
            number = sum
        }
        self = number
    }
}
