// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What a log gave that was read in one piece or in several, with or without a restart between them.
struct LogReading {
    private(set) var lines = LogLineCounts()
    private(set) var rejected = 0
    private(set) var unknownFields = 0
    /// What came with each call.
    private(set) var batches: [DecodedEvents] = []

    /// Every event with its identity, in no order: what two readings of the same log have in common.
    ///
    /// - Parameter isRestart: whether one of them restarted between two lines: an id for which a pseudonym stands is not
    ///   saved, so that events told later have the identity under the pseudonym.
    ///
    /// An assumed time may be that of the first stamp behind the line, which only the piece with both of them knows, and
    /// what has no name is called after it.
    func events(isRestart: Bool) -> [[UInt8]] {
        lines { event, batch, identity in
            var (event, identity) = (event, identity)
            let id = batch.events.bytes[event.scheduleId]
            if isRestart, id.starts(with: "redacted-".utf8) { identity = 0 }
            if event.isTimeAssumed || id.starts(with: "unnamed-".utf8) { identity = 0 }
            if id.starts(with: "unnamed-".utf8) { event.scheduleId = 0..<0 }
            if event.isTimeAssumed { event.timestamp = .earliestAccepted }
            var line: [UInt8] = []
            CanonicalJSON.append(event, in: batch.events.bytes.span, to: &line)
            return line + Array("\(event.isTimeAssumed ? " assumed" : "") \(identity)".utf8)
        }
    }

    /// What happened and when. Which processes live side by side, and so which cycle an event belongs to, may depend on how
    /// much of a log is known.
    var stories: [[UInt8]] {
        lines { event, _, _ in
            Array("\(event.kind.name) \(event.isTimeAssumed ? "assumed" : "\(event.timestamp)")".utf8)
        }
    }

    private func lines(_ line: (Event, DecodedEvents, UInt64) -> [UInt8]) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for batch in batches {
            var identities = batch.identities[...]
            var cursor = EventCursor()
            while let event = try? cursor.next(in: batch.events.bytes.span) {
                all.append(line(event, batch, identities.popFirst() ?? 0))
            }
        }
        return all.sorted { $0.lexicographicallyPrecedes($1) }
    }

    mutating func add(_ batch: DecodedEvents) {
        lines += batch.lines
        rejected += batch.rejected
        unknownFields += batch.unknownFields
        batches.append(batch)
    }
}

extension LogInput {
    /// Reads the log in one piece.
    func whole() -> LogReading {
        var reading = LogReading()
        var decoder = decoder()
        reading.add(decoder.decode(log.span, readAt: receivedAt))
        reading.add(decoder.flush(readAt: receivedAt))
        return reading
    }

    /// Reads the log in two pieces; `restart` gives the decoder of the second one.
    func cut(at place: Int, restart: (LogDecoder) -> LogDecoder) -> LogReading {
        var reading = LogReading()
        var first = decoder()
        reading.add(first.decode(log.span.extracting(..<place), readAt: receivedAt))
        var second = restart(first)
        reading.add(second.decode(log.span.extracting(place...), readAt: receivedAt))
        reading.add(second.flush(readAt: receivedAt))
        return reading
    }

    /// Whether the log is in a wrapper that tells nothing of processes.
    var namesNoProcess: Bool { [.bare, .stamped, .events].contains(options.wrapper) }

    func decoder() -> LogDecoder {
        LogDecoder(options, pseudonyms: FoldedPseudonyms(), identityKey: IdentityKey(1, 2))
    }

    func decoder(restoring state: [UInt8]) throws(LogStateError) -> LogDecoder {
        try LogDecoder(restoring: state, options, pseudonyms: FoldedPseudonyms(), identityKey: IdentityKey(1, 2))
    }
}
