// SPDX-License-Identifier: Apache-2.0

/// Texts stay where they stand in the input, until one of an event is not to leave as it stands there: then those of
/// the event read so far are copied, and the later ones too.
extension JSONEventDecoder {
    /// Reads a text that the event holds, or that is looked at.
    @inline(__always)
    mutating func text(
        _ field: EventField,
        _ length: ClosedRange<Int>,
        of event: inout Event,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let text = try string(field, &scanner, bytes)
        let range = text.isEscaped || hasOwnTexts ? copied(text, of: &event, bytes) : text.range
        guard range.count >= length.lowerBound else { throw JSONFault(.outOfRange, field) }
        guard range.count <= length.upperBound else { throw JSONFault(.tooLong, field) }
        return range
    }

    @inline(never)
    private mutating func copied(_ text: JSONText, of event: inout Event, _ bytes: Span<UInt8>) -> Event.Text {
        takeTexts(of: &event, bytes)
        return texts.copy(text, from: bytes)
    }

    /// Copies the event's texts, so that they can be changed.
    @inline(never)
    mutating func takeTexts(of event: inout Event, _ bytes: Span<UInt8>) {
        guard !hasOwnTexts else { return }
        hasOwnTexts = true
        event.scheduleId = texts.copy(bytes, event.scheduleId)
        event.eventId = texts.copy(bytes, event.eventId)
        event.error = texts.copy(bytes, event.error)
        event.contentHash = texts.copy(bytes, event.contentHash)
        event.scheduleHash = texts.copy(bytes, event.scheduleHash)
        event.platform = texts.copy(bytes, event.platform)
        event.appVersion = texts.copy(bytes, event.appVersion)
        event.osVersion = texts.copy(bytes, event.osVersion)
        event.deviceModel = texts.copy(bytes, event.deviceModel)
        event.clientCounters = texts.copy(bytes, event.clientCounters)
    }

    @inline(__always)
    func isSensitive(_ text: Event.Text, _ bytes: Span<UInt8>) -> Bool {
        if text.isEmpty { return false }
        return hasOwnTexts
            ? SensitiveText.isFound(in: texts.bytes.span, text) : SensitiveText.isFound(in: bytes, text)
    }

    @inline(__always)
    func reason(named text: Event.Text, _ bytes: Span<UInt8>) -> FailureReason? {
        hasOwnTexts ? FailureReason(named: texts.bytes.span, text) : FailureReason(named: bytes, text)
    }

    func reason(telling text: Event.Text, _ bytes: Span<UInt8>) -> FailureReason? {
        hasOwnTexts ? FailureReason(error: texts.bytes.span, text) : FailureReason(error: bytes, text)
    }

    @inline(__always)
    mutating func installation(_ id: Event.Text, _ bytes: Span<UInt8>) -> Pseudonym {
        guard hasOwnTexts else { return installations.pseudonym(of: bytes, id, pseudonyms) }
        let held = texts.bytes
        return installations.pseudonym(of: held.span, id, pseudonyms)
    }

    mutating func hash(
        _ field: EventField,
        of event: inout Event,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        var digits = try text(field, 1...128, of: &event, &scanner, bytes)
        if !hasOwnTexts {
            if EventTexts.isLowercaseHash(digits, in: bytes) { return digits }
            takeTexts(of: &event, bytes)
            digits = texts.copy(bytes, digits)
        }
        guard let hash = texts.hash(digits) else { throw JSONFault(.wrongType, field) }
        return hash
    }

    mutating func nameOrVersion(
        _ field: EventField,
        of event: inout Event,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let name = try text(field, 0...JSONLimits.eventBytes, of: &event, &scanner, bytes)
        let needsDigit = field == .deviceModel
        return hasOwnTexts
            ? EventTexts.nameOrVersion(name, in: texts.bytes.span, needsDigit: needsDigit)
            : EventTexts.nameOrVersion(name, in: bytes, needsDigit: needsDigit)
    }

    /// Reads the object of cumulative counters; names that are none of ours are dropped and counted.
    mutating func clientCounters(
        _ first: UInt8,
        of event: inout Event,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        guard first == UInt8(ascii: "{") else { throw JSONFault(.wrongType, .telemetry) }
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            return 0..<0
        }
        takeTexts(of: &event, bytes)
        var counts = ClientCounts()
        while true {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            if let counter = counterNamed(name, bytes) {
                counts[counter] = UInt64(try integer(.telemetry, 0...Self.tebibyte, &scanner, bytes))
            } else {
                decoded.unknownFields += 1
                try scanner.skipValue(bytes, depth: 2)
            }
            if try scanner.endsList(with: UInt8(ascii: "}"), bytes) { break }
        }
        return texts.append(counts)
    }

    private mutating func counterNamed(_ name: JSONText, _ bytes: Span<UInt8>) -> ClientCounter? {
        guard name.isEscaped else { return vocabulary.clientCounters.value(of: bytes, name.range) }
        let copy = texts.copy(name, from: bytes)
        return vocabulary.clientCounters.value(of: texts.bytes.span, copy)
    }
}
