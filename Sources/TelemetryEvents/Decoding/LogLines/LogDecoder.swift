// SPDX-License-Identifier: Apache-2.0

/// Decodes the plugin's log lines, in whatever they are wrapped, into the same events that clients send as JSON (SPEC 3.3).
///
/// Total: every line is recognised, foreign or unrecognised, and nothing in a line stops the next. Lines that are JSON
/// events are decoded as such. Texts are redacted before an event leaves (SPEC 4.7). Memory is bounded: what waits for its
/// schedule id gives way when there is too much of it. O(input), with no allocation for most lines.
public struct LogDecoder: Sendable {
    let options: LogDecoderOptions
    let pseudonyms: any Pseudonymising
    let identityKey: IdentityKey

    var unwrapper: LineUnwrapper
    private var messages: LogMessageReader
    var binding = LogBinding()
    var devices = PseudonymCache()
    var texts = EventTexts()
    var decoded = DecodedEvents()
    private var scratch: [UInt8] = []
    /// The time that the next line without a stamp is given, so that such lines keep their order.
    var assumedTime = Timestamp(microseconds: 0)
    var readAt = Timestamp(microseconds: 0)
    private var events = PendingEventLines()

    /// The lines so far.
    public private(set) var counts = LogLineCounts()
    /// The first unrecognised lines, as many as the options ask for.
    public private(set) var unrecognised: [UnrecognisedLine] = []

    /// Starts at the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: how the log is read.
    ///   - pseudonyms: what replaces the names of devices.
    ///   - identityKey: the key of the events' identities.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
        unwrapper = LineUnwrapper(wrapper: options.wrapper)
        messages = LogMessageReader(zone: options.zone)
    }

    /// Decodes whole lines; each ends with a line feed, but for the last one of the log.
    ///
    /// Events whose cycle is not known yet come with a later call.
    public mutating func decode(_ bytes: Span<UInt8>, readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        decoded.events.reserve(bytes: bytes.count / 2, events: bytes.count / 80)
        decoded.identities.reserveCapacity(bytes.count / 80)
        if options.isLive { releaseOld() }
        var start = 0
        while start < bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<bytes.count) ?? bytes.count
            decode(bytes, start..<end)
            start = end + 1
        }
        decodePendingEvents(bytes)
        return end()
    }

    /// Gives up waiting: every event that was held back comes out.
    ///
    /// For the end of a log, and for a live one that has been idle for a while.
    public mutating func flush(readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        for device in binding.devices.indices { releaseAll(device) }
        return end()
    }

    private mutating func begin(_ readAt: Timestamp) {
        self.readAt = readAt
        assumedTime = max(assumedTime, readAt)
        decoded = DecodedEvents()
    }

    private mutating func end() -> DecodedEvents {
        counts += decoded.lines
        decoded.isBlank = decoded.lines.read == 0 && decoded.events.count == 0
        defer { decoded = DecodedEvents() }
        return decoded
    }

    private mutating func decode(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        decoded.lines.read += 1
        let unwrapped = unwrapper.unwrap(bytes, line, scratch: &scratch)
        if unwrapped.isEvent, !unwrapped.isInScratch {
            if !events.mayContinue(at: unwrapped.text.lowerBound, bytes) { decodePendingEvents(bytes) }
            return events.add(unwrapped.text, line: lineIndex)
        }
        if !events.isEmpty { decodePendingEvents(bytes) }
        guard unwrapped.isInScratch else { return decode(unwrapped, bytes) }
        let held = scratch
        if unwrapped.isEvent {
            decodeEvents(held.span.extracting(unwrapped.text), lines: 1, first: lineIndex)
        } else {
            decode(unwrapped, held.span)
        }
    }

    private mutating func decode(_ line: UnwrappedLine, _ bytes: Span<UInt8>) {
        guard line.component != nil || line.hasUnknownMarker else {
            decoded.lines.foreign += 1
            return
        }
        guard line.component != nil, let message = messages.read(bytes, line.text) else {
            return keepUnrecognised(
                line.component == nil ? "the plugin has no such component" : "no known form begins like this",
                bytes,
                line.text
            )
        }
        decoded.lines.recognised += 1
        take(message, line, bytes)
    }

    /// The place of the current line in the log, from 0.
    var lineIndex: Int { Int(clamping: counts.read + decoded.lines.read) - 1 }

    private mutating func keepUnrecognised(_ problem: String, _ bytes: Span<UInt8>, _ text: Range<Int>) {
        decoded.lines.unrecognised += 1
        guard unrecognised.count < options.unrecognisedLimit else { return }
        let shown = bytes.trimmed(text).prefix(UnrecognisedLine.maximumText)
        unrecognised.append(
            UnrecognisedLine(
                number: UInt64(lineIndex) + 1,
                text: SensitiveText.isFound(in: bytes, shown) ? "(redacted)" : bytes.string(shown),
                problem: problem
            )
        )
    }
}

// MARK: JSON events among the lines

/// Lines after one another that are JSON events; they are decoded together.
struct PendingEventLines: Sendable {
    private(set) var range: Range<Int>?
    private(set) var lines = 0
    private(set) var first = 0

    var isEmpty: Bool { lines == 0 }

    /// Whether nothing but the end of a line stands between these lines and a place.
    func mayContinue(at place: Int, _ bytes: Span<UInt8>) -> Bool {
        guard let range else { return true }
        return (range.upperBound..<place).allSatisfy { bytes[$0] == 0x0A || bytes[$0] == 0x0D }
    }

    mutating func add(_ text: Range<Int>, line: Int) {
        if range == nil { first = line }
        range = (range?.lowerBound ?? text.lowerBound)..<text.upperBound
        lines += 1
    }
}

extension LogDecoder {
    private mutating func decodePendingEvents(_ bytes: Span<UInt8>) {
        guard let range = events.range else { return }
        decodeEvents(bytes.extracting(range), lines: events.lines, first: events.first)
        events = PendingEventLines()
    }

    private mutating func decodeEvents(_ bytes: Span<UInt8>, lines: Int, first: Int) {
        let json = JSONEventDecoder.decode(
            bytes,
            framing: .lines,
            receivedAt: readAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey
        )
        decoded.append(json, firstLine: first)
        decoded.lines.recognised += UInt64(lines - json.refusedLines)
        decoded.lines.unrecognised += UInt64(json.refusedLines)
        for rejection in json.rejections where unrecognised.count < options.unrecognisedLimit {
            unrecognised.append(
                UnrecognisedLine(number: UInt64(first + rejection.index) + 1, text: "", problem: rejection.description)
            )
        }
    }
}

extension Span<UInt8> {
    fileprivate func string(_ range: Range<Int>) -> String {
        var copy: [UInt8] = []
        copy.append(self, range)
        return String(decoding: copy, as: UTF8.self)
    }
}
