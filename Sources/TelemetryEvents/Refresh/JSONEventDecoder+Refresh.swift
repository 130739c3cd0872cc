// SPDX-License-Identifier: Apache-2.0

/// An analytics event of the app.
enum RefreshAnalytics: CaseIterable {
    case scheduleFailed
    case expired
    case completed
    /// A refresh that failed is one that completed without success.
    case failed
    case notificationSent
    case notificationFailed

    var name: StaticString {
        switch self {
        case .scheduleFailed: "backgroundRefreshScheduleFailed"
        case .expired: "backgroundRefreshExpired"
        case .completed: "backgroundRefreshCompleted"
        case .failed: "backgroundRefreshFailed"
        case .notificationSent: "backgroundRefreshNotificationSent"
        case .notificationFailed: "backgroundRefreshNotificationFailed"
        }
    }

    /// Kept, because each call of `allCases` makes an array.
    static let all = Array(allCases)

    var kind: EventKind {
        switch self {
        case .scheduleFailed: .refreshScheduleFailed
        case .expired: .refreshExpired
        case .completed, .failed: .refreshCompleted
        case .notificationSent: .refreshNotificationSent
        case .notificationFailed: .refreshNotificationFailed
        }
    }
}

/// A property of an analytics event.
enum RefreshProperty: UInt8, CaseIterable {
    case success
    case durationSeconds
    /// Seconds, too.
    case duration
    case durationMs
    case available
    case daysSinceTest
    case hours
    case reason
    case daysSinceNotification
    /// Whether it was an analytics event, in the canonical form.
    case analytics

    var name: StaticString {
        switch self {
        case .success: "success"
        case .durationSeconds: "durationSeconds"
        case .duration: "duration"
        case .durationMs: "durationMs"
        case .available: "available"
        case .daysSinceTest: "daysSinceTest"
        case .hours: "hours"
        case .reason: "reason"
        case .daysSinceNotification: "daysSinceNotification"
        case .analytics: "analytics"
        }
    }

    /// Whether events of a kind have it.
    func belongs(to kind: EventKind) -> Bool {
        switch self {
        case .success, .durationSeconds, .duration, .durationMs: kind == .refreshCompleted
        case .available, .daysSinceTest: kind == .refreshChecked
        case .hours: kind == .refreshScheduled
        case .reason: kind == .refreshSkipped || kind == .refreshNotificationSkipped
        case .daysSinceNotification: kind == .refreshNotificationSkipped
        case .analytics: RefreshAnalytics.all.contains { $0.kind == kind }
        }
    }
}

/// What an event tells of a background refresh, until its kind is known and it is complete.
struct RefreshValues: Sendable {
    /// Whether anything is set.
    var isUsed = false
    /// Where `properties` begin that came before the kind; 0 for none.
    var propertiesAt = 0
    var isSuccessful: Bool?
    var isAvailable: Bool?
    /// In microseconds.
    var duration: Int64?
    /// In microseconds.
    var delay: Int64?
    var days: Int64?
    var reason: RefreshSkipReason?
    var isAnalytics: Bool?
}

/// Reads `properties`: leniently, so that only a number out of its range refuses the event. Whatever else is in them is
/// dropped and counted as unknown fields.
extension JSONEventDecoder {
    /// The analytics event whose name ends with its closing quote before a position; nil for the name of a kind.
    @inline(never)
    func analytics(endingAt end: Int, _ bytes: Span<UInt8>) -> RefreshAnalytics? {
        RefreshAnalytics.all.first { event in
            let start = end - 1 - event.name.utf8CodeUnitCount
            return start > 0 && bytes.equals(event.name, in: start..<end - 1)
        }
    }

    /// Notes a name that no field has.
    @inline(never)
    mutating func noteUnknown(_ name: JSONText, _ bytes: Span<UInt8>) {
        looseProperty = name.isEscaped ? nil : vocabulary.refreshProperties.value(of: bytes, name.range)
        if looseProperty == nil { fieldSpellings.note(name, bytes) }
    }

    /// Whether the member with the last unknown name is a property that stands beside `properties`.
    func isRefreshProperty(of draft: borrowing Draft) -> Bool {
        let isOfRefresh = draft.event.kind.app == .aiq
        return isOfRefresh && looseProperty != nil
    }

