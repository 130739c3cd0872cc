// SPDX-License-Identifier: Apache-2.0

extension JSONEventDecoder {
    /// What has been read of an event before it is known to be whole.
    struct Draft {
        var kind: EventKind?
        var timestamp: Timestamp?
        var hasReason = false
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
    }

    /// Reads one object; the position is at its brace. Nil when it was an envelope, whose events are then decoded.
    mutating func object(
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>,
        mayBeEnvelope: Bool
    ) throws(JSONFault) -> Event? {
        texts.removeAll()
        var draft = Draft()
        var isEnvelope = false
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
            case .events? where mayBeEnvelope && !isEnvelope && scanner.peek(bytes) == UInt8(ascii: "["):
                isEnvelope = true
                if clockSkew == nil { findSentAt(scanner, bytes) }
                elements(&scanner, bytes)
                if scanner.peek(bytes) == nil { return nil }
            case .sentAt? where mayBeEnvelope:
                try readSentAt(&scanner, bytes)
            case .events?, .sentAt?, nil:
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 1)
            case let field?:
                try read(field, into: &draft, &scanner, bytes)
            }
            if try scanner.endsList(with: UInt8(ascii: "}"), bytes) { break }
        }
        return isEnvelope ? nil : try complete(draft)
    }

    private mutating func fieldNamed(_ name: JSONText, _ bytes: Span<UInt8>) -> EventField? {
        guard name.isEscaped else { return vocabulary.fields.value(of: bytes, name.range) }
        let copy = texts.copy(name, from: bytes)
        return vocabulary.fields.value(of: texts.bytes.span, copy)
    }

    /// Looks for `sentAt` behind the events, since their skew is stored with each of them.
    private mutating func findSentAt(_ scanner: JSONScanner, _ bytes: Span<UInt8>) {
        var ahead = scanner
        ahead.skipBrokenElement(bytes)
        while ahead.peek(bytes) == UInt8(ascii: ",") {
            ahead.position += 1
            do throws(JSONFault) {
                let name = try ahead.string(bytes)
                try ahead.expect(UInt8(ascii: ":"), bytes)
                if fieldNamed(name, bytes) == .sentAt { return try readSentAt(&ahead, bytes) }
                try ahead.skipValue(bytes, depth: 1)
            } catch {
                return
            }
        }
    }

    private mutating func readSentAt(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) {
        guard scanner.peek(bytes) == UInt8(ascii: "\"") else { throw JSONFault(.wrongType, .sentAt) }
        let text = try scanner.string(bytes)
        guard let sentAt = Timestamp(rfc3339: bytes, text.range) else { throw JSONFault(.invalidTimestamp, .sentAt) }
        clockSkew = receivedAt.microseconds - sentAt.microseconds
    }

    /// Checks what an event must have and derives what it leaves to derive.
    private mutating func complete(_ draft: Draft) throws(JSONFault) -> Event {
        guard let kind = draft.kind else { throw JSONFault(.missingField, .event) }
        guard let timestamp = draft.timestamp else { throw JSONFault(.missingField, .timestamp) }
        var event = draft.event
        event.kind = kind
        event.timestamp = timestamp
        event.clockSkew = clockSkew
        if kind.belongsToCycle, event.scheduleId.isEmpty, event.scheduledFor == nil {
            throw JSONFault(.missingField, .scheduleId)
        }
        if event.reason == nil {
            event.reason = derivedReason(event, hasReason: draft.hasReason)
        }
        if !event.error.isEmpty { event.error = texts.errorIdentifier(event.error) }
        if !event.scheduleId.isEmpty { event.scheduleId = texts.identifier(event.scheduleId, pseudonyms) }
        if !event.eventId.isEmpty { event.eventId = texts.identifier(event.eventId, pseudonyms) }
        return event
    }

    /// The reason of a failure that its status or error tells; `OTHER` when the client gave one outside the set.
    private func derivedReason(_ event: Event, hasReason: Bool) -> FailureReason? {
        switch event.kind {
        case .prefetchExpired:
            return .system
        case .prefetchFailure:
            if let status = event.status, let reason = FailureReason(httpStatus: status) { return reason }
            if !event.error.isEmpty {
                return FailureReason(error: texts.bytes.span, event.error) ?? .other
            }
            return hasReason ? .other : nil
        default:
            return nil
        }
    }
}
