// SPDX-License-Identifier: Apache-2.0

/// Reads the lines of a log one by one: takes them out of their wrappers and reads their messages. What a line says does
/// not depend on others here (but for the header of `logcat -v long`), so that one thread may parse while another binds.
public struct LogParser: Sendable {
    let options: LogDecoderOptions
    let pseudonyms: any Pseudonymising
    let identityKey: IdentityKey

    var unwrapper: LineUnwrapper
    private var messages: LogMessageReader
    private var parsed = ParsedLog()
    /// The message that is read.
    private var entry = ParsedMessage()
    private var scratch: [UInt8] = []
    private var lastDevice: (hash: UInt64, name: Event.Text) = (0, 0..<0)
    private var readAt = Timestamp(microseconds: 0)
    private var pending = PendingEventLines()
    private var carriers: [LineCarrier] = []
    /// The carrier of the line that is parsed.
    private var carrier = 0

    /// The lines so far.
    public private(set) var counts = LogLineCounts()
    /// The first unrecognised lines, as many as the options ask for.
    public private(set) var unrecognised: [UnrecognisedLine] = []

    /// Starts at the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: how the log is read.
    ///   - pseudonyms: what replaces identifying texts.
    ///   - identityKey: the key of the events' identities.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
        unwrapper = LineUnwrapper(wrapper: options.wrapper)
        messages = LogMessageReader(zone: options.zone)
    }

    /// Parses whole lines; each ends with a line feed, but for the last one of the log.
    ///
    /// - Parameters:
    ///   - readAt: the receiver's clock, which the limits on the timestamps of JSON events refer to.
    ///   - carriers: what carried the lines, in their order; none for lines that stand for themselves.
    public mutating func parse(
        _ bytes: Span<UInt8>,
        readAt: Timestamp,
        carriers: [LineCarrier] = []
    ) -> ParsedLog {
        self.readAt = readAt
        self.carriers = carriers
        carrier = 0
        lastDevice = (0, 0..<0)
        parsed = ParsedLog()
        parsed.messages.reserveCapacity(bytes.count / 72)
        parsed.texts.reserve(bytes.count / 8)
        var start = 0
        while start < bytes.count {
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<bytes.count) ?? bytes.count
            parse(bytes, start..<end)
            start = end + 1
        }
        decodePendingEvents(bytes)
        counts += parsed.lines
        defer { parsed = ParsedLog() }
        return parsed
    }

    private mutating func parse(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        parsed.lines.read += 1
        while carrier < carriers.count, carriers[carrier].end <= line.lowerBound { carrier += 1 }
        let unwrapped = unwrapper.unwrap(bytes, line, scratch: &scratch)
        if unwrapped.isEvent, !unwrapped.isInScratch {
            if !pending.mayContinue(at: unwrapped.text.lowerBound, bytes) { decodePendingEvents(bytes) }
            return pending.add(unwrapped.text, line: lineIndex)
        }
        if !pending.isEmpty { decodePendingEvents(bytes) }
        guard unwrapped.isInScratch else { return read(unwrapped, bytes) }
        let held = scratch
        if unwrapped.isEvent {
            decodeEvents(held.span.extracting(unwrapped.text), lines: 1, first: lineIndex)
        } else {
            read(unwrapped, held.span)
        }
    }

    private mutating func read(_ line: UnwrappedLine, _ bytes: Span<UInt8>) {
        guard line.component != nil || line.hasUnknownMarker else {
            parsed.lines.foreign += 1
            return
        }
        guard line.component != nil, messages.read(bytes, line.text, into: &entry.message) else {
            return keepUnrecognised(
                line.component == nil ? "the plugin has no such component" : "no known form begins like this",
                bytes,
                line.text
            )
        }
        parsed.lines.recognised += 1
        entry.stamp = line.stamp
        entry.process = line.process
        entry.device = 0
        entry.schedule = 0
        entry.line = lineIndex
        entry.fingerprint = fingerprint(of: line, bytes)
        if carrier < carriers.count { complete(with: carriers[carrier]) }
        if !line.device.isEmpty { nameDevice(line.device, bytes) }
        if !entry.message.scheduleId.isEmpty {
            entry.schedule = identityKey.text(bytes, entry.message.scheduleId)
            entry.message.scheduleId = parsed.texts.copy(bytes, entry.message.scheduleId)
        }
        if entry.message.hasTexts { moveTexts(bytes) }
        parsed.messages.append(entry)
    }

    /// Takes what the line does not tell from what carried it.
    private mutating func complete(with carrier: LineCarrier) {
        if entry.stamp == nil { entry.stamp = carrier.stamp }
        if entry.process == 0 { entry.process = carrier.stream }
    }

    /// What a line that is told again is known by; 0 without a stamp of its own. Each eight bytes are multiplied in: whoever makes two
    /// lines of one log collide leaves one of his own out.
    private func fingerprint(of line: UnwrappedLine, _ bytes: Span<UInt8>) -> UInt64 {
        guard let stamp = line.stamp else { return 0 }
        var hash = identityKey.first ^ UInt64(bitPattern: stamp.wallMicroseconds)
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9FB2_1C65_1E98_DF25
            hash ^= hash >> 32
        }
        mix(line.process)
        var position = line.text.lowerBound
        while position + 8 <= line.text.upperBound {
            mix(bytes.word(at: position))
            position += 8
        }
        if position < line.text.upperBound { mix(bytes.packedHead(position..<line.text.upperBound)) }
        mix(UInt64(line.text.count))
        return hash | 1
    }

    private mutating func nameDevice(_ device: Range<Int>, _ bytes: Span<UInt8>) {
        guard !bytes.equals("localhost", in: device) else { return }
        entry.device = identityKey.text(bytes, device)
        if entry.device != lastDevice.hash { lastDevice = (entry.device, parsed.texts.copy(bytes, device)) }
        entry.deviceName = lastDevice.name
    }

    /// Moves the texts that leave with an event, in the form in which they may.
    private mutating func moveTexts(_ bytes: Span<UInt8>) {
        if !entry.message.error.isEmpty {
            let copy = parsed.texts.copy(bytes, entry.message.error)
            entry.message.error = parsed.texts.errorIdentifier(copy)
        }
        if !entry.message.contentHash.isEmpty {
            entry.message.contentHash = lowercased(bytes, entry.message.contentHash)
        }
        if !entry.message.scheduleHash.isEmpty {
            entry.message.scheduleHash = lowercased(bytes, entry.message.scheduleHash)
        }
        if !entry.message.counters.isEmpty {
            let counters = bytes.counters(entry.message.counters)
            entry.message.counters = parsed.texts.append(counters)
        }
    }

    private mutating func lowercased(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Event.Text {
        let copy = parsed.texts.copy(bytes, range)
        return parsed.texts.hash(copy) ?? 0..<0
    }

    /// The place of the current line in the log, from 0.
    private var lineIndex: Int { Int(clamping: counts.read + parsed.lines.read) - 1 }

    private mutating func keepUnrecognised(_ problem: String, _ bytes: Span<UInt8>, _ text: Range<Int>) {
        parsed.lines.unrecognised += 1
        guard unrecognised.count < options.unrecognisedLimit else { return }
        let whole = bytes.trimmed(text)
        let shown = bytes.openingWords(whole)
        unrecognised.append(
            UnrecognisedLine(
                number: UInt64(lineIndex) + 1,
                text: SensitiveText.isFound(in: bytes, shown)
                    ? "(redacted)" : bytes.string(shown) + (shown.count < whole.count ? " ..." : ""),
                problem: problem
            )
        )
    }

    private mutating func decodePendingEvents(_ bytes: Span<UInt8>) {
        guard let range = pending.range else { return }
        decodeEvents(bytes.extracting(range), lines: pending.lines, first: pending.first)
        pending = PendingEventLines()
    }

    private mutating func decodeEvents(_ bytes: Span<UInt8>, lines: Int, first: Int) {
        let json = JSONEventDecoder.decode(
            bytes,
            framing: .lines,
            receivedAt: readAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: options.installation
        )
        parsed.lines.recognised += UInt64(lines - json.refusedLines)
        parsed.lines.unrecognised += UInt64(json.refusedLines)
        for rejection in json.rejections where unrecognised.count < options.unrecognisedLimit {
            unrecognised.append(
                UnrecognisedLine(number: UInt64(first + rejection.index) + 1, text: "", problem: rejection.description)
            )
        }
        parsed.events.append((messages: parsed.messages.count, decoded: json, firstLine: first))
    }
}

