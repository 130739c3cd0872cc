// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import LedgerState
internal import Logging
internal import Synchronization
internal import TelemetryEvents

/// Decodes the lines of one source and stores them in the ledger, each row with the position after its lines.
///
/// Lines without events are counted with the next row; a row without events is stored after enough bytes or time. A row
/// that cannot be stored is retried until it is, or the service stops.
struct LogIntake<Place: SourcePlace> {
    /// How many bytes are read at most between two rows.
    private static var bytesBetweenRows: Int { 1 << 20 }
    /// How much time passes at most between two rows while the position moves.
    private static var microsecondsBetweenRows: Int64 { 5_000_000 }
    /// After how much silence the decoder is flushed.
    private static var silenceMicroseconds: Int64 { 1_000_000 }
    /// From this size on, the decoder's state may be cut at its limit.
    private static var largeStateBytes: Int { 32 << 10 }

    private let writer: GroupCommit<IngestProcessor>
    private let origin: EventOrigin
    private let source: UInt64
    private let stop: SourceStop
    /// Called once when the lines cannot be of one device.
    private let onDoubt: (DeviceDoubts) -> Void
    private var hasDoubt = false
    private var decoder: LogDecoder
    private var position: Place?
    /// The last position that was stored since the start.
    private(set) var stored: Place?
    /// The lines that are not in a row yet.
    private var lines = LogLineCounts()
    private var bytes = 0
    private var hasMoved = false
    /// Whether the ledger has a position of the source; a file that is rotated before that is lost.
    private var isPlaced: Bool
    private var mayHold = true
    private var committedAt = LedgerClock.system.now()
    private var readAt = LedgerClock.system.now()

    /// - Parameters:
    ///   - source: The key of the position in the ledger; 0 for a source without one.
    ///   - isPlaced: Whether the ledger has a position of it.
    ///   - onDoubt: Called once when the lines cannot be of one device.
    init(
        _ decoder: LogDecoder,
        origin: EventOrigin,
        source: UInt64,
        isPlaced: Bool,
        writer: GroupCommit<IngestProcessor>,
        stop: SourceStop,
        onDoubt: @escaping (DeviceDoubts) -> Void = { _ in }
    ) {
        self.decoder = decoder
        self.onDoubt = onDoubt
        self.origin = origin
        self.source = source
        self.isPlaced = isPlaced
        self.writer = writer
        self.stop = stop
    }

    /// Takes whole lines; only the last line of the input may lack its line feed.
    mutating func take(
        _ read: [UInt8],
        carriers: [LineCarrier] = [],
        bytesRead: Int,
        position: Place? = nil
    ) async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        let decoded = decoder.decode(read.span, readAt: Timestamp(microseconds: now), carriers: carriers)
        if !decoded.doubts.isEmpty, !hasDoubt {
            hasDoubt = true
            onDoubt(decoded.doubts)
        }
        lines += decoded.lines
        bytes += bytesRead
        self.position = position
        hasMoved = true
        mayHold = mayHold || decoded.lines.recognised > 0
        readAt = now
        if !decoded.isWithoutEvents || isRowDue(now) { try await store(decoded, now) }
    }

    /// Flushes the decoder and stores the position when these are due while nothing is read.
    mutating func idle() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        if mayHold, now - readAt >= Self.silenceMicroseconds {
            mayHold = false
            let flushed = decoder.flush(readAt: Timestamp(microseconds: now))
            if !flushed.isWithoutEvents { return try await store(flushed, now) }
        }
        if hasMoved, isRowDue(now) { try await store(nothing(now), now) }
    }

    /// Stores everything at the end of the input.
    mutating func end() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        mayHold = false
        try await store(decoder.flush(readAt: Timestamp(microseconds: now)), now)
    }

    /// Stores the position and the decoder's state when the service stops; the next start resumes there.
    mutating func pause() async throws(IntakeEnded) {
        let now = LedgerClock.system.now()
        if hasMoved { try await store(nothing(now), now) }
    }

    private func isRowDue(_ now: Int64) -> Bool {
        (position != nil && !isPlaced) || bytes >= Self.bytesBetweenRows
            || now - committedAt >= Self.microsecondsBetweenRows || now < committedAt
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

    /// The decoder's state; near the size limit the decoder is flushed first, so that no held event is cut off.
    private mutating func state(_ now: Int64, _ decoded: inout DecodedEvents) -> [UInt8] {
        let state = decoder.state
        guard state.count > Self.largeStateBytes else { return state }
        decoded.append(decoder.flush(readAt: Timestamp(microseconds: now)))
        return decoder.state
    }
}

extension DecodedEvents {
    /// Whether it counts nothing but lines.
    fileprivate var isWithoutEvents: Bool { received == 0 && unknownFields == 0 && altered.isEmpty }
}

/// The position of a source, in its own encoding.
protocol SourcePlace: Sendable {
    /// The position with the decoder's state there, as stored in the ledger.
    func encoded(with state: [UInt8]) -> [UInt8]
}

extension FilePosition: SourcePlace {}

/// A flag that stops the sources.
final class SourceStop: Sendable {
    private static let slice = Duration.milliseconds(100)
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .relaxed) }

    func request() { flag.store(true, ordering: .relaxed) }

    /// Sleeps; returns false at once when the sources are stopped.
    func sleep(_ duration: Duration) async -> Bool {
        var left = duration
        while left > .zero, !isRequested, !Task.isCancelled {
            try? await Task.sleep(for: min(left, Self.slice))
            left -= Self.slice
        }
        return !isRequested && !Task.isCancelled
    }
}

/// The writer or the service has stopped; nothing more is stored.
struct IntakeEnded: Error {}

extension GroupCommit where Processor == IngestProcessor {
    /// Submits what nobody would send again: retries until it is durable or the sources are stopped.
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
    /// How long a source waits before a retry; nil when a retry is useless.
    ///
    /// Capped at a second: longer hints spread the load of many clients, and there are few sources.
    var pauseOfSources: Duration? {
        switch self {
        case .stopped: nil
        case .overloaded(let retryAfter), .slow(let retryAfter): min(retryAfter, .seconds(1))
        case .failed: .seconds(1)
        }
    }
}