    /// Reads a member whose name no field has.
    @inline(never)
    mutating func readUnknownMember(
        of draft: borrowing Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        if let looseProperty, draft.event.kind.app == .aiq {
            return try readRefreshProperty(looseProperty, of: draft, depth: 1, &scanner, bytes)
        }
        try dropProperty(depth: 1, &scanner, bytes)
    }

    /// Reads `properties`, or notes where they are if the kind is not known yet.
    mutating func refreshProperties(
        _ first: UInt8,
        of draft: borrowing Draft,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard draft.event.kind.app == .aiq, first == UInt8(ascii: "{") else {
            if !draft.hasKind, first == UInt8(ascii: "{") {
                refresh.isUsed = true
                refresh.propertiesAt = scanner.position
            }
            return try dropProperty(depth: 1, &scanner, bytes)
        }
        scanner.position += 1
        if scanner.peek(bytes) == UInt8(ascii: "}") {
            scanner.position += 1
            return
        }
        repeat {
            let name = try scanner.string(bytes)
            try scanner.expect(UInt8(ascii: ":"), bytes)
            let property = name.isEscaped ? nil : vocabulary.refreshProperties.value(of: bytes, name.range)
            if let property {
                try readRefreshProperty(property, of: draft, depth: 2, &scanner, bytes)
            } else {
                try dropProperty(depth: 2, &scanner, bytes)
            }
        } while try !scanner.endsList(with: UInt8(ascii: "}"), bytes)
    }

    private mutating func dropProperty(
        depth: Int,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        decoded.unknownFields += 1
        try scanner.skipValue(bytes, depth: depth)
    }

    /// Reads the value of a property; null counts as absent.
    mutating func readRefreshProperty(
        _ property: RefreshProperty,
        of draft: borrowing Draft,
        depth: Int,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard let first = scanner.peek(bytes) else { throw JSONFault(.truncated, .properties) }
        if first == UInt8(ascii: "n") { return try scanner.literal("null", bytes) }
        guard property.belongs(to: draft.event.kind) else {
            return try dropProperty(depth: depth, &scanner, bytes)
        }
        refresh.isUsed = true
        let start = scanner.position
        var isKept = true
        switch property {
        case .success: isKept = Self.keep(in: &refresh.isSuccessful, try boolean(&scanner, bytes))
        case .available: isKept = Self.keep(in: &refresh.isAvailable, try boolean(&scanner, bytes))
        case .durationSeconds, .duration:
            isKept = Self.keep(in: &refresh.duration, try number(RefreshLimits.duration, power: 6, &scanner, bytes))
        case .durationMs:
            isKept = Self.keep(in: &refresh.duration, try number(RefreshLimits.duration, power: 3, &scanner, bytes))
        case .hours:
            let microhours = try number(RefreshLimits.microhours, power: 6, &scanner, bytes)
            isKept = Self.keep(in: &refresh.delay, microhours.map { $0 * 3_600 })
        case .daysSinceTest, .daysSinceNotification:
            isKept = Self.keep(in: &refresh.days, try number(RefreshLimits.days, power: 0, &scanner, bytes))
        case .reason: isKept = Self.keep(in: &refresh.reason, try reason(of: draft.event.kind, &scanner, bytes))
        case .analytics: isKept = Self.keep(in: &refresh.isAnalytics, try boolean(&scanner, bytes))
        }
        guard !isKept else { return }
        scanner.position = start
        try dropProperty(depth: depth, &scanner, bytes)
    }

    /// Keeps a value; false for none.
    private static func keep<Value>(in place: inout Value?, _ value: Value?) -> Bool {
        if value != nil { place = value }
        return value != nil
    }

    /// Reads a truth as `true`, 1 or a word for it; nil for any other value.
    private func boolean(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) throws(JSONFault) -> Bool? {
        switch scanner.peek(bytes) ?? 0 {
        case UInt8(ascii: "t"):
            try scanner.literal("true", bytes)
            return true
        case UInt8(ascii: "f"):
            try scanner.literal("false", bytes)
            return false
        case UInt8(ascii: "\""):
            let text = bytes.trimmed(try scanner.string(bytes).range)
            if Self.truths.contains(where: { bytes.equalsIgnoringCase($0, in: text) }) { return true }
            return Self.untruths.contains { bytes.equalsIgnoringCase($0, in: text) } ? false : nil
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            guard let number = try scanner.number(bytes).scaled(byPowerOfTen: 0, in: 0...1, exact: true) else {
                return nil
            }
            return number == 1
        default: return nil
        }
    }

