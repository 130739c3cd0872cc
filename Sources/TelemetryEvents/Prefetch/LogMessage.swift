// SPDX-License-Identifier: Apache-2.0

/// The content of a message of a known form. Its texts are ranges of the bytes that it was read from.
struct LogMessage {
    var form: LogRule.Form
    private var scheduleIdRange = TextRange()
    /// The notification's due time.
    var due: Timestamp?
    /// The task's earliest begin time.
    var begin: Timestamp?
    /// In microseconds.
    var duration: Int64?
    /// In microseconds.
    var age: Int64?
    var byteCount: Int64?
    var itemCount: Int64?
    /// In seconds.
    var ttl: Int32?
    var status: Int16?
    var reason: FailureReason?
    /// The reason derived from words outside the closed set; `OTHER` if not recognised.
    var impliedReason: FailureReason?
    var willRetry: Bool?
    /// Whether the attempt, or in a summary the cycle, was successful.
    var isSuccessful: Bool?
    var usedCached: Bool?
    /// Whether the message names a source of the content other than the prefetch.
    var isFromElsewhere = false
    /// The platform of the tool that wrote the line.
    var platform = LogPlatform.unknown
    /// What the message says of its run, its launch or its call.
    var conditions = EventConditions()
    var minutes: Int32?
    private var errorRange = TextRange()
    private var contentHashRange = TextRange()
    private var scheduleHashRange = TextRange()
    private var countersRange = TextRange()

    /// Whether it has texts other than the schedule id.
    var hasTexts: Bool {
        !(errorRange.isEmpty && contentHashRange.isEmpty && scheduleHashRange.isEmpty && countersRange.isEmpty)
    }

    init(_ form: LogRule.Form) {
        self.form = form
    }

    // The texts are packed, because a message is copied with its line from the parser to the binder.
    var scheduleId: Event.Text {
        get { scheduleIdRange.range }
        set { scheduleIdRange = TextRange(newValue) }
    }

    var error: Event.Text {
        get { errorRange.range }
        set { errorRange = TextRange(newValue) }
    }

    var contentHash: Event.Text {
        get { contentHashRange.range }
        set { contentHashRange = TextRange(newValue) }
    }

    var scheduleHash: Event.Text {
        get { scheduleHashRange.range }
        set { scheduleHashRange = TextRange(newValue) }
    }

    /// The counters of a snapshot, unparsed.
    var counters: Event.Text {
        get { countersRange.range }
        set { countersRange = TextRange(newValue) }
    }

    /// Derives the failure reason and what else the form implies (docs/events.md).
    mutating func complete(_ bytes: Span<UInt8>) {
        error = error.prefix(Self.maximumErrorBytes)
        switch form.kind {
        case .prefetchFailure:
            reason =
                form.reason ?? reason ?? FailureReason(httpStatus: status.map { Int64($0) }, error: bytes, error)
                ?? impliedReason
        case .prefetchExpired: reason = .system
        case .prefetchCompleted: reason = isSuccessful == false ? reason ?? impliedReason ?? form.reason : nil
        case .contentCacheFailed where form.reason != nil: usedCached = false
        default: break
        }
    }

    /// How many bytes of an error's text are inspected.
    private static let maximumErrorBytes = 1_024
}

extension Span<UInt8> {
    /// The range without surrounding white space, and without leading occurrences of a byte.
    func trimmed(_ range: Range<Int>, alsoLeading byte: UInt8? = nil) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, self[start] <= 0x20 || self[start] == byte { start += 1 }
        while end > start, self[end - 1] <= 0x20 { end -= 1 }
        return start..<end
    }
}

/// Reads messages of the known forms: the opening, then `key=value` pairs, a time or a sentence.
struct LogMessageReader: Sendable {
    static let secondsInTenYears: Int64 = 315_360_000
    static let microsecondsInADay: Int64 = 86_400_000_000
    static let tebibyte: Int64 = 1 << 40

    private let grammar = LogGrammar.shared
    private let refreshGrammar = LogGrammar.ofRefresh
    private let fields = LogField.table
    private let zone: ZoneOffsets
    private var times = LogStampReader()

    /// - Parameter zone: the zone of times without one.
    init(zone: ZoneOffsets) {
        self.zone = zone
    }

