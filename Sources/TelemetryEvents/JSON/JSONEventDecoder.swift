// SPDX-License-Identifier: Apache-2.0

/// Decodes events from JSON in every shape that clients send: one object, an array, `{"events":[...],"sentAt":"..."}`,
/// NDJSON, or a sequence of these (docs/ingest-api.md).
///
/// Total: every input yields events and rejections. A malformed event is rejected alone; the decoder resynchronises at
/// the brackets around it, or in NDJSON at the next line. Texts leave it in their shapes. O(input), with a few allocations per
/// input and none per event.
public struct JSONEventDecoder {
    /// How an input is divided into values.
    public enum Framing: Sendable {
        /// Consecutive JSON values (`application/json`).
        case document
        /// One JSON value per line (`application/x-ndjson`).
        case lines
        /// One JSON value per line of a log, without empty lines. A rejection's index is that of the line, and a line
        /// over 64 KiB is rejected whole, since its end may be missing.
        case logLines
    }

    let vocabulary = EventVocabulary.shared
    let pseudonyms: any Pseudonymising
    /// Whether ids and hashes stay as they are.
    let keepsIdentifiers: Bool
    let identityKey: IdentityKey
    let receivedAt: Timestamp
    /// Copied texts, for events whose texts differ from the input.
    var texts = EventTexts()
    /// Whether the current event's texts are ranges of `texts` instead of the input.
    var hasOwnTexts = false
    var repeated = RepeatedTexts()
    /// Whether the input exceeds 32-bit ranges.
    private var isLongInput = false
    var installations = PseudonymCache()
    var date = DateCache()
    var clockSkew: Int64?
    /// The installation of events that have none.
    let installation: Pseudonym?
    /// The cycles whose events stay without an installation.
    let carried: CarriedCycles?
    var decoded = DecodedEvents()
    var fieldSpellings = FieldSpellings()
    /// What the current event tells of a background refresh.
    var refresh = RefreshValues()
    /// The property that the last unknown name is.
    var looseProperty: RefreshProperty?
    var kindSpellings = Spellings()
    /// Where the broken member of the last top-level value begins, if that is an envelope without an end.
    var cutAt: Int?
    private let framing: Framing
    private let reportsPlaces: Bool
    let takesPrefetch: Bool
    let takesRefresh: Bool
    /// The index of the current line in a log.
    private var lineIndex = 0

    private init(
        framing: Framing,
        receivedAt: Timestamp,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey,
        installation: Pseudonym?,
        carried: CarriedCycles?,
        apps: Set<App>,
        reportsPlaces: Bool
    ) {
        self.framing = framing
        self.reportsPlaces = reportsPlaces
        takesPrefetch = apps.contains(.dnp)
        takesRefresh = apps.contains(.aiq)
        self.installation = installation
        self.carried = carried
        self.identityKey = identityKey
        self.receivedAt = receivedAt
        self.pseudonyms = pseudonyms
        keepsIdentifiers = pseudonyms.keepsIdentifiers
    }

    /// Decodes a whole input.
    ///
    /// - Parameters:
    ///   - bytes: the input.
    ///   - framing: how it is divided into values.
    ///   - receivedAt: the receiver's clock, the reference for timestamp limits and clock skew.
    ///   - pseudonyms: replaces installation ids, and ids that are not plain.
    ///   - identityKey: the key of the events' identities.
    ///   - installation: the installation of events that have none.
    ///   - apps: the apps whose events are taken; the kinds of others are unknown.
    ///   - reportsPlaces: whether to report where each event stands.
    public static func decode(
        _ bytes: Span<UInt8>,
        framing: Framing,
        receivedAt: Timestamp,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey,
        installation: Pseudonym? = nil,
        apps: Set<App> = Set(App.allCases),
        reportsPlaces: Bool = false
    ) -> DecodedEvents {
        decode(
            bytes,
            framing: framing,
            receivedAt: receivedAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: installation,
            carried: nil,
            apps: apps,
            reportsPlaces: reportsPlaces
        )
    }