extension Span<UInt8> {
    /// The beginning of a text up to where values, quotes or lists begin, which may hold what a person wrote.
    fileprivate func openingWords(_ range: Range<Int>) -> Range<Int> {
        var end = range.lowerBound
        let limit = Swift.min(range.upperBound, range.lowerBound + UnrecognisedLine.maximumText)
        scan: while end < limit {
            switch self[end] {
            case UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "("),
                UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "%"), 0x80...:
                break scan
            default: end += 1
            }
        }
        return trimmed(range.lowerBound..<end)
    }

    fileprivate func string(_ range: Range<Int>) -> String {
        var copy: [UInt8] = []
        copy.append(self, range)
        return String(decoding: copy, as: UTF8.self)
    }
}

/// What the lines of a piece of a log say, each by itself: not bound to streams, times and cycles yet.
public struct ParsedLog: Sendable {
    /// The plugin's messages, in their order.
    var messages: [ParsedMessage] = []
    /// What the texts of the messages are ranges of; redacted but for the names of schedules and devices, which only the
    /// binder reads.
    var texts = EventTexts()
    /// JSON events among the lines, each with the count of messages before them.
    var events: [(messages: Int, decoded: DecodedEvents, firstLine: Int)] = []
    /// The lines of the piece.
    public internal(set) var lines = LogLineCounts()

    init() {}
}

/// One message and what its wrapper says about it.
struct ParsedMessage: Sendable {
    var message = LogMessage(LogRule.Form(meaning: .nothing, phase: .plugin, remainder: .nothing, idNamesTask: false))
    var stamp: LogStamp?
    var process: UInt64 = 0
    /// The keyed hash of the device's name; 0 without one.
    var device: UInt64 = 0
    /// The device's name.
    var deviceName: Event.Text = 0..<0
    /// The keyed hash of the schedule id; 0 without one.
    var schedule: UInt64 = 0
    /// What a line that is told again is known by; 0 without a stamp of its own.
    var fingerprint: UInt64 = 0
    /// The place of the line in the log, from 0.
    var line = 0
}

/// What carried some lines of a log, such as an entry of the journal, and what it tells about them.
public struct LineCarrier: Hashable, Sendable {
    /// Where its lines end in the bytes that are decoded; they begin where those of the carrier before it end.
    public var end: Int
    /// When it was written, which is the time of its lines that tell none themselves.
    public var writtenAt: Timestamp
    /// Tells its stream from others, for lines that name no process; 0 for none.
    public var stream: UInt64

    /// Makes a carrier.
    public init(end: Int, writtenAt: Timestamp, stream: UInt64) {
        self.end = end
        self.writtenAt = writtenAt
        self.stream = stream
    }

    var stamp: LogStamp { LogStamp(wallMicroseconds: writtenAt.microseconds, offsetSeconds: 0) }
}

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
