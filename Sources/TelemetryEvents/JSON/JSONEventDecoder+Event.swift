// SPDX-License-Identifier: Apache-2.0

extension JSONEventDecoder {
    /// What has been read of an event before it is known to be whole.
    struct Draft {
        var hasKind = false
        var hasTimestamp = false
        /// What a reason outside the set says.
        var hintedReason: FailureReason?
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
    }

    /// Reads one object into the draft; the position is at its brace. False when it was an envelope, whose events are
    /// then decoded.
    mutating func object(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>,
        mayBeEnvelope: Bool
    ) throws(JSONFault) -> Bool {
        beginTexts()
        var isEnvelope = false
        var hasEvents = false
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            throw JSONFault(.missingField, .event)
        }
        while true {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            let field = fieldNamed(name, bytes)
            switch field {
            case .events? where mayBeEnvelope && !hasEvents && scanner.peek(bytes) == UInt8(ascii: "["):
                isEnvelope = true
                hasEvents = true
                if clockSkew == nil { findSentAt(scanner, bytes) }
                guard elements(&scanner, bytes) else { return false }
            case .sentAt? where mayBeEnvelope:
                if try !readSentAt(&scanner, bytes) { decoded.unknownFields += 1 }
            case .events?, .sentAt?, nil:
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 1)
            case _? where isEnvelope: try scanner.skipValue(bytes, depth: 1)
            case let field?:
                let start = scanner.position
                do throws(JSONFault) {
                    try read(field, into: &draft, &scanner, bytes)
                } catch {
                    scanner.position = start
                    guard mayBeEnvelope, findEvents(scanner, bytes) else { throw error }
                    isEnvelope = true
                    try scanner.skipValue(bytes, depth: 1)
                }
            }
            if try scanner.endsList(with: UInt8(ascii: "}"), bytes) { break }
        }
        if !isEnvelope { try complete(&draft, bytes) }
        return !isEnvelope
    }

    mutating func fieldNamed(_ name: JSONText, _ bytes: Span<UInt8>) -> EventField? {
        guard name.isEscaped else { return vocabulary.fields.value(of: bytes, name.range) }
        let copy = texts.copy(name, from: bytes)
        return vocabulary.fields.value(of: texts.bytes.span, copy)
    }

    /// Looks for `sentAt` behind the events, since their skew is stored with each of them.
    private mutating func findSentAt(_ scanner: JSONScanner, _ bytes: Span<UInt8>) {
        var ahead = scanner
        ahead.skipBrokenElement(bytes)
        guard find(.sentAt, &ahead, bytes) else { return }
        do throws(JSONFault) {
            _ = try readSentAt(&ahead, bytes)
        } catch {
            return
        }
    }

    /// Whether events stand behind a value that no event may have, so that it is an envelope's.
    private mutating func findEvents(_ scanner: JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        var ahead = scanner
        ahead.skipBrokenElement(bytes)
        return find(.events, &ahead, bytes) && ahead.peek(bytes) == UInt8(ascii: "[")
    }

    /// Moves to the value of a field behind other fields of its object; false when there is none.
    private mutating func find(_ wanted: EventField, _ scanner: inout JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        while scanner.peek(bytes) == UInt8(ascii: ",") {
            scanner.position += 1
            do throws(JSONFault) {
                let name = try scanner.string(bytes)
                try scanner.expect(UInt8(ascii: ":"), bytes)
                if fieldNamed(name, bytes) == wanted { return true }
                try scanner.skipValue(bytes, depth: 1)
            } catch {
                return false
            }
        }
        return false
    }

    /// Reads the sender's clock; false for a value that is no time, which costs the skew and none of the events.
    private mutating func readSentAt(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool {
        guard scanner.peek(bytes) == UInt8(ascii: "\"") else {
            try scanner.skipValue(bytes, depth: 1)
            return false
        }
        let text = try scanner.string(bytes)
        guard let sentAt = Timestamp(rfc3339: bytes, text.range) else { return false }
        clockSkew = receivedAt.microseconds - sentAt.microseconds
        return true
    }

    /// Checks what an event must have and derives what it leaves to derive.
    mutating func complete(_ draft: inout Draft, _ bytes: Span<UInt8>) throws(JSONFault) {
        guard draft.hasKind else { throw JSONFault(.missingField, .event) }
        guard draft.hasTimestamp else { throw JSONFault(.missingField, .timestamp) }
        let kind = draft.event.kind
        draft.event.clockSkew = clockSkew
        if kind.belongsToCycle, draft.event.scheduleId.isEmpty, draft.event.scheduledFor == nil {
            throw JSONFault(.missingField, .scheduleId)
        }
        if draft.event.reason == nil, kind == .prefetchFailure || kind == .prefetchExpired {
            draft.event.reason = derivedReason(draft.event, hinted: draft.hintedReason, bytes)
        }
        if !draft.event.error.isEmpty {
            takeTexts(of: &draft.event, bytes)
            draft.event.error = texts.errorIdentifier(draft.event.error)
        }
        if isSensitive(draft.event.scheduleId, bytes) {
            takeTexts(of: &draft.event, bytes)
            draft.event.scheduleId = texts.identifier(draft.event.scheduleId, pseudonyms)
        }
        if isSensitive(draft.event.eventId, bytes) {
            takeTexts(of: &draft.event, bytes)
            draft.event.eventId = texts.identifier(draft.event.eventId, pseudonyms)
        }
    }

    /// The reason of a failure that its status or error tells; `OTHER` when the client gave words that tell nothing.
    private func derivedReason(
        _ event: Event,
        hinted: FailureReason?,
        _ bytes: Span<UInt8>
    ) -> FailureReason? {
        if event.kind == .prefetchExpired { return .system }
        if let status = event.status, let reason = FailureReason(httpStatus: status) { return reason }
        if !event.error.isEmpty, let reason = reason(telling: event.error, bytes) { return reason }
        return hinted ?? (event.error.isEmpty ? nil : .other)
    }
}

