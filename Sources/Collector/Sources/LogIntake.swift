// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// Turns the lines of one source into rows of the ledger, one row at a time, each with the position behind its lines.
///
/// Lines without events are counted with the next row; a row without events is written when much was read or some time
/// has passed. A row that could not be stored is tried again until it is, or the service stops.
struct LogIntake<Place: SourcePlace> {
    /// How much is read at most between two rows, in bytes.
    private static var bytesBetweenRows: Int { 1 << 20 }
    /// How much time passes at most between two rows while the position moves, in microseconds.
    private static var timeBetweenRows: Int64 { 5_000_000 }
    /// After how much silence the decoder gives up waiting, in microseconds.
    private static var silence: Int64 { 1_000_000 }
    /// From which size on the decoder's state may lack something, in bytes.
    private static var largeState: Int { 32 << 10 }

    private let writer: GroupCommit<IngestProcessor>
    private let origin: EventOrigin
    private let source: UInt64
    private let stop: SourceStop
    private var decoder: LogDecoder
    private var position: Place?
    /// The last position that stands in the ledger since the start.
    private(set) var stored: Place?
    /// The lines that are in no row yet.
    private var lines = LogLineCounts()
    private var bytes = 0
    private var hasMoved = false
    /// Whether the ledger knows where the source is; a file that is rotated before that is lost.
    private var isPlaced: Bool
    private var mayHold = true
    private var committedAt = LedgerClock.system.now()
    private var readAt = LedgerClock.system.now()

    /// - Parameters:
    ///   - source: what the position is kept under; 0 for a source that has none.
    ///   - isPlaced: whether the ledger has a position of it.
    init(
        _ decoder: LogDecoder,
        origin: EventOrigin,
        source: UInt64,
        isPlaced: Bool,
        writer: GroupCommit<IngestProcessor>,
        stop: SourceStop
    ) {
        self.decoder = decoder
        self.origin = origin
        self.source = source
        self.isPlaced = isPlaced
        self.writer = writer
        self.stop = stop
    }

    /// Takes whole lines; the last one of all may lack its line feed.
    mutating func take(
        _ read: [UInt8],
        carriers: [LineCarrier] = [],
        bytesRead: Int,
        position: Place? = nil
    ) async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        let decoded = decoder.decode(read.span, readAt: Timestamp(microseconds: now), carriers: carriers)
        lines += decoded.lines
        bytes += bytesRead
        self.position = position
        hasMoved = true
        mayHold = mayHold || decoded.lines.recognised > 0
        readAt = now
        if !decoded.isWithoutEvents || isRowDue(now) { try await store(decoded, now) }
    }

    /// Does what is due while nothing is read.
    mutating func idle() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        if mayHold, now - readAt >= Self.silence {
            mayHold = false
            let flushed = decoder.flush(readAt: Timestamp(microseconds: now))
            if !flushed.isWithoutEvents { return try await store(flushed, now) }
        }
        if hasMoved, isRowDue(now) { try await store(nothing(now), now) }
    }

    /// The input has ended: nothing waits any longer.
    mutating func end() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        mayHold = false
        try await store(decoder.flush(readAt: Timestamp(microseconds: now)), now)
    }

    /// The service stops: what was read is stored, and what waits goes on after the next start.
    mutating func pause() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        if hasMoved { try await store(nothing(now), now) }
    }

    private func isRowDue(_ now: Int64) -> Bool {
        (position != nil && !isPlaced) || bytes >= Self.bytesBetweenRows
            || now - committedAt >= Self.timeBetweenRows || now < committedAt
    }

    private mutating func nothing(_ now: Int64) -> DecodedEvents {
        decoder.decode([UInt8]().span, readAt: Timestamp(microseconds: now))
    }

    private mutating func store(_ decoded: DecodedEvents, _ now: Int64) async throws(IntakeEnded) {
        var decoded = decoded
        let saved = position.map { place in
            SourcePosition(source: source, bytes: place.encoded(with: state(now, &decoded)))
        }
        _ = try await writer.store(.reading(decoded, origin: origin, lines: lines, position: saved), unless: stop)
        stored = position
        lines = LogLineCounts()
        bytes = 0
        hasMoved = false
        isPlaced = true
        committedAt = now
    }

    /// The decoder's state. Where it grows near the size at which it is cut, no event may wait in it any longer.
    private mutating func state(_ now: Int64, _ decoded: inout DecodedEvents) -> [UInt8] {
        let state = decoder.state
        guard state.count > Self.largeState else { return state }
        decoded.append(decoder.flush(readAt: Timestamp(microseconds: now)))
        return decoder.state
    }
}

extension DecodedEvents {
    /// Whether there is nothing in it that would be counted beside lines.
    fileprivate var isWithoutEvents: Bool { received == 0 && unknownFields == 0 }
}

/// How far a source has been read, in a form of its own.
protocol SourcePlace: Sendable {
    /// The place with the state of the decoder that has read up to there, as the ledger keeps it.
    func encoded(with state: [UInt8]) -> [UInt8]
}

extension FilePosition: SourcePlace {}

/// Tells the sources to end.
final class SourceStop: Sendable {
    private static let slice = Duration.milliseconds(100)
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .relaxed) }

    func request() { flag.store(true, ordering: .relaxed) }

    /// Waits, and returns false at once when the sources are to end.
    func sleep(_ duration: Duration) async -> Bool {
        var left = duration
        while left > .zero, !isRequested, !Task.isCancelled {
            try? await Task.sleep(for: min(left, Self.slice))
            left -= Self.slice
        }
        return !isRequested && !Task.isCancelled
    }
}

/// The writer has stopped, or the service stops while the ledger stores nothing: what follows is not taken.
struct IntakeEnded: Error {}

extension GroupCommit where Processor == IngestProcessor {
    /// Hands in what cannot be refused, because nobody would send it again: tries until it is durable or the sources end.
    func store(_ submission: IngestSubmission, unless stop: SourceStop) async throws(IntakeEnded) -> IngestOutcome {
        while true {
            let pause: Duration?
            do throws(SubmissionError) {
                return try await submit(submission)
            } catch {
                pause = error.pauseOfSources
            }
            guard let pause, await stop.sleep(pause) else { throw IntakeEnded() }
        }
    }
}

extension SubmissionError {
    /// How long a source waits before it tries again; nil when that is of no use. The hints are for clients, which are many:
    /// a source goes on as soon as the ledger does.
    var pauseOfSources: Duration? {
        switch self {
        case .stopped: nil
        case .overloaded(let retryAfter), .slow(let retryAfter): min(retryAfter, .seconds(1))
        case .failed: .seconds(1)
        }
    }
}
