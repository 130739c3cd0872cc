// SPDX-License-Identifier: Apache-2.0

extension JSONEventDecoder {
    /// The fields of an event that is not yet complete.
    struct Draft {
        var hasKind = false
        var hasTimestamp = false
        /// Whether it has a `message`, as an error of the plugin has.
        var hasMessage = false
        /// The reason derived from a `reason` text outside the closed set.
        var impliedReason: FailureReason?
        /// The analytics event whose name is its kind.
        var analytics: RefreshAnalytics?
        /// The fields whose texts were altered.
        var altered: AlteredFields = []
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
    }

    /// What is known of the shape of an object while it is read.
    private struct ObjectShape {
        let mayBeEnvelope: Bool
        /// Whether it holds an array of events, perhaps further on.
        var isEnvelope = false
        /// Whether events have been read.
        var hasEvents = false
        /// How many members named `events` are no array.
        var otherEvents = 0
        /// What is wrong beside the events. It is rejected behind them, so that each event keeps its index.
        var faults: [JSONFault] = []
    }

    /// Reads one object into the draft; the position is at its brace. Returns false if it was an envelope, whose events
    /// have then been decoded.
    ///
    /// Whatever is wrong with an envelope's other members costs none of its events: it is a rejection of its own.
    mutating func object(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>,
        mayBeEnvelope: Bool
    ) throws(JSONFault) -> Bool {
        resetTexts()
        var shape = ObjectShape(mayBeEnvelope: mayBeEnvelope)
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            throw JSONFault(.missingField, .event)
        }
        var memberAt = scanner.position
        do throws(JSONFault) {
            repeat {
                memberAt = scanner.position
                let name = try scanner.string(bytes)
                try scanner.expect(UInt8(ascii: ":"), bytes)
                let field = fieldNamed(name, bytes)
                if field == nil { noteUnknown(name, bytes) }
                guard try member(field, into: &draft, &shape, &scanner, bytes) else { break }
            } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
        } catch {
            guard shape.isEnvelope else { throw error }
            shape.faults.append(JSONFault(error.reason, .events))
            if !scanner.skipRestOfObject(bytes) { cutAt = memberAt }
        }
        fieldSpellings.keep()
        guard shape.isEnvelope else {
            if shape.otherEvents > 0, !draft.hasKind { throw JSONFault(.wrongType, .events) }
            try complete(&draft, bytes)
            return true
        }
        if draft.hasKind { reject(JSONFault(.notAnObject, .event)) }
        for _ in 0..<shape.otherEvents { reject(JSONFault(.wrongType, .events)) }
        for fault in shape.faults { reject(fault) }
        return false
    }

    /// Reads the value of a member; false if the input ends in its array of events, which has been rejected.
    private mutating func member(
        _ field: EventField?,
        into draft: inout Draft,
        _ shape: inout ObjectShape,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Bool {
        let start = scanner.position
        switch field {
        case .events? where shape.mayBeEnvelope && scanner.peek(bytes) == UInt8(ascii: "["):
            // Once for an object: a later member of the same name would look ahead over the same bytes again.
            if !shape.hasEvents, clockSkew == nil { findSentAt(scanner, bytes) }
            shape.isEnvelope = true
            shape.hasEvents = true
            return elements(&scanner, bytes)
        case .sentAt? where shape.mayBeEnvelope:
            do throws(JSONFault) {
                if try !readSentAt(&scanner, bytes) { decoded.unknownFields += 1 }
            } catch {
                scanner.position = start
                try skipMember(&shape, &scanner, bytes)
            }
        case nil where !shape.isEnvelope && isRefreshProperty(of: draft):
            try readUnknownMember(of: draft, &scanner, bytes)
        case .events?, .sentAt?, nil:
            if field == .events, shape.mayBeEnvelope { shape.otherEvents += 1 }
            decoded.unknownFields += 1
            try skipMember(&shape, &scanner, bytes)
        case let field? where shape.isEnvelope:
            if field == .event, scanner.peek(bytes) != UInt8(ascii: "n") { draft.hasKind = true }
            try skipMember(&shape, &scanner, bytes)
        case let field?:
            do throws(JSONFault) {
                try read(field, into: &draft, &scanner, bytes)
            } catch {
                scanner.position = start
                guard shape.mayBeEnvelope, findEvents(scanner, bytes) else { throw error }
                shape.isEnvelope = true
                if field == .event { draft.hasKind = true }
                try skipMember(&shape, &scanner, bytes)
            }
        }
        return true
    }

    /// Skips the value of a member that is not stored. In an envelope a broken one is skipped by its brackets and costs
    /// no event.
    private mutating func skipMember(
        _ shape: inout ObjectShape,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        let start = scanner.position
        do throws(JSONFault) {
            try scanner.skipValue(bytes, depth: 1)
        } catch {
            scanner.position = start
            guard shape.isEnvelope || (shape.mayBeEnvelope && findEvents(scanner, bytes)) else { throw error }
            shape.isEnvelope = true
            guard scanner.skipBrokenElement(bytes) else {
                scanner.position = start
                throw error
            }
            shape.faults.append(JSONFault(error.reason, .events))
        }
    }

    mutating func fieldNamed(_ name: JSONText, _ bytes: Span<UInt8>) -> EventField? {
        guard name.isEscaped else { return vocabulary.fields.value(of: bytes, name.range) }
        let copy = texts.copy(name, from: bytes)
        return vocabulary.fields.value(of: texts.bytes.span, copy)
    }

    /// Looks ahead for a `sentAt` after the events, since the clock skew is stored with each event.
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

    /// Looks ahead for `events` after an invalid value, which then belongs to an envelope.
    private mutating func findEvents(_ scanner: JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        var ahead = scanner
        return ahead.skipBrokenElement(bytes) && find(.events, &ahead, bytes)
    }

    /// Whether an object holds an array of events; the position is at its brace.
    mutating func isEnvelope(_ scanner: JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        var ahead = scanner
        return find(.events, behind: UInt8(ascii: "{"), &ahead, bytes)
    }

    /// Advances to the value of a later field of the object, of `events` to an array; false if there is none. Broken
    /// values are skipped by their brackets.
    private mutating func find(
        _ wanted: EventField,
        behind first: UInt8 = UInt8(ascii: ","),
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) -> Bool {
        var separator = first
        while scanner.peek(bytes) == separator {
            separator = UInt8(ascii: ",")
            scanner.position += 1
            do throws(JSONFault) {
                let name = try scanner.string(bytes)
                try scanner.expect(UInt8(ascii: ":"), bytes)
                let value = scanner.peek(bytes)
                if fieldNamed(name, bytes) == wanted, wanted != .events || value == UInt8(ascii: "[") { return true }
            } catch {
                return false
            }
            let start = scanner.position
            do throws(JSONFault) {
                try scanner.skipValue(bytes, depth: 1)
            } catch {
                scanner.position = start
                guard scanner.skipBrokenElement(bytes) else { return false }
            }
        }
        return false
    }

    /// Reads the sender's clock. An invalid value returns false: it costs the skew but no event.
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

    /// Checks mandatory fields, derives the failure reason and brings error and ids into their shapes.
    mutating func complete(_ draft: inout Draft, _ bytes: Span<UInt8>) throws(JSONFault) {
        if !draft.hasKind {
            guard isPluginError(draft, bytes) else { throw JSONFault(.missingField, .event) }
            draft.event.kind = .pluginError
        }
        guard draft.hasTimestamp else { throw JSONFault(.missingField, .timestamp) }
        let kind = draft.event.kind
        draft.event.clockSkew = clockSkew
        if kind.app == .aiq { try completeRefresh(&draft, bytes) }
        if kind.belongsToCycle, draft.event.scheduleId.isEmpty, draft.event.scheduledFor == nil {
            throw JSONFault(.missingField, .scheduleId)
        }
        if draft.event.reason == nil, kind == .prefetchFailure || kind == .prefetchExpired {
            draft.event.reason = derivedReason(draft.event, hinted: draft.impliedReason, bytes)
        }
        if !draft.event.error.isEmpty { shapeError(of: &draft, bytes) }
        if carried != nil { leaveInCarriedCycle(&draft, bytes) }
        if keepsIdentifiers { return }
        let isScheduleReplaced = isSchedulePersonal(draft.event.scheduleId, bytes)
        let isEventReplaced = isPersonal(draft.event.eventId, bytes)
        if isScheduleReplaced || isEventReplaced {
            replaceIdentifiers(of: &draft, schedule: isScheduleReplaced, event: isEventReplaced, bytes)
        }
    }

    /// Whether an object without a kind is an error of the plugin: it has one of its codes, or a message and another word.
    @inline(never)
    private func isPluginError(_ draft: borrowing Draft, _ bytes: Span<UInt8>) -> Bool {
        guard !draft.event.error.isEmpty else { return false }
        func isError(_ bytes: Span<UInt8>) -> Bool {
            PluginErrorCode.isNamed(by: bytes, draft.event.error, isCertain: false)
                || draft.hasMessage && PluginErrorCode.isWord(bytes, draft.event.error)
        }
        return hasOwnTexts ? isError(texts.bytes.span) : isError(bytes)
    }

    @inline(never)
    private mutating func shapeError(of draft: inout Draft, _ bytes: Span<UInt8>) {
        copyTexts(of: &draft.event, bytes)
        draft.event.error = texts.errorIdentifier(draft.event.error)
        if draft.event.error.isEmpty { draft.altered.insert(.field(.error)) }
    }

    /// Replaces ids by their pseudonyms and keeps the hashes of the event under the ids themselves.
    @inline(never)
    private mutating func replaceIdentifiers(
        of draft: inout Draft,
        schedule: Bool,
        event: Bool,
        _ bytes: Span<UInt8>
    ) {
        copyTexts(of: &draft.event, bytes)
        let originals = identityKey.originals(of: draft.event, in: texts.bytes.span)
        if schedule {
            draft.event.scheduleId = texts.pseudonym(of: draft.event.scheduleId, pseudonyms)
            draft.altered.insert(.field(.scheduleId))
        }
        if event {
            draft.event.eventId = texts.pseudonym(of: draft.event.eventId, pseudonyms)
            draft.altered.insert(.field(.eventId))
        }
        draft.event.originals = texts.append(originals)
    }

    /// Derives the failure reason from status or error; `OTHER` if the client's words are not recognised.
    private func derivedReason(
        _ event: Event,
        hinted: FailureReason?,
        _ bytes: Span<UInt8>
    ) -> FailureReason? {
        if event.kind == .prefetchExpired { return .system }
        return reason(ofStatus: event.status, error: event.error, bytes) ?? hinted
            ?? (event.error.isEmpty ? nil : .other)
    }
}

