// SPDX-License-Identifier: Apache-2.0

extension JSONEventDecoder {
    /// The largest times and sizes that a field may hold (`EventField/expectation`).
    private static let secondsInTenYears: Int64 = 315_360_000
    private static let microsecondsInADay: Int64 = 86_400_000_000
    private static let tebibyte: Int64 = 1 << 40
    /// How much of a free text is looked at.
    private static let readText = 1_024
    private static let latestPlanned = Timestamp(seconds: 4_102_444_800)

    /// Reads the value of a known field into the draft; null is as good as absent.
    mutating func read(
        _ field: EventField,
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard let first = scanner.peek(bytes) else { throw JSONFault(.truncated, field) }
        if first == UInt8(ascii: "n") { return try scanner.literal("null", bytes) }
        switch field {
        case .event: draft.kind = try kind(&scanner, bytes)
        case .timestamp: draft.timestamp = try timestamp(&scanner, bytes)
        case .scheduledFor: draft.event.scheduledFor = try plannedTime(field, &scanner, bytes)
        case .earliestBeginDate: draft.event.earliestBeginDate = try plannedTime(field, &scanner, bytes)
        case .durationMs:
            draft.event.duration = try number(field, 0...Self.microsecondsInADay, power: 3, &scanner, bytes)
        case .age:
            draft.event.age = try number(field, 0...Self.secondsInTenYears * 1_000_000, power: 6, &scanner, bytes)
        case .ttl: draft.event.ttl = try integer(field, 0...Self.secondsInTenYears, &scanner, bytes)
        case .status: draft.event.status = try integer(field, 0...999, &scanner, bytes)
        case .bytes: draft.event.byteCount = try integer(field, 0...Self.tebibyte, &scanner, bytes)
        case .items: draft.event.itemCount = try integer(field, 0...Self.tebibyte, &scanner, bytes)
        case .reason:
            let reason = try text(field, 0...JSONLimits.eventBytes, &scanner, bytes)
            draft.event.reason = FailureReason(named: texts.bytes.span, reason)
            draft.hintedReason =
                reason.isEmpty ? nil : FailureReason(error: texts.bytes.span, reason.prefix(Self.readText)) ?? .other
        case .error:
            draft.event.error = try text(field, 0...JSONLimits.eventBytes, &scanner, bytes).prefix(Self.readText)
        case .willRetry: draft.event.willRetry = try boolean(field, first, &scanner, bytes)
        case .fetched: draft.event.fetched = try boolean(field, first, &scanner, bytes)
        case .usedCached: draft.event.usedCached = try boolean(field, first, &scanner, bytes)
        case .contentHash: draft.event.contentHash = try hash(field, &scanner, bytes)
        case .scheduleHash: draft.event.scheduleHash = try hash(field, &scanner, bytes)
        case .telemetry: draft.event.clientCounters = try clientCounters(first, &scanner, bytes)
        case .installationId:
            let id = try text(field, 1...256, &scanner, bytes)
            let held = texts.bytes
            draft.event.installation = installations.pseudonym(of: held.span, id, pseudonyms)
        case .scheduleId: draft.event.scheduleId = try text(field, 1...128, &scanner, bytes)
        case .eventId: draft.event.eventId = try text(field, 1...128, &scanner, bytes)
        case .platform: draft.event.platform = try nameOrVersion(field, &scanner, bytes)
        case .appVersion: draft.event.appVersion = try nameOrVersion(field, &scanner, bytes)
        case .osVersion: draft.event.osVersion = try nameOrVersion(field, &scanner, bytes)
        case .deviceModel: draft.event.deviceModel = try nameOrVersion(field, &scanner, bytes)
        case .events, .sentAt: try scanner.skipValue(bytes, depth: 1)
        }
    }

