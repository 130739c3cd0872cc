// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

let readingTime = Timestamp(seconds: 1_763_400_000)

func logDecoder(_ options: LogDecoderOptions = LogDecoderOptions()) -> LogDecoder {
    LogDecoder(options, pseudonyms: PlainPseudonyms(), identityKey: IdentityKey(1, 2))
}

/// What a whole log says: its events in canonical JSON, its line counts and what was refused.
struct LogReading {
    var events: [String] = []
    var lines = LogLineCounts()
    var rejections: [Rejection] = []
    var unrecognised: [UnrecognisedLine] = []

    init(_ text: String, _ options: LogDecoderOptions = LogDecoderOptions(), at time: Timestamp = readingTime) throws {
        try self.init([Array(text.utf8)], options, at: time)
    }

    /// Reads a log in pieces, each of whole lines.
    init(_ pieces: [[UInt8]], _ options: LogDecoderOptions = LogDecoderOptions(), at time: Timestamp = readingTime)
        throws
    {
        var options = options
        options.unrecognisedLimit = 10
        var decoder = logDecoder(options)
        for piece in pieces { try add(decoder.decode(piece.span, readAt: time)) }
        try add(decoder.flush(readAt: time))
        unrecognised = decoder.unrecognised
        lines = decoder.counts
    }

    private mutating func add(_ decoded: DecodedEvents) throws {
        events += try canonical(decoded)
        rejections += decoded.rejections
    }

    /// The events as `kind schedule notification-time`, in the short form that tests compare.
    var bound: [String] { events.map { LogReading.short($0) } }

    static func short(_ event: String) -> String {
        ["event", "scheduleId", "scheduledFor"].map { value(of: $0, in: event) ?? "-" }.joined(separator: " ")
    }

    static func value(of key: String, in event: String) -> String? {
        guard let start = event.firstRange(of: "\"\(key)\":\"") else { return nil }
        return String(event[start.upperBound...].prefix { $0 != "\"" })
    }
}

extension String {
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
