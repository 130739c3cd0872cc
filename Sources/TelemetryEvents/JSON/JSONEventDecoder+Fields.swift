// SPDX-License-Identifier: Apache-2.0

extension JSONEventDecoder {
    /// Upper bounds of times and sizes, as `EventField/expectation` documents them.
    private static let secondsInTenYears: Int64 = 315_360_000
    private static let microsecondsInADay: Int64 = 86_400_000_000
    static let tebibyte: Int64 = 1 << 40
    /// How many bytes of free text are inspected.
    private static let maximumTextBytes = 1_024

    /// Reads the value of a known field into the draft; null counts as absent.
    mutating func read(
        _ field: EventField,
        into draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard let first = scanner.peek(bytes) else { throw JSONFault(.truncated, field) }
        if first == UInt8(ascii: "n") { return try scanner.literal("null", bytes) }
        switch field {
        case .event:
            draft.event.kind = try kind(&scanner, bytes)
            draft.analytics = draft.event.kind.app == .aiq ? analytics(endingAt: scanner.position, bytes) : nil
            draft.hasKind = true
        case .timestamp:
            draft.event.timestamp = try timestamp(&scanner, bytes)
            draft.hasTimestamp = true
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
        case .reason where draft.event.kind.app == .aiq:
            try readRefreshProperty(.reason, of: draft, depth: 1, &scanner, bytes)
        case .reason:
            let text = try text(field, 0...JSONLimits.eventBytes, of: &draft.event, &scanner, bytes)
            draft.event.reason = reason(named: text, bytes)
            draft.impliedReason = nil
            if draft.event.reason == nil, !text.isEmpty {
                draft.impliedReason = reason(ofStatus: nil, error: text.prefix(Self.maximumTextBytes), bytes) ?? .other
            }
        case .error:
            let text = try text(field, 0...JSONLimits.eventBytes, of: &draft.event, &scanner, bytes)
            draft.event.error = text.prefix(Self.maximumTextBytes)
        case .willRetry: draft.event.willRetry = try boolean(field, first, &scanner, bytes)
        case .fetched: draft.event.fetched = try boolean(field, first, &scanner, bytes)
        case .usedCached: draft.event.usedCached = try boolean(field, first, &scanner, bytes)
        case .contentHash: draft.event.contentHash = try hash(field, .contentHash, of: &draft, &scanner, bytes)
        case .scheduleHash: draft.event.scheduleHash = try hash(field, .scheduleHash, of: &draft, &scanner, bytes)
        case .telemetry: try clientCounters(first, of: &draft.event, &scanner, bytes)
        case .installationId:
            let id = try text(field, 1...256, of: &draft.event, &scanner, bytes)
            draft.event.installation = installation(id, bytes)
        case .scheduleId: draft.event.scheduleId = try text(field, 1...128, of: &draft.event, &scanner, bytes)
        case .eventId: draft.event.eventId = try text(field, 1...128, of: &draft.event, &scanner, bytes)
        case .platform: draft.event.platform = try name(field, .platform, of: &draft, &scanner, bytes)
        case .appVersion: draft.event.appVersion = try name(field, .appVersion, of: &draft, &scanner, bytes)
        case .osVersion: draft.event.osVersion = try name(field, .osVersion, of: &draft, &scanner, bytes)
        case .deviceModel: draft.event.deviceModel = try name(field, .deviceModel, of: &draft, &scanner, bytes)
        case .lowPowerMode: draft.event.lowPowerMode = try boolean(field, first, &scanner, bytes)
        case .pluggedIn: draft.event.pluggedIn = try boolean(field, first, &scanner, bytes)
        case .backgroundRefresh: draft.event.backgroundRefresh = try boolean(field, first, &scanner, bytes)
        case .simulator: draft.event.isSimulator = try boolean(field, first, &scanner, bytes)
        case .hasPendingSchedules: draft.event.hasPendingSchedules = try boolean(field, first, &scanner, bytes)
        case .inProgress: draft.event.inProgress = try boolean(field, first, &scanner, bytes)
        case .conditional: draft.event.isConditional = try boolean(field, first, &scanner, bytes)
        case .authenticated: draft.event.isAuthenticated = try boolean(field, first, &scanner, bytes)
        case .network: draft.event.network = try network(&scanner, bytes)
        case .minutes: draft.event.minutes = try minutes(&scanner, bytes)
        case .pending: try rolling(.pending, field, into: &draft, &scanner, bytes)
        case .limit: try rolling(.limit, field, into: &draft, &scanner, bytes)
        case .today: try rolling(.today, field, into: &draft, &scanner, bytes)
        case .tomorrow: try rolling(.tomorrow, field, into: &draft, &scanner, bytes)
        case .schedules: try plannedSchedules(first, into: &draft, &scanner, bytes)
        case .message:
            draft.hasMessage = true
            try scanner.skipValue(bytes, depth: 1)
        case .properties: try refreshProperties(first, of: draft, &scanner, bytes)
        case .events, .sentAt: try scanner.skipValue(bytes, depth: 1)
        }
    }

