// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LogInput
internal import TelemetryEvents

/// Splits an input into batches, in bounded memory.
///
/// A document is sent whole, lines of events as they are and in groups. A log is decoded on the client, which knows its
/// time zone, and sent as events; a log without times is sent whole, because an event needs one.
struct SendCutter: Sendable {
    /// The collector's default limit for a decompressed body, in bytes.
    static let largestDocument = 64 << 20
    /// Up to this size a log is decoded as a whole, in bytes.
    static let wholeLog = 8 << 20

    /// When something was read.
    struct Moment: Sendable {
        /// Since the start.
        var elapsed: Duration
        var wall: Timestamp
    }

    private enum State: Sendable {
        case undecided([UInt8])
        case document([UInt8])
        case events
        case log([UInt8], since: Duration)
        case decoding(DecodedLog, isSilent: Bool)
    }

    private let options: LineFormat
    private let source: SendSource?
    private let isLive: Bool
    private var state = State.undecided([])
    private var cutter = LineCutter()
    private var batches = LineBatches()
    private var keys = BatchKeys()
    private var ready: [SendBatch] = []
    private var lastRead = Duration.zero
    /// The lines before the log that is read.
    private var lineOffset: UInt64 = 0
    /// The lines that the client decoded.
    private(set) var decodedLines = LogLineCounts()
    /// All lines, and the events that the client rejected.
    private(set) var account = SendAccount()

    /// - Parameter isLive: whether the input may be written while it is read.
    init(_ options: LineFormat, source: SendSource? = nil, isLive: Bool) {
        self.source = source
        self.options = options
        self.isLive = isLive
    }

    /// Adds bytes and returns the full batches.
    mutating func take(_ bytes: [UInt8], at now: Moment) throws(InputError) -> [SendBatch] {
        lastRead = now.elapsed
        try add(bytes, now)
        return takeReady()
    }

    /// Returns the batches of a live input that have waited long enough.
    mutating func tick(at now: Moment) throws(InputError) -> [SendBatch] {
        guard isLive else { return [] }
        switch state {
        case .undecided, .document: break
        case .events: addBatch(batches.due(now: now.elapsed, &keys))
        case .log(let bytes, let since) where now.elapsed - since >= LineBatches.longestWait:
            try beginDecoding(bytes, isLive: true, now)
            addBatch(batches.due(now: now.elapsed, &keys))
        case .log: break
        case .decoding(var log, let isSilent):
            if !isSilent, now.elapsed - lastRead >= LineBatches.longestWait {
                let lines = try log.flush(readAt: now.wall)
                state = .decoding(log, isSilent: true)
                add(lines, now)
            }
            addBatch(batches.due(now: now.elapsed, &keys))
        }
        return takeReady()
    }

    /// Ends the input and returns the remaining batches.
    ///
    /// - Parameter isCut: whether reading was interrupted, so that a line or a document may lack its end. It is not sent:
    ///   sent again from its beginning, it counts once.
    mutating func finish(at now: Moment, isCut: Bool = false) throws(InputError) -> [SendBatch] {
        if case .undecided(let bytes) = state, !isCut || bytes.last == UInt8(ascii: "\n") {
            try decide(bytes, isWhole: true, now)
        }
        var last: [UInt8] = []
        cutter.finish(into: &last)
        if !last.isEmpty, !isCut { try addLines(last, now) }
        switch state {
        case .undecided: break
        case .document(let bytes): if !isCut || Self.isWhole(bytes) { whole(.document, bytes, .document) }
        case .events: break
        case .log(let bytes, _): finishLog(bytes, now)
        case .decoding(var log, _):
            let lines = try log.flush(readAt: now.wall)
            state = .decoding(log, isSilent: true)
            add(lines, now)
        }
        addBatch(batches.take(&keys))
        return takeReady()
    }