/// Events as nearly all are written: an object of known fields with nothing wrong. Anything else is left to the general
/// reader, which begins at the same place again, so that only it has to tell faults, envelopes and lines apart.
extension JSONEventDecoder {
    /// Reads a line that holds one event and nothing else, without looking for its end first.
    ///
    /// - Returns: whether that is what it holds; nothing has been taken otherwise.
    mutating func plainLine(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        let unknownFields = decoded.unknownFields
        let start = scanner.position
        var line = scanner
        line.stopsAtLineFeed = true
        clockSkew = nil
        var draft = emptyDraft
        do throws(JSONFault) {
            try plainObject(into: &draft, &line, bytes)
            let end = line.position
            if let next = line.peek(bytes), next != UInt8(ascii: "\n") { throw JSONFault(.malformedJSON) }
            guard line.position &- start <= JSONLimits.eventBytes else { throw JSONFault(.tooLong) }
            try accept(draft, from: start, to: end, bytes)
        } catch {
            decoded.unknownFields = unknownFields
            return false
        }
        decoded.isBlank = false
        scanner.position = line.position
        return true
    }

    /// Reads an element of an array that is an event; the position is at its brace.
    mutating func plainElement(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) -> Bool {
        let unknownFields = decoded.unknownFields
        var element = scanner
        do throws(JSONFault) {
            try plainObject(into: &draft, &element, bytes)
        } catch {
            decoded.unknownFields = unknownFields
            return false
        }
        scanner = element
        return true
    }

    /// Reads an object that is an event; any fault may mean that it is something else, or has another fault.
    @inline(__always)
    private mutating func plainObject(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        beginTexts()
        scanner.position &+= 1
        repeat {
            if let field = try field(&scanner, bytes) {
                try read(field, into: &draft, &scanner, bytes)
            } else {
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 1)
            }
        } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
        try complete(&draft, bytes)
    }

    /// Reads a name and the colon behind it; nil for one that is unknown.
    @inline(__always)
    private mutating func field(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> EventField? {
        try scanner.expect(UInt8(ascii: "\""), bytes)
        guard
            let name = vocabulary.fields.valueOfQuotedName(bytes, at: scanner.position),
            name.value != .events, name.value != .sentAt
        else {
            return try unusualField(&scanner, bytes)
        }
        scanner.position &+= name.length &+ 1
        try scanner.expect(UInt8(ascii: ":"), bytes)
        return name.value
    }

    /// Reads a name that is long, has escapes, is unknown or means an envelope, which is a fault here.
    @inline(never)
    private mutating func unusualField(
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> EventField? {
        scanner.position -= 1
        let name = try scanner.string(bytes)
        try scanner.expect(UInt8(ascii: ":"), bytes)
        let field = fieldNamed(name, bytes)
        guard field != .events, field != .sentAt else { throw JSONFault(.malformedJSON) }
        return field
    }
}