    func string(
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

    private mutating func kind(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> EventKind {
        let name = try string(.event, &scanner, bytes)
        guard !name.isEscaped else {
            let copy = texts.copy(name, from: bytes)
            if let kind = vocabulary.kinds.value(of: texts.bytes.span, copy), takes(kind) {
                return kind
            }
            throw JSONFault(.unknownKind, .event)
        }
        guard let kind = vocabulary.kinds.value(of: bytes, name.range) else {
            throw JSONFault(.unknownKind, .event, nearestKind: kindSpellings.kind(nearestTo: bytes, name.range))
        }
        guard takes(kind) else { throw JSONFault(.unknownKind, .event) }
        return kind
    }

    @inline(__always)
    private func takes(_ kind: EventKind) -> Bool { kind.app == .dnp ? takesPrefetch : takesRefresh }

    @inline(__always)
    private mutating func time(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Timestamp {
        var end = scanner.position &+ 1
        let time: Timestamp
        if bytes.byte(at: scanner.position) == UInt8(ascii: "\""),
            let read = Timestamp(rfc3339: bytes, at: &end, known: &date),
            bytes.byte(at: end) == UInt8(ascii: "\"")
        {
            scanner.position = end &+ 1
            time = read
        } else {
            time = try slowTime(field, &scanner, bytes)
        }
        guard time >= .earliestAccepted else { throw JSONFault(.timestampTooOld, field) }
        return time
    }

    /// Reads a time with escapes, or reports an invalid one.
    @inline(never)
    private mutating func slowTime(
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
        return time
    }

    private mutating func timestamp(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> Timestamp {
        let time = try time(.timestamp, &scanner, bytes)
        guard time.microseconds - receivedAt.microseconds <= Timestamp.acceptedLead else {
            throw JSONFault(.timestampInFuture, .timestamp)
        }
        return time
    }

    mutating func plannedTime(
        _ field: EventField,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Timestamp {
        let time = try time(field, &scanner, bytes)
        guard time < .latestPlanned else { throw JSONFault(.outOfRange, field) }
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

    func integer(
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
}

/// Texts are ranges of the input until one of the event's texts must change; then all texts of the event are copied,
/// those read so far and the later ones.
extension JSONEventDecoder {
    /// Reads a text to store or to inspect.
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
        copyTexts(of: &event, bytes)
        return texts.copy(text, from: bytes)
    }

    /// Copies the event's texts, so that they can be modified.
    @inline(never)
    mutating func copyTexts(of event: inout Event, _ bytes: Span<UInt8>) {
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

    /// Whether a schedule id is to be replaced; those of one cycle follow each other.
    @inline(__always)
    mutating func isSchedulePersonal(_ id: Event.Text, _ bytes: Span<UInt8>) -> Bool {
        if id.isEmpty { return false }
        if hasOwnTexts { return !EventTexts.isPlain(id, in: texts.bytes.span) }
        if bytes.areEqual(id, repeated.scheduleId) { return false }
        guard EventTexts.isPlain(id, in: bytes) else { return true }
        repeated.scheduleId = id
        return false
    }

    @inline(__always)
    func isPersonal(_ id: Event.Text, _ bytes: Span<UInt8>) -> Bool {
        if id.isEmpty { return false }
        return hasOwnTexts
            ? !EventTexts.isPlain(id, in: texts.bytes.span) : !EventTexts.isPlain(id, in: bytes)
    }

    @inline(__always)
    func reason(named text: Event.Text, _ bytes: Span<UInt8>) -> FailureReason? {
        hasOwnTexts ? FailureReason(named: texts.bytes.span, text) : FailureReason(named: bytes, text)
    }

    func reason(ofStatus status: Int64?, error: Event.Text, _ bytes: Span<UInt8>) -> FailureReason? {
        hasOwnTexts
            ? FailureReason(httpStatus: status, error: texts.bytes.span, error)
            : FailureReason(httpStatus: status, error: bytes, error)
    }

    @inline(__always)
    mutating func installation(_ id: Event.Text, _ bytes: Span<UInt8>) -> Pseudonym {
        guard hasOwnTexts else { return installations.pseudonym(of: bytes, id, pseudonyms) }
        let copied = texts.bytes
        return installations.pseudonym(of: copied.span, id, pseudonyms)
    }

    /// Reads a hash, of which MD5 stays and else a fingerprint.
    mutating func hash(
        _ field: EventField,
        _ shaped: ShapedField,
        of draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        var hash = try text(field, 1...128, of: &draft.event, &scanner, bytes)
        if !hasOwnTexts {
            if EventTexts.isLowercaseMD5(hash, in: bytes) { return hash }
            copyTexts(of: &draft.event, bytes)
            hash = texts.copy(bytes, hash)
        }
        if EventTexts.isFingerprint(hash, in: texts.bytes.span) { return hash }
        guard texts.lowercaseHex(hash) else { throw JSONFault(.wrongType, field) }
        if keepsIdentifiers { return hash }
        if !EventTexts.hasLengthOfHash(hash) { draft.altered.insert(.field(shaped)) }
        return texts.shaped(hash: hash, identityKey)
    }

    /// Reads a platform, a version or a model; one without its shape is dropped, a platform replaced.
    mutating func name(
        _ field: EventField,
        _ shaped: ShapedField,
        of draft: inout Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Event.Text {
        let name = try text(field, 0...JSONLimits.eventBytes, of: &draft.event, &scanner, bytes)
        if name.isEmpty { return name }
        if hasOwnTexts {
            if Self.hasShape(shaped, texts.bytes.span, name) { return name }
        } else {
            if bytes.areEqual(name, repeated[shaped]) { return name }
            if Self.hasShape(shaped, bytes, name) {
                repeated[shaped] = name
                return name
            }
        }
        draft.altered.insert(.field(shaped))
        guard shaped == .platform else { return 0..<0 }
        copyTexts(of: &draft.event, bytes)
        return texts.otherPlatform()
    }

    private static func hasShape(_ field: ShapedField, _ bytes: Span<UInt8>, _ text: Event.Text) -> Bool {
        switch field {
        case .platform: PlatformShape.matches(bytes, text)
        case .appVersion, .osVersion: VersionShape.matches(bytes, text)
        case .deviceModel: ModelShape.matches(bytes, text)
        case .scheduleId, .eventId, .error, .contentHash, .scheduleHash: false
        }
    }

    /// Reads the object of cumulative counters; unknown names are dropped and counted.
    mutating func clientCounters(
        _ first: UInt8,
        of event: inout Event,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard first == UInt8(ascii: "{") else { throw JSONFault(.wrongType, .telemetry) }
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            return
        }
        copyTexts(of: &event, bytes)
        var counts = ClientCounts()
        while true {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            if let counter = counterNamed(name, bytes) {
                counts[counter] = UInt64(try integer(.telemetry, 0...Self.tebibyte, &scanner, bytes))
            } else {
                decoded.unknownFields += 1
                fieldSpellings.note(name, bytes)
                try scanner.skipValue(bytes, depth: 2)
            }
            if try scanner.endsList(with: UInt8(ascii: "}"), bytes) { break }
        }
        let kept = event.clientCounters
        event.clientCounters = texts.appendState(kept) { if case .counter = $0 { false } else { true } }
        event.clientCounters = event.clientCounters.lowerBound..<texts.append(counts).upperBound
    }

    private mutating func counterNamed(_ name: JSONText, _ bytes: Span<UInt8>) -> ClientCounter? {
        guard name.isEscaped else { return vocabulary.clientCounters.value(of: bytes, name.range) }
        let copy = texts.copy(name, from: bytes)
        return vocabulary.clientCounters.value(of: texts.bytes.span, copy)
    }
}