    private static func isWhole(_ document: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(document))) != nil
    }

    private mutating func takeReady() -> [SendBatch] {
        defer { ready = [] }
        return ready
    }

    private mutating func add(_ bytes: [UInt8], _ now: Moment) throws(InputError) {
        switch state {
        case .undecided(var held):
            state = .document([])
            held += bytes
            try decide(held, isWhole: false, now)
        case .document(var held):
            state = .document([])
            held += bytes
            guard held.count <= Self.largestDocument else {
                throw InputError(
                    input: "the JSON document",
                    problem: "it is larger than \(Self.largestDocument >> 20) MiB; write one event on each line, "
                        + "as `jq -c '.events[]? // .[]?'` does"
                )
            }
            state = .document(held)
        case .events, .log, .decoding:
            var lines: [UInt8] = []
            cutter.cut(bytes, into: &lines)
            if !lines.isEmpty { try addLines(lines, now) }
        }
    }

    private mutating func decide(_ bytes: [UInt8], isWhole: Bool, _ now: Moment) throws(InputError) {
        let mayBeEvents = options.wrapper == nil || options.wrapper == .events
        guard let found = mayBeEvents ? InputForm(bytes, isWhole: isWhole) : .log else {
            state = .undecided(bytes)
            return
        }
        switch found {
        case .document:
            state = .document([])
        case .events: state = .events
        case .log: state = options.wrapper == .events ? .events : .log([], since: now.elapsed)
        }
        try add(bytes, now)
    }

    private mutating func addLines(_ lines: [UInt8], _ now: Moment) throws(InputError) {
        switch state {
        case .undecided, .document: break
        case .events: try addEvents(lines, now)
        case .log(var held, let since):
            state = .events
            account.lines += UInt64(lines.count { $0 == UInt8(ascii: "\n") })
            held += lines
            if held.count > Self.wholeLog {
                try beginDecoding(held, isLive: false, now)
            } else {
                state = .log(held, since: since)
            }
        case .decoding(var log, _):
            state = .events
            account.lines += UInt64(lines.count { $0 == UInt8(ascii: "\n") })
            try decode(&log, lines, now)
        }
    }

    /// Adds lines of events; from the first that is none on, the input is a log.
    private mutating func addEvents(_ lines: [UInt8], _ now: Moment) throws(InputError) {
        var start = 0
        while start < lines.count {
            let end = lines[start...].firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
            let text = lines.span.trimmedRange(start..<end)
            if !text.isEmpty {
                guard lines[text.lowerBound] == UInt8(ascii: "{") || options.wrapper == .events else {
                    addBatch(batches.take(&keys))
                    lineOffset = account.lines
                    state = .log([], since: now.elapsed)
                    return try addLines(Array(lines[start...]), now)
                }
                let number = account.lines + 1
                let full = batches.add(lines[text], number: number, isDecoded: false, now: now.elapsed, &keys)
                if let full { ready.append(full) }
            }
            account.lines += 1
            start = end + 1
        }
    }

    private mutating func finishLog(_ bytes: [UInt8], _ now: Moment) {
        let (keysBefore, accountBefore) = (keys, account)
        var log = DecodedLog(options, source: source, isLive: false, lineOffset: lineOffset)
        do throws(InputError) {
            try decode(&log, bytes, now)
            add(try log.flush(readAt: now.wall), now)
            state = .decoding(log, isSilent: true)
        } catch {
            // The collector marks these events as untimed.
            (keys, account) = (keysBefore, accountBefore)
            (batches, ready, decodedLines) = (LineBatches(), [], LogLineCounts())
            whole(.log, bytes, .log(first: lineOffset + 1))
        }
    }

    private mutating func beginDecoding(_ bytes: [UInt8], isLive: Bool, _ now: Moment) throws(InputError) {
        var log = DecodedLog(options, source: source, isLive: isLive, lineOffset: lineOffset)
        try decode(&log, bytes, now)
    }

    private mutating func decode(_ log: inout DecodedLog, _ lines: [UInt8], _ now: Moment) throws(InputError) {
        let decoded = try log.decode(lines, readAt: now.wall)
        state = .decoding(log, isSilent: false)
        decodedLines = log.counts
        add(decoded, now)
    }

    private mutating func add(_ lines: DecodedLines, _ now: Moment) {
        for event in lines.events {
            let full = batches.add(event[...], number: lines.last, isDecoded: true, now: now.elapsed, &keys)
            if let full { ready.append(full) }
        }
        account.rejected += lines.rejectedTotal
        for (place, reason) in lines.rejected { account.note(place, reason) }
    }

    private mutating func whole(_ format: SendBatch.Format, _ bytes: [UInt8], _ origin: SendBatch.Origin) {
        guard bytes.contains(where: { $0 > 0x20 }) else { return }
        ready.append(SendBatch(format: format, body: bytes, origin: origin, key: keys.next(format, bytes)))
    }

    private mutating func addBatch(_ batch: SendBatch?) {
        if let batch { ready.append(batch) }
    }
}

extension Span<UInt8> {
    /// The line without white space, and a byte order mark, around it.
    fileprivate func trimmedRange(_ line: Range<Int>) -> Range<Int> {
        var (start, end) = (line.lowerBound, line.upperBound)
        if start + 3 <= end, self[start] == 0xEF, self[start + 1] == 0xBB, self[start + 2] == 0xBF { start += 3 }
        while end > start, self[end - 1] <= 0x20 { end -= 1 }
        while start < end, self[start] <= 0x20 { start += 1 }
        return start..<end
    }
}

/// The form of an input, detected from its first bytes.
enum InputForm: Equatable, Sendable {
    /// One JSON document.
    case document
    /// One event per line, for as long as lines begin like objects.
    case events
    /// Lines of a log.
    case log

    /// The form is decided after this many bytes at the latest.
    static let mostBytes = 64 << 10

    /// Nil while more bytes are needed.
    init?(_ bytes: [UInt8], isWhole: Bool) {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop(while: Self.isBlank)
        let isEnough = isWhole || bytes.count >= Self.mostBytes
        guard let first = text.first else {
            if !isEnough { return nil }
            self = .log
            return
        }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            self = .log
            return
        }
        if !isEnough {
            guard text.contains(UInt8(ascii: "\n")), text.dropFirst().contains(where: { !Self.isBlank($0) }) else {
                return nil
            }
        }
        if JSONDocuments.begins(bytes[...], isWhole: isWhole) {
            self = .document
        } else if first == UInt8(ascii: "{"), !Self.isLogRecord(text.prefix { $0 != UInt8(ascii: "\n") }) {
            self = .events
        } else {
            self = .log
        }
    }

    /// Whether an object is a line of `log --style ndjson` or `journalctl -o json` by the names that each of them has.
    private static func isLogRecord(_ line: ArraySlice<UInt8>) -> Bool {
        let names = ["\"eventMessage\"", "\"__REALTIME_TIMESTAMP\"", "\"MESSAGE\""].map { Array($0.utf8) }
        var rest = line
        while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
            rest = rest[quote...]
            if names.contains(where: { rest.starts(with: $0) }) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
}
