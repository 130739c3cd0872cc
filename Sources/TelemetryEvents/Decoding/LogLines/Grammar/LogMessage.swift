// SPDX-License-Identifier: Apache-2.0

/// What a message of a known form says: an event with texts that are ranges into the line, and what binds it to a cycle.
struct LogMessage {
    var rule: LogRule
    /// The event, or what a line without one tells about its cycle; its time is still to be set.
    var event: Event
    /// Whether the message tells where the content came from, and that it was not the prefetch.
    var isFromElsewhere = false
    /// The counters of a snapshot.
    var counters = ClientCounts()

    /// Reads a message; nil when no rule fits.
    init?(_ bytes: Span<UInt8>, _ text: Range<Int>, zone: ZoneOffsets) {
        let grammar = LogGrammar.shared
        guard let (index, rest) = grammar.match(bytes, text) else { return nil }
        rule = grammar.rules[index]
        event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        if case .event(let kind) = rule.meaning { event.kind = kind }
        let remainder = rest..<text.upperBound
        switch rule.remainder {
        case .nothing: break
        case .fields: readFields(bytes, remainder, zone)
        case .notificationTime:
            if let time = LogTime(bytes, remainder) {
                event.scheduledFor = planned(time, zone)
            } else {
                readFields(bytes, remainder, zone)
            }
        case .error:
            event.error = bytes.trimmed(remainder, alsoLeading: UInt8(ascii: ":"))
        case .counters: readCounters(bytes, remainder)
        }
        complete(bytes)
    }

    /// Derives what the form or the fields leave to derive (SPEC 3.4).
    private mutating func complete(_ bytes: Span<UInt8>) {
        switch event.kind {
        case .prefetchFailure:
            event.reason =
                rule.reason ?? event.reason ?? event.status.flatMap { FailureReason(httpStatus: $0) }
                ?? FailureReason(error: bytes, event.error.prefix(Self.readError))
        case .prefetchExpired: event.reason = .system
        case .prefetchCompleted:
            if event.fetched == false {
                event.reason = event.reason ?? rule.reason
            } else {
                event.reason = nil
            }
        default: break
        }
        event.error = event.error.prefix(Self.readError)
    }

    /// How much of an error's text is looked at.
    private static let readError = 1_024
    private static let latestPlanned = Timestamp(seconds: 4_102_444_800)

    /// A planned time inside the limits of SPEC 3.1.
    func planned(_ time: LogTime, _ zone: ZoneOffsets) -> Timestamp? {
        let timestamp = time.timestamp(in: zone)
        return timestamp >= .earliestAccepted && timestamp < Self.latestPlanned ? timestamp : nil
    }
}

extension Span<UInt8> {
    /// The range without the white space around it, and without one leading byte.
    func trimmed(_ range: Range<Int>, alsoLeading byte: UInt8? = nil) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start] <= 0x20 || self[start] == byte { start += 1 }
        while end > start, self[end - 1] <= 0x20 { end -= 1 }
        return start..<end
    }
}