    /// - Parameter carried: the cycles whose events stay without an installation.
    static func decode(
        _ bytes: Span<UInt8>,
        framing: Framing,
        receivedAt: Timestamp,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey,
        installation: Pseudonym?,
        carried: CarriedCycles?,
        apps: Set<App>,
        reportsPlaces: Bool = false
    ) -> DecodedEvents {
        var decoder = JSONEventDecoder(
            framing: framing,
            receivedAt: receivedAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: installation,
            carried: carried,
            apps: apps,
            reportsPlaces: reportsPlaces
        )
        decoder.expect(bytes.count)
        var scanner = JSONScanner(position: 0)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { scanner.position = 3 }
        switch framing {
        case .document: decoder.document(&scanner, bytes)
        case .lines, .logLines: decoder.lines(&scanner, bytes)
        }
        decoder.finish()
        return decoder.decoded
    }

    /// Decodes the first lines of a log for as long as each is an event in the plainest form: it begins with its kind, and
    /// nothing in it is unusual. What follows is left to `decode`, also where it is an event.
    ///
    /// - Returns: the events, a line each, and the end of their lines.
    static func decodePlainLines(
        _ bytes: Span<UInt8>,
        receivedAt: Timestamp,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey,
        installation: Pseudonym?,
        carried: CarriedCycles?,
        apps: Set<App>,
        reportsPlaces: Bool
    ) -> (decoded: DecodedEvents, end: Int) {
        guard bytes.beginsEvent(at: 0) else { return (DecodedEvents(), 0) }
        var decoder = JSONEventDecoder(
            framing: .logLines,
            receivedAt: receivedAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: installation,
            carried: carried,
            apps: apps,
            reportsPlaces: reportsPlaces
        )
        decoder.expect(bytes.count)
        var end = 0
        while bytes.beginsEvent(at: end) {
            var scanner = JSONScanner(position: end)
            guard decoder.plainLine(&scanner, bytes) else { break }
            decoder.lineIndex += 1
            end = min(scanner.position + 1, bytes.count)
        }
        decoder.finish()
        return (decoder.decoded, end)
    }

    private mutating func expect(_ byteCount: Int) {
        decoded.events.reserve(bytes: byteCount / 3, events: byteCount / 160)
        decoded.hashes.reserveCapacity(byteCount / 160)
        isLongInput = byteCount > Int(UInt32.max)
    }

    private mutating func finish() {
        decoded.resembledFields = fieldSpellings.resembled
        decoded.events.finish()
    }

    private mutating func document(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) {
        var lineEnd = -1
        while let first = scanner.peek(bytes) {
            let start = scanner.position
            if start > lineEnd { lineEnd = scanner.endOfLine(bytes) }
            cutAt = nil
            do throws(JSONFault) {
                try topLevelValue(first, &scanner, bytes, isLine: false)
                if let cutAt, cutAt <= lineEnd, isBeforeObject(lineEnd, bytes) { scanner.position = lineEnd }
                if scanner.position <= lineEnd, lineEnd < bytes.count { return lines(&scanner, bytes) }
            } catch {
                reject(error)
                if first != UInt8(ascii: "{") {
                    scanner.skipGarbage(bytes)
                } else {
                    scanner.position = start
                    let isWhole = scanner.skipBrokenElement(bytes)
                    if !isWhole, scanner.position == bytes.count, isBeforeObject(lineEnd, bytes) {
                        scanner.position = lineEnd
                        return lines(&scanner, bytes)
                    }
                }
            }
        }
    }

    /// Whether the next line begins with an object, which an object without an end in this line has swallowed.
    private func isBeforeObject(_ lineEnd: Int, _ bytes: Span<UInt8>) -> Bool {
        lineEnd + 1 < bytes.count && bytes[lineEnd + 1] == UInt8(ascii: "{")
    }