    /// Reads a message into a reused one, which avoids a copy; false if no rule matches.
    ///
    /// - Parameter component: who wrote it.
    mutating func read(
        _ bytes: Span<UInt8>,
        _ text: Range<Int>,
        of component: LogComponent?,
        into message: inout LogMessage
    ) -> Bool {
        if component == .backgroundRefresh { return readRefresh(bytes, text, refreshGrammar, into: &message) }
        guard let (form, rest) = grammar.match(bytes, text) else {
            if component == nil, readRefresh(bytes, text, refreshGrammar, into: &message) { return true }
            return component == .plugin && readErrorCode(bytes, text, into: &message)
        }
        message = LogMessage(form)
        let remainder = rest..<text.upperBound
        switch form.remainder {
        case .nothing: break
        case .fields: readFields(bytes, remainder, &message)
        case .notificationTime:
            var cursor = LineCursor(remainder)
            message.due = time(bytes, &cursor)
            readFields(bytes, cursor.position..<remainder.upperBound, &message)
        case .error: message.error = bytes.trimmed(remainder, alsoLeading: UInt8(ascii: ":"))
        case .counters: message.counters = remainder
        case .minutes: message.minutes = bytes.minutes(in: remainder, before: " minute")
        case .leadMinutes:
            message.minutes = bytes.minutes(in: remainder, before: " minute")
            readFields(bytes, remainder, &message)
        case .call: readCall(bytes, remainder, &message)
        case .refresh: break
        case .code:
            message.error = text.lowerBound..<rest
            readFields(bytes, remainder, &message)
        case .refusal:
            if bytes.containsIgnoringCase("domain=", in: remainder) {
                message.error = bytes.trimmed(remainder, alsoLeading: UInt8(ascii: ":"))
            }
        }
        message.complete(bytes)
        return true
    }

    /// Reads the pairs of a list, and a hash after `MD5:`. Unknown keys are ignored.
    mutating func readFields(_ bytes: Span<UInt8>, _ range: Range<Int>, _ message: inout LogMessage) {
        var position = range.lowerBound
        while let equals = bytes.firstIndex(of: UInt8(ascii: "="), in: position..<range.upperBound) {
            let key = bytes.key(endingAt: equals, from: position)
            position = equals + 1
            guard let field = fields.value(of: bytes, key) else { continue }
            if field == .freeText {
                if message.scheduleId.isEmpty { readLastIdentifier(bytes, behind: position, in: range, &message) }
                return
            }
            position = bytes.endOfOptional(at: position, in: range)
            let value = bytes.value(from: position, to: range.upperBound, isSentence: field == .error)
            position = value.upperBound
            // On these lines it is the system's task that has the `id`.
            if field == .scheduleId, message.form.idNamesTask, bytes.equalsIgnoringCase("id", in: key) { continue }
            if field.mayBeHalf, bytes.isCutShort(value, in: range) { continue }
            read(field, bytes, value, &message)
        }
        if position == range.lowerBound { readDigest(bytes, range, &message) }
    }

    private mutating func read(
        _ field: LogField,
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        _ message: inout LogMessage
    ) {
        switch field {
        case .scheduleId:
            let id = bytes.word(in: range)
            let isNone = id.count == 3 && (bytes.equals("...", in: id) || bytes.equals("nil", in: id))
            if (1...128).contains(id.count), !isNone { message.scheduleId = id }
        case .notificationTime: message.due = time(bytes, range) ?? message.due
        case .earliestBeginDate: message.begin = time(bytes, range)
        case .status: message.status = bytes.number(range, 0...999).map { Int16($0) }
        case .bytes: message.byteCount = bytes.number(range, 0...Self.tebibyte)
        case .items: message.itemCount = bytes.number(range, 0...Self.tebibyte)
        case .ttl: message.ttl = bytes.number(range, 0...Self.secondsInTenYears).map { Int32($0) }
        case .age: message.age = bytes.number(range, power: 6, 0...Self.secondsInTenYears * 1_000_000)
        case .durationMs: message.duration = bytes.number(range, power: 3, 0...Self.microsecondsInADay)
        case .duration: message.duration = bytes.number(range, power: 6, 0...Self.microsecondsInADay)
        case .source: message.isFromElsewhere = !bytes.equalsIgnoringCase("prefetch", in: bytes.word(in: range))
        case .error: message.error = bytes.isPlaceholder(range) ? 0..<0 : range
        case .reason:
            message.reason = FailureReason(named: bytes, bytes.word(in: range))
            if message.reason == nil { message.impliedReason = inferredReason(from: range, bytes) }
        case .willRetry: message.willRetry = bytes.boolean(range)
        case .success, .fetched: message.isSuccessful = bytes.boolean(range)
        case .usedCached: message.usedCached = bytes.boolean(range)
        case .contentHash: message.contentHash = bytes.hash(range)
        case .scheduleHash: message.scheduleHash = bytes.hash(range)
        case .lowPowerMode: message.conditions[.lowPowerMode] = bytes.boolean(range)
        case .pluggedIn: message.conditions[.pluggedIn] = bytes.boolean(range)
        case .backgroundRefresh: message.conditions[.backgroundRefresh] = bytes.boolean(range)
        case .simulator: message.conditions[.simulator] = bytes.boolean(range)
        case .hasPendingSchedules: message.conditions[.hasPendingSchedules] = bytes.boolean(range)
        case .inProgress: message.conditions[.inProgress] = bytes.boolean(range)
        case .network: message.conditions.network = NetworkKind(bytes, bytes.word(in: range))
        case .leadMinutes: message.minutes = bytes.minutes(in: range)
        case .freeText: break
        }
    }