    private func string(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> JSONText {
        guard scanner.peek(bytes) == UInt8(ascii: "\"") else { throw JSONFault(.wrongType, field) }
        do throws(JSONFault) {
            return try scanner.string(bytes)
        } catch {
            throw JSONFault(error.reason, field)
        }
    }

    private mutating func text(
        _ field: EventField,
        _ length: ClosedRange<Int>,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let copy = texts.copy(try string(field, &scanner, bytes), from: bytes)
        guard copy.count >= length.lowerBound else { throw JSONFault(.outOfRange, field) }
        guard copy.count <= length.upperBound else { throw JSONFault(.tooLong, field) }
        return copy
    }

    private mutating func kind(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> EventKind {
        let name = try string(.event, &scanner, bytes)
        guard !name.isEscaped else {
            let copy = texts.copy(name, from: bytes)
            if let kind = vocabulary.kinds.value(of: texts.bytes.span, copy) { return kind }
            throw JSONFault(.unknownKind, .event)
        }
        guard let kind = vocabulary.kinds.value(of: bytes, name.range) else { throw JSONFault(.unknownKind, .event) }
        return kind
    }

    private mutating func time(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Timestamp {
        let text = try string(field, &scanner, bytes)
        let time: Timestamp?
        if text.isEscaped {
            let copy = texts.copy(text, from: bytes)
            time = Timestamp(rfc3339: texts.bytes.span, copy)
        } else {
            time = Timestamp(rfc3339: bytes, text.range)
        }
        guard let time else { throw JSONFault(.invalidTimestamp, field) }
        guard time >= .earliestAccepted else { throw JSONFault(.timestampTooOld, field) }
        return time
    }

    private mutating func timestamp(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> Timestamp {
        let time = try time(.timestamp, &scanner, bytes)
        guard time.microseconds - receivedAt.microseconds <= Timestamp.acceptedLead else {
            throw JSONFault(.timestampInFuture, .timestamp)
        }
        return time
    }

    private mutating func plannedTime(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Timestamp {
        let time = try time(field, &scanner, bytes)
        guard time < Self.latestPlanned else { throw JSONFault(.outOfRange, field) }
        return time
    }

    private func number(
        _ field: EventField,
        _ range: ClosedRange<Int64>,
        power: Int,
        exact: Bool = false,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Int64 {
        guard let first = scanner.peek(bytes), first == UInt8(ascii: "-") || first.isDigit else {
            throw JSONFault(.wrongType, field)
        }
        guard let value = try scanner.number(bytes).scaled(byPowerOfTen: power, in: range, exact: exact) else {
            throw JSONFault(.outOfRange, field)
        }
        return value
    }

    private func integer(
        _ field: EventField,
        _ range: ClosedRange<Int64>,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Int64 {
        try number(field, range, power: 0, exact: true, &scanner, bytes)
    }

    private func boolean(
        _ field: EventField,
        _ first: UInt8,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Bool {
        switch first {
        case UInt8(ascii: "t"): try scanner.literal("true", bytes)
        case UInt8(ascii: "f"): try scanner.literal("false", bytes)
        default: throw JSONFault(.wrongType, field)
        }
        return first == UInt8(ascii: "t")
    }

    private mutating func hash(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let digits = try text(field, 1...128, &scanner, bytes)
        guard let hash = texts.hash(digits) else { throw JSONFault(.wrongType, field) }
        return hash
    }

    private mutating func nameOrVersion(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let name = try text(field, 0...JSONLimits.eventBytes, &scanner, bytes)
        return texts.nameOrVersion(name, needsDigit: field == .deviceModel)
    }

    /// Reads the object of cumulative counters; names that are none of ours are dropped and counted.
    private mutating func clientCounters(
        _ first: UInt8,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        guard first == UInt8(ascii: "{") else { throw JSONFault(.wrongType, .telemetry) }
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            return 0..<0
        }
        var counts = ClientCounts()
        while true {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            let copy = texts.copy(name, from: bytes)
            if let counter = vocabulary.clientCounters.value(of: texts.bytes.span, copy) {
                counts[counter] = UInt64(try integer(.telemetry, 0...Self.tebibyte, &scanner, bytes))
            } else {
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 2)
            }
            if try scanner.endsList(with: UInt8(ascii: "}"), bytes) { break }
        }
        return texts.append(counts)
    }
}