/// The fast path for the common case: a valid object of known fields.
///
/// On anything unusual it backs out, and the general reader starts again at the same position; so only the general
/// reader has to distinguish faults, envelopes and lines.
extension JSONEventDecoder {
    /// Reads a line that contains exactly one event, without searching for its end first.
    ///
    /// - Returns: whether it did; otherwise nothing has been consumed.
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
            fieldSpellings.discard()
            return false
        }
        fieldSpellings.keep()
        decoded.isBlank = false
        scanner.position = line.position
        return true
    }

    /// Reads an array element that is an event; the position is at its brace.
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
            fieldSpellings.discard()
            return false
        }
        fieldSpellings.keep()
        scanner = element
        return true
    }

    /// Reads an object that is an event; any fault may mean another shape, or another fault.
    @inline(__always)
    private mutating func plainObject(
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        resetTexts()
        scanner.position &+= 1
        repeat {
            if let field = try field(&scanner, bytes) {
                try read(field, into: &draft, &scanner, bytes)
            } else {
                try readUnknownMember(of: draft, &scanner, bytes)
            }
        } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
        try complete(&draft, bytes)
    }

    /// Reads a field name and its colon; nil for an unknown name.
    @inline(__always)
    private mutating func field(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> EventField? {
        try scanner.expect(UInt8(ascii: "\""), bytes)
        guard
            let name = vocabulary.fields.valueOfQuotedName(bytes, at: scanner.position),
            name.value != .events, name.value != .sentAt
        else {
            return try slowField(&scanner, bytes)
        }
        scanner.position &+= name.length &+ 1
        try scanner.expect(UInt8(ascii: ":"), bytes)
        return name.value
    }

    /// Reads a name that is long, escaped or unknown; an envelope's name is a fault here.
    @inline(never)
    private mutating func slowField(
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> EventField? {
        scanner.position -= 1
        let name = try scanner.string(bytes)
        try scanner.expect(UInt8(ascii: ":"), bytes)
        let field = fieldNamed(name, bytes)
        guard field != .events, field != .sentAt else { throw JSONFault(.malformedJSON) }
        if field == nil { noteUnknown(name, bytes) }
        return field
    }
}