    private mutating func lines(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) {
        while let first = scanner.peek(bytes) {
            defer { lineIndex &+= 1 }
            if first == UInt8(ascii: "{"), plainLine(&scanner, bytes) { continue }
            let end = scanner.endOfLine(bytes)
            var line = scanner
            let bytes = bytes.extracting(0..<end)
            scanner.position = end
            guard end - line.position <= JSONLimits.eventBytes || mayBeLong(line, first, bytes) else {
                decoded.isBlank = false
                decoded.refusedLines += 1
                reject(JSONFault(.tooLong))
                continue
            }
            let rejected = decoded.rejected
            var next: UInt8? = first
            while let value = next {
                let start = line.position
                do throws(JSONFault) {
                    try topLevelValue(value, &line, bytes, isLine: true)
                } catch {
                    reject(error)
                    line.position = start
                    guard value == UInt8(ascii: "{"), line.skipBrokenElement(bytes), mayFollow(line, bytes) else {
                        break
                    }
                }
                next = line.peek(bytes)
            }
            if decoded.rejected > rejected { decoded.refusedLines += 1 }
        }
    }

    /// Whether a line may exceed the size of an event, as an array or an envelope of several; not in a log.
    private mutating func mayBeLong(_ scanner: JSONScanner, _ first: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard framing != .logLines else { return false }
        return first == UInt8(ascii: "[") || (first == UInt8(ascii: "{") && isEnvelope(scanner, bytes))
    }

    /// Reads a top-level value: an event, an envelope or an array of events.
    ///
    /// - Parameter isLine: whether only the line's end or another value may follow.
    private mutating func topLevelValue(
        _ first: UInt8,
        _ scanner: inout JSONScanner,
        _ bytes: Span<UInt8>,
        isLine: Bool
    ) throws(JSONFault) {
        decoded.isBlank = false
        switch first {
        case UInt8(ascii: "["):
            clockSkew = nil
            elements(&scanner, bytes)
        case UInt8(ascii: "{"):
            clockSkew = nil
            let start = scanner.position
            var draft = emptyDraft
            if try object(into: &draft, &scanner, bytes, mayBeEnvelope: true) {
                guard !isLine || mayFollow(scanner, bytes) else { throw JSONFault(.malformedJSON) }
                try accept(draft, from: start, to: scanner.position, bytes)
            }
        default:
            try scanner.skipValue(bytes, depth: 0)
            throw JSONFault(.notAnObject)
        }
    }

    var emptyDraft: Draft {
        var draft = Draft()
        draft.event.installation = installation
        return draft
    }

    private func mayFollow(_ scanner: JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        var ahead = scanner
        guard let next = ahead.peek(bytes) else { return true }
        return next == UInt8(ascii: "{") || next == UInt8(ascii: "[")
    }

    @inline(__always)
    mutating func accept(
        _ draft: borrowing Draft,
        from start: Int,
        to end: Int,
        _ bytes: Span<UInt8>
    ) throws(JSONFault) {
        guard end - start <= JSONLimits.eventBytes else { throw JSONFault(.tooLong) }
        if !draft.altered.isEmpty { decoded.altered.add(draft.altered) }
        if hasOwnTexts {
            let copied = texts.bytes
            add(draft, copied.span)
        } else {
            add(draft, bytes)
        }
    }

    @inline(__always)
    private mutating func add(_ draft: borrowing Draft, _ texts: Span<UInt8>) {
        decoded.events.appendOneOfMany(draft.event, texts: texts)
        decoded.hashes.append(identityKey.hashes(of: draft.event, in: texts))
        if reportsPlaces {
            let line = framing == .logLines ? lineIndex : decoded.received - 1
            decoded.places.append(EventPlace(line: line, isLogLine: false))
        }
    }