    private static let truths: [StaticString] = ["true", "1", "yes", "success", "succeeded"]
    private static let untruths: [StaticString] = ["false", "0", "no", "failure", "failed"]

    /// Reads a number, or one in a text; nil for any other value.
    private func number(
        _ range: ClosedRange<Int64>,
        power: Int,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> Int64? {
        let number: JSONNumber
        switch scanner.peek(bytes) ?? 0 {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number = try scanner.number(bytes)
        case UInt8(ascii: "\""):
            let text = bytes.trimmed(try scanner.string(bytes).range)
            let inner = bytes.extracting(0..<text.upperBound)
            var digits = JSONScanner(position: text.lowerBound)
            guard let first = inner.byte(at: text.lowerBound), first == UInt8(ascii: "-") || first.isDigit else {
                return nil
            }
            guard let read = try? digits.number(inner), digits.position == text.upperBound else { return nil }
            number = read
        default: return nil
        }
        guard let value = number.scaled(byPowerOfTen: power, in: range) else {
            throw JSONFault(.outOfRange, .properties)
        }
        return value
    }

    /// Reads the name of a reason that a kind may have; nil for any other value.
    private func reason(
        of kind: EventKind,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) -> RefreshSkipReason? {
        guard scanner.peek(bytes) == UInt8(ascii: "\"") else { return nil }
        let text = try scanner.string(bytes).range
        return RefreshSkipReason.allCases.first { $0.kind == kind && bytes.equalsIgnoringCase($0.name, in: text) }
    }

    /// Completes an event of this app: it has the properties of its kind and no field of another app.
    @inline(never)
    mutating func completeRefresh(_ draft: inout Draft, _ bytes: Span<UInt8>) throws(JSONFault) {
        if refresh.propertiesAt > 0 {
            var scanner = JSONScanner(position: refresh.propertiesAt)
            decoded.unknownFields -= 1
            try refreshProperties(UInt8(ascii: "{"), of: draft, &scanner, bytes)
        }
        let told = draft.event.duration
        decoded.unknownFields += draft.event.dropFieldsOfPrefetch()
        draft.event.isAnalytics = draft.analytics != nil || refresh.isAnalytics == true
        switch draft.event.kind {
        case .refreshCompleted:
            draft.event.fetched = draft.analytics == .failed ? false : refresh.isSuccessful
            draft.event.duration = refresh.duration ?? told
        case .refreshChecked:
            draft.event.usedCached = refresh.isAvailable
            draft.event.itemCount = refresh.days
        case .refreshScheduled: draft.event.duration = refresh.delay
        case .refreshSkipped, .refreshNotificationSkipped:
            draft.event.status = refresh.reason.map { Int64($0.rawValue) }
            draft.event.itemCount = draft.event.kind == .refreshNotificationSkipped ? refresh.days : nil
        default: break
        }
    }
}

extension Event {
    /// Drops what only an event of the prefetch tells; returns how many fields those were. A duration may be that of a
    /// refresh and is not counted for one.
    fileprivate mutating func dropFieldsOfPrefetch() -> Int {
        let foreign = presence.intersection(.ofPrefetch)
        guard !foreign.isEmpty else { return 0 }
        var dropped = foreign.rawValue.nonzeroBitCount
        if duration != nil, kind == .refreshCompleted { dropped -= 1 }
        scheduledFor = nil
        earliestBeginDate = nil
        duration = nil
        ttl = nil
        status = nil
        byteCount = nil
        itemCount = nil
        age = nil
        reason = nil
        willRetry = nil
        fetched = nil
        usedCached = nil
        minutes = nil
        scheduleId = 0..<0
        contentHash = 0..<0
        scheduleHash = 0..<0
        clientCounters = 0..<0
        return dropped
    }
}

extension EventPresence {
    fileprivate static let ofPrefetch: EventPresence = [
        .scheduledFor, .earliestBeginDate, .duration, .ttl, .status, .byteCount, .itemCount, .age, .reason, .willRetry,
        .fetched, .usedCached, .minutes, .scheduleId, .contentHash, .scheduleHash, .clientCounters,
    ]
}
