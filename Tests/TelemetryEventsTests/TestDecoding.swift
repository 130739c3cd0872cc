// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// Predictable pseudonyms for tests; the service's keyed hash has tests of its own.
struct PlainPseudonyms: Pseudonymising {
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym {
        var sum: UInt64 = 0
        for index in 0..<bytes.count { sum = sum &* 31 &+ UInt64(bytes[index]) }
        return Pseudonym(high: sum, low: UInt64(bytes.count))
    }
}

let received = Timestamp(seconds: 1_763_200_000)

func decode(_ text: String, as framing: JSONEventDecoder.Framing = .document) -> DecodedEvents {
    decode(Array(text.utf8), as: framing)
}

func decode(_ bytes: [UInt8], as framing: JSONEventDecoder.Framing = .document) -> DecodedEvents {
    JSONEventDecoder.decode(
        bytes.span,
        framing: framing,
        receivedAt: received,
        pseudonyms: PlainPseudonyms(),
        identityKey: IdentityKey(1, 2)
    )
}

/// The canonical JSON of every decoded event.
func canonical(_ decoded: DecodedEvents) throws -> [String] {
    var lines: [String] = []
    var cursor = EventCursor()
    let bytes = decoded.events.bytes
    while let event = try cursor.next(in: bytes.span) {
        var line: [UInt8] = []
        CanonicalJSON.append(event, in: bytes.span, to: &line)
        lines.append(String(decoding: line, as: UTF8.self))
    }
    return lines
}

/// A valid event with an additional member.
func event(with member: String) -> String {
    #"{"event":"prefetch_success","scheduleId":"a","timestamp":"2025-11-15T05:48:32Z",\#(member)}"#
}

let readingTime = Timestamp(seconds: 1_763_400_000)

func logDecoder(_ options: LogDecoderOptions = LogDecoderOptions()) -> LogDecoder {
    LogDecoder(options, pseudonyms: PlainPseudonyms(), identityKey: IdentityKey(1, 2))
}

/// The result of decoding a whole log: events in canonical JSON, line counts and rejections.
struct LogReading {
    var events: [String] = []
    var lines = LogLineCounts()
    var rejections: [Rejection] = []
    var unrecognised: [UnrecognisedLine] = []

    init(_ text: String, _ options: LogDecoderOptions = LogDecoderOptions(), at time: Timestamp = readingTime) throws {
        try self.init([Array(text.utf8)], options, at: time)
    }

    /// Decodes a log in chunks of whole lines.
    init(_ chunks: [[UInt8]], _ options: LogDecoderOptions = LogDecoderOptions(), at time: Timestamp = readingTime)
        throws
    {
        var options = options
        options.unrecognisedLimit = 10
        var decoder = logDecoder(options)
        for chunk in chunks { try add(decoder.decode(chunk.span, readAt: time)) }
        try add(decoder.flush(readAt: time))
        unrecognised = decoder.unrecognised
        lines = decoder.counts
    }

    private mutating func add(_ decoded: DecodedEvents) throws {
        events += try canonical(decoded)
        rejections += decoded.rejections
    }

    /// The events as `kind schedule notification-time`, without the stored schedules whose lines name cycles.
    var bound: [String] { events.map { LogReading.short($0) }.filter { !$0.hasPrefix("schedule_persisted") } }

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