    /// The reason derived from words outside the closed set; `OTHER` if not recognised.
    private func inferredReason(from range: Range<Int>, _ bytes: Span<UInt8>) -> FailureReason? {
        let text = bytes.trimmed(range)
        if text.isEmpty || bytes.isPlaceholder(text) { return nil }
        return FailureReason(error: bytes, text.prefix(256)) ?? .other
    }

    private func readDigest(_ bytes: Span<UInt8>, _ range: Range<Int>, _ message: inout LogMessage) {
        let text = bytes.trimmed(range)
        guard text.count > 4, bytes.equalsIgnoringCase("md5:", in: text.lowerBound..<text.lowerBound + 4) else {
            return
        }
        message.contentHash = bytes.hash(bytes.trimmed(text.lowerBound + 4..<text.upperBound))
    }

    /// Reads the `id` after free text: the last one that follows a comma.
    private func readLastIdentifier(
        _ bytes: Span<UInt8>,
        behind start: Int,
        in range: Range<Int>,
        _ message: inout LogMessage
    ) {
        var position = range.upperBound - 3
        while position >= start + 2 {
            if bytes.equals(", id=", in: position - 2..<position + 3) {
                let id = bytes.word(in: position + 3..<range.upperBound)
                if (1...128).contains(id.count), !bytes.isCutShort(id, in: range) { message.scheduleId = id }
                return
            }
            position -= 1
        }
    }

    /// Parses a planned time within the accepted range, as Swift and Kotlin print it: RFC 3339, or a date with a space
    /// before time and offset, with or without a zone, optionally inside `Optional(...)`.
    private mutating func time(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Timestamp? {
        var cursor = LineCursor(range)
        return time(bytes, &cursor)
    }

    private mutating func time(_ bytes: Span<UInt8>, _ cursor: inout LineCursor) -> Timestamp? {
        while cursor.position < cursor.end, bytes[cursor.position] == UInt8(ascii: " ") { cursor.position += 1 }
        cursor.position = bytes.endOfOptional(at: cursor.position, in: cursor.rest)
        guard let stamp = times.dateAndTime(bytes, &cursor) else { return nil }
        let time =
            stamp.offsetSeconds.map { Timestamp(microseconds: stamp.wallMicroseconds &- Int64($0) &* 1_000_000) }
            ?? Timestamp(microseconds: zone.utcMicroseconds(wall: stamp.wallMicroseconds))
        return time >= .earliestAccepted && time < .latestPlanned ? time : nil
    }
}

/// A key of the `key=value` pairs in log lines.
enum LogField: UInt8, CaseIterable, Sendable {
    case scheduleId
    case notificationTime
    case earliestBeginDate
    case status
    case bytes
    case items
    case ttl
    case age
    case source
    case error
    case reason
    case willRetry
    case success
    case fetched
    case usedCached
    case durationMs
    case duration
    case contentHash
    case scheduleHash
    case lowPowerMode
    case pluggedIn
    case backgroundRefresh
    case simulator
    case network
    case hasPendingSchedules
    case inProgress
    case leadMinutes
    /// Free text, which ends the list because it may contain anything.
    case freeText

    /// Whether half of a value is another one; not of a word of a closed set, and half a status tells nothing.
    fileprivate var mayBeHalf: Bool {
        switch self {
        case .reason, .error, .status, .willRetry, .success, .fetched, .usedCached, .lowPowerMode, .pluggedIn,
            .backgroundRefresh, .simulator, .network, .hasPendingSchedules, .inProgress, .freeText:
            false
        default: true
        }
    }

    var names: [StaticString] {
        switch self {
        case .scheduleId: ["id", "scheduleId", "schedule_id", "notificationId"]
        case .notificationTime: ["notificationTime", "time", "scheduledFor", "scheduled_for", "notification_time"]
        case .earliestBeginDate: ["earliestBeginDate"]
        case .status: ["status", "httpStatus", "statusCode"]
        case .bytes: ["bytes"]
        case .items: ["items"]
        case .ttl: ["ttl"]
        case .age: ["age", "ageSeconds"]
        case .source: ["source"]
        case .error: ["error"]
        case .reason: ["reason"]
        case .willRetry: ["willRetry"]
        case .success: ["success"]
        case .fetched: ["fetched"]
        case .usedCached: ["usedCached"]
        case .durationMs: ["duration_ms", "fetchDurationMs", "durationMs"]
        case .duration: ["duration"]
        case .contentHash: ["md5", "contentHash", "hash"]
        case .scheduleHash: ["scheduleHash"]
        case .lowPowerMode: ["lowPowerMode"]
        case .pluggedIn: ["pluggedIn"]
        case .backgroundRefresh: ["backgroundRefresh"]
        case .simulator: ["simulator"]
        case .network: ["network"]
        case .hasPendingSchedules: ["hasPendingSchedules"]
        case .inProgress: ["inProgress"]
        case .leadMinutes: ["leadMinutes"]
        case .freeText: ["title", "body"]
        }
    }

    static let table = NameTable(LogField.allCases.flatMap { field in field.names.map { ($0, field) } })
}