    /// Discards the texts of the previous event.
    mutating func resetTexts() {
        if !texts.bytes.isEmpty { texts.removeAll() }
        if refresh.isUsed { refresh = RefreshValues() }
        hasOwnTexts = isLongInput
    }

    /// The parser state inside an array of events.
    private enum ArrayState {
        case first
        case separator
        case element
        case afterBroken
    }

    /// Reads an array of events; the position is at its bracket.
    ///
    /// - Returns: whether its end was found; otherwise the truncation has been rejected.
    @discardableResult
    mutating func elements(_ scanner: inout JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        scanner.position += 1
        var state = ArrayState.first
        while let next = scanner.peek(bytes) {
            switch next {
            case UInt8(ascii: "]"):
                scanner.position += 1
                if state == .element { reject(JSONFault(.malformedJSON)) }
                return true
            case UInt8(ascii: ","):
                scanner.position += 1
                if state == .first || state == .element { reject(JSONFault(.malformedJSON)) }
                state = .element
            default:
                if state == .separator, next == UInt8(ascii: "{") { reject(JSONFault(.malformedJSON)) }
                state = element(next, &scanner, bytes) ? .separator : .afterBroken
            }
        }
        if state != .afterBroken { reject(JSONFault(.truncated)) }
        return false
    }

    /// Reads one array element; false if it was malformed and has been skipped.
    private mutating func element(_ first: UInt8, _ scanner: inout JSONScanner, _ bytes: Span<UInt8>) -> Bool {
        let start = scanner.position
        do throws(JSONFault) {
            guard first == UInt8(ascii: "{") else { throw JSONFault(.notAnObject) }
            var draft = emptyDraft
            if !plainElement(into: &draft, &scanner, bytes) {
                draft = emptyDraft
                _ = try object(into: &draft, &scanner, bytes, mayBeEnvelope: false)
            }
            try accept(draft, from: start, to: scanner.position, bytes)
            return true
        } catch {
            reject(error)
            scanner.position = start
            scanner.skipBrokenElement(bytes)
            if scanner.position == start { scanner.position += 1 }
            return false
        }
    }

    mutating func reject(_ fault: JSONFault) {
        fieldSpellings.keep()
        let index = framing == .logLines ? lineIndex : decoded.received
        decoded.reject(
            Rejection(index: index, reason: fault.reason, field: fault.field, nearestKind: fault.nearestKind)
        )
    }
}

/// The texts of earlier events that have their shape, as ranges of the input: most events repeat them, and comparing
/// takes less time than checking.
struct RepeatedTexts {
    var scheduleId: Event.Text = 0..<0
    private var platform: Event.Text = 0..<0
    private var appVersion: Event.Text = 0..<0
    private var osVersion: Event.Text = 0..<0
    private var deviceModel: Event.Text = 0..<0

    /// The latest name or version of a field.
    @inline(__always)
    subscript(field: ShapedField) -> Event.Text {
        get {
            switch field {
            case .platform: platform
            case .appVersion: appVersion
            case .osVersion: osVersion
            case .deviceModel: deviceModel
            case .scheduleId, .eventId, .error, .contentHash, .scheduleHash: 0..<0
            }
        }
        set {
            switch field {
            case .platform: platform = newValue
            case .appVersion: appVersion = newValue
            case .osVersion: osVersion = newValue
            case .deviceModel: deviceModel = newValue
            case .scheduleId, .eventId, .error, .contentHash, .scheduleHash: break
            }
        }
    }
}

extension Span<UInt8> {
    /// Whether `{"event":"` and a lower-case letter stand at an index, as the name of a kind begins.
    fileprivate func beginsEvent(at index: Int) -> Bool {
        // The first eight of these bytes, little-endian.
        guard wordIfInBounds(at: index) == 0x2274_6E65_7665_227B, let letter = byte(at: index + 10) else {
            return false
        }
        return self[index + 8] == UInt8(ascii: ":") && self[index + 9] == UInt8(ascii: "\"")
            && UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
    }
}
