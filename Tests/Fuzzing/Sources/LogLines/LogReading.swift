// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// What a log gave that was read in one piece or in several, with or without a restart between them.
struct LogReading {
    private(set) var lines = LogLineCounts()
    private(set) var rejected = 0
    private(set) var unknownFields = 0
    /// What came with each call.
    private(set) var batches: [DecodedEvents] = []

    /// What two readings of the same log have in common: what happened and when. Which cycle an event belongs to may depend
    /// on how much of the log is known, and a line that is told again may be left out.
    var stories: Set<[UInt8]> {
        var all: Set<[UInt8]> = []
        for batch in batches {
            var cursor = EventCursor()
            while let event = try? cursor.next(in: batch.events.bytes.span) {
                let time = event.isTimeAssumed ? "assumed" : "\(event.timestamp)"
                all.insert(Array("\(event.kind.name) \(time)".utf8))
            }
        }
        return all
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

    /// Whether a line is told twice, which a decoder does not know after a restart.
    var hasRepeatedLines: Bool {
        var seen: Set<ArraySlice<UInt8>> = []
        return log.split(separator: 0x0A).contains { !seen.insert($0).inserted }
    }

    func decoder() -> LogDecoder {
        LogDecoder(options, pseudonyms: FoldedPseudonyms(), identityKey: IdentityKey(1, 2))
    }

    func decoder(restoring state: [UInt8]) throws(LogStateError) -> LogDecoder {
        try LogDecoder(restoring: state, options, pseudonyms: FoldedPseudonyms(), identityKey: IdentityKey(1, 2))
    }
}
