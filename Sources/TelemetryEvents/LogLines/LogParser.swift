// SPDX-License-Identifier: Apache-2.0

/// Parses the lines of a log: removes their wrappers and reads their messages.
///
/// Lines are parsed independently (except those that a header stands before, `LineHeader`), so that one thread can parse
/// while another binds.
public struct LogParser: Sendable {
    /// The lines of a run of events for which another one is looked for behind it.
    private static let worthwhileRun = 16

    private var options: LogDecoderOptions
    private let takesPrefetch: Bool
    private let takesRefresh: Bool
    private let pseudonyms: any Pseudonymising
    private let identityKey: IdentityKey

    var unwrapper: LineUnwrapper
    private var messages: LogMessageReader
    private var parsed = ParsedLog()
    /// The message being read; reused.
    private var entry = ParsedMessage()
    private var scratch: [UInt8] = []
    /// The array that the log consists of, in `log show --style json`.
    private var array: AppleLogArray?
    private var lastDevice: (hash: UInt64, name: Event.Text) = (0, 0..<0)
    private var readAt = Timestamp(microseconds: 0)
    private var pending = PendingEventLines()
    private var carriers: [LineCarrier] = []
    /// The carrier of the current line.
    private var carrier = 0
    /// The carrier of the pending events.
    private var pendingCarrier = 0
    /// The host that the heading of the pending events names; empty for none.
    private var pendingHost: [UInt8] = []
    private var carrierDevices = PseudonymCache()
    /// The hash of the first host of a log of one device (`LogDecoderOptions.isOneDevice`); 0 before it.
    public var ownHost: UInt64 = 0
    /// The open cycles of the version before, whose events name no installation.
    var carried: CarriedCycles?

    /// The lines parsed so far.
    public private(set) var counts = LogLineCounts()
    /// The first unrecognised lines, up to the options' limit.
    public private(set) var unrecognised: [UnrecognisedLine] = []

    /// Creates a parser for the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: how the log is read.
    ///   - pseudonyms: replaces identifying texts.
    ///   - identityKey: the key of the events' identities.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        takesPrefetch = options.apps.contains(.dnp)
        takesRefresh = options.apps.contains(.aiq)
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
        unwrapper = LineUnwrapper(wrapper: options.wrapper, takesAllJSON: options.takesAllJSON)
        messages = LogMessageReader(zone: options.zone)
    }

    mutating func assign(_ installation: Pseudonym) { options.installation = installation }

    /// Parses whole lines; each ends with a line feed, except the log's last.
    ///
    /// - Parameters:
    ///   - readAt: the receiver's clock, the reference for the timestamp limits of JSON events.
    ///   - carriers: the records that carried the lines, in order; empty for plain lines.
    public mutating func parse(
        _ bytes: Span<UInt8>,
        readAt: Timestamp,
        carriers: [LineCarrier] = []
    ) -> ParsedLog {
        if carriers.isEmpty, counts.read == 0, array == nil, options.wrapper == nil || options.wrapper == .appleJSON,
            !options.takesAllJSON, AppleLogArray.begins(bytes)
        {
            array = AppleLogArray()
        }
        guard array?.isOpen == true else { return parseLines(bytes, readAt: readAt, carriers: carriers) }
        var lines: [UInt8] = []
        array?.append(bytes, to: &lines)
        return parseLines(lines.span, readAt: readAt, carriers: [])
    }

    private mutating func parseLines(
        _ bytes: Span<UInt8>,
        readAt: Timestamp,
        carriers: [LineCarrier]
    ) -> ParsedLog {
        self.readAt = readAt
        self.carriers = carriers
        carrier = 0
        pendingCarrier = 0
        if let carried, carried.until < readAt { self.carried = nil }
        lastDevice = (0, 0..<0)
        parsed = ParsedLog()
        parsed.messages.reserveCapacity(bytes.count / 72)
        parsed.texts.reserve(bytes.count / 8)
        var start = 0
        // Not for single events among other lines, since each run takes memory of its own.
        var mayBeginRun = true
        while start < bytes.count {
            if mayBeginRun, let run = parsePlainEvents(bytes, from: start) {
                start = run.end
                mayBeginRun = run.lines >= Self.worthwhileRun
                continue
            }
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<bytes.count) ?? bytes.count
            parse(bytes, start..<end)
            start = end + 1
        }
        decodePendingEvents(bytes)
        counts += parsed.lines
        defer { parsed = ParsedLog() }
        return parsed
    }

    /// Decodes lines that are certainly events without looking for their ends and wrappers first; nil where none is.
    private mutating func parsePlainEvents(_ bytes: Span<UInt8>, from start: Int) -> (end: Int, lines: Int)? {
        guard bytes[start] == UInt8(ascii: "{"), carriers.isEmpty, unwrapper.takesEvents else { return nil }
        let (decoded, end) = JSONEventDecoder.decodePlainLines(
            bytes.extracting(start..<bytes.count),
            receivedAt: readAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: options.installation ?? options.source,
            carried: carried,
            apps: options.apps,
            reportsPlaces: options.reportsPlaces
        )
        guard end > 0 else { return nil }
        if !pending.isEmpty { decodePendingEvents(bytes) }
        let first = lineIndex + 1
        parsed.lines.read += UInt64(decoded.events.count)
        parsed.lines.recognised += UInt64(decoded.events.count)
        parsed.events.append((messages: parsed.messages.count, decoded: decoded, firstLine: first))
        return (start + end, decoded.events.count)
    }

    private mutating func parse(_ bytes: Span<UInt8>, _ line: Range<Int>) {
        parsed.lines.read += 1
        while carrier < carriers.count, carriers[carrier].end <= line.lowerBound { carrier += 1 }
        if bytes[line.lowerBound] == UInt8(ascii: "["), readRecords(bytes, line) { return }
        var unwrapped = unwrapper.unwrap(bytes, line, scratch: &scratch)
        if unwrapped.isForeign, carrier < carriers.count { readProgram(of: carriers[carrier], bytes, line, &unwrapped) }
        if unwrapped.isForeign, bytes[line.lowerBound] == UInt8(ascii: "{"), readRecords(bytes, line) { return }
        if unwrapped.isEvent, !unwrapped.isInScratch {
            let host = host(of: unwrapped, bytes)
            if !pending.mayContinue(at: unwrapped.text.lowerBound, bytes) || host != pendingHost
                || device(pendingCarrier) != device(carrier)
            {
                decodePendingEvents(bytes)
            }
            (pendingCarrier, pendingHost) = (carrier, host)
            return pending.add(unwrapped.text, line: lineIndex)
        }
        if !pending.isEmpty { decodePendingEvents(bytes) }
        readWhole(unwrapped, bytes)
    }

    /// Reads a line, or an event that is in the scratch buffer.
    private mutating func readWhole(_ unwrapped: UnwrappedLine, _ bytes: Span<UInt8>) {
        guard unwrapped.isInScratch else { return read(unwrapped, bytes) }
        let unescaped = scratch
        if unwrapped.isEvent {
            pendingCarrier = carrier
            pendingHost = host(of: unwrapped, unescaped.span)
            decodeEvents(unescaped.span.extracting(unwrapped.text), lines: 1, first: lineIndex)
        } else {
            readLines(unwrapped, unescaped.span)
        }
    }

    /// Reads the records of a line that holds several, such as an array of them; false where none of them is an app's.
    @inline(never)
    private mutating func readRecords(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Bool {
        let line = bytes.trimmedLine(line)
        guard unwrapper.wrapper == nil, !options.takesAllJSON, line.count <= LineUnwrapper.longestLine,
            LineCursor(line).beginsListOfObjects(bytes) || bytes[line.lowerBound] == UInt8(ascii: "{"),
            bytes.namesApp(in: line)
        else { return false }
        var records = LogRecords(line)
        var isTaken = false
        while let record = records.next(bytes) {
            let unwrapped = unwrapper.unwrap(bytes, record, scratch: &scratch)
            if unwrapped.isForeign || unwrapped.isEvent && !unwrapped.isInScratch { continue }
            if !isTaken, !pending.isEmpty { decodePendingEvents(bytes) }
            isTaken = true
            readWhole(unwrapped, bytes)
        }
        return isTaken
    }

    /// Reads the lines of a text, as a record holds them; each that is an app's by itself begins another message, of the same
    /// time and process.
    private mutating func readLines(_ first: UnwrappedLine, _ bytes: Span<UInt8>) {
        var line = first
        var isInScratch = false
        var start = first.text.lowerBound
        while let lineFeed = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<first.text.upperBound) {
            start = lineFeed + 1
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<first.text.upperBound)
            let header = unwrapper.header
            var next = unwrapper.unwrapPlain(
                bytes,
                bytes.trimmedLine(start..<(end ?? first.text.upperBound)),
                scratch: &scratch
            )
            unwrapper.header = header
            if next.isForeign || next.isEvent { continue }
            if !isInScratch {
                line.text = bytes.trimmedLine(line.text.lowerBound..<lineFeed)
                read(line, bytes)
            }
            next.stamp = next.stamp ?? first.stamp
            if next.process == 0 { next.process = first.process }
            if next.platform == .unknown { next.platform = first.platform }
            isInScratch = next.isInScratch
            if isInScratch {
                let unescaped = scratch
                read(next, unescaped.span)
            } else {
                if next.device.isEmpty { next.device = first.device }
                next.text = next.text.lowerBound..<first.text.upperBound
                line = next
            }
        }
        if !isInScratch { read(line, bytes) }
    }

    /// Takes a foreign line as the message of the program that its carrier names, where an app has a program of that name.
    private func readProgram(
        of carrier: LineCarrier,
        _ bytes: Span<UInt8>,
        _ line: Range<Int>,
        _ unwrapped: inout UnwrappedLine
    ) {
        guard !carrier.program.isEmpty, !unwrapped.isInScratch else { return }
        unwrapped.noteProgram(0..<carrier.program.count, carrier.program.span)
        guard !unwrapped.isForeign else { return }
        var cursor = LineCursor(line)
        cursor.skipSpaces(bytes)
        unwrapped.text = cursor.rest
    }

    private mutating func read(_ line: UnwrappedLine, _ bytes: Span<UInt8>) {
        let isOfRefresh = line.component == .backgroundRefresh || line.component == nil && line.isUnmarked
        let isTaken = isOfRefresh ? takesRefresh : takesPrefetch
        guard isTaken, line.component != nil || line.hasUnknownMarker || line.isUnmarked else {
            parsed.lines.foreign += 1
            return
        }
        if line.component == .debug {
            parsed.lines.recognised += 1
            return
        }
        guard line.component != nil || line.isUnmarked,
            messages.read(bytes, line.text, of: line.component, into: &entry.message)
        else {
            if line.isUnmarked {
                parsed.lines.foreign += 1
                return
            }
            return keepUnrecognised(
                line.component == nil ? "the plugin has no such component" : "no known form begins like this",
                bytes,
                line.text
            )
        }
        parsed.lines.recognised += 1
        entry.message.platform = line.platform
        entry.stamp = line.stamp
        entry.process = line.process
        entry.device = 0
        entry.isDeviceOfStream = false
        entry.schedule = 0
        entry.line = lineIndex
        entry.fingerprint = fingerprint(of: line, bytes)
        if !line.device.isEmpty { nameDevice(line.device, bytes) }
        if carrier < carriers.count { complete(with: carriers[carrier]) }
        if !entry.message.scheduleId.isEmpty {
            entry.schedule = identityKey.text(bytes, entry.message.scheduleId)
            entry.message.scheduleId = parsed.texts.copy(bytes, entry.message.scheduleId)
        }
        if entry.message.hasTexts || entry.message.form.remainder == .refusal { copyTexts(bytes) }
        parsed.messages.append(entry)
    }

    /// Fills in what the line lacks from its carrier.
    private mutating func complete(with carrier: LineCarrier) {
        if entry.stamp == nil { entry.stamp = carrier.stamp }
        if entry.process == 0 { entry.process = carrier.stream }
        guard !carrier.device.isEmpty, entry.device == 0 || carrier.namesDevice else { return }
        nameDevice(0..<carrier.device.count, carrier.device.span)
        entry.isDeviceOfStream = !carrier.namesDevice
    }

    /// The device of a carrier; empty for none.
    private func device(_ carrier: Int) -> [UInt8] { carrier < carriers.count ? carriers[carrier].device : [] }

    /// The host that the heading of an event names; empty for none, and for the log's own.
    private mutating func host(of line: UnwrappedLine, _ bytes: Span<UInt8>) -> [UInt8] {
        guard !line.device.isEmpty, !bytes.equals("localhost", in: line.device),
            !takeOwn(identityKey.text(bytes, line.device))
        else { return [] }
        var host: [UInt8] = []
        host.append(bytes, line.device)
        return host
    }

    /// The installation of the pending events that name none.
    private mutating func installationOfPending() -> Pseudonym? {
        if let installation = options.installation { return installation }
        let name = pendingHost.isEmpty ? device(pendingCarrier) : pendingHost
        guard !name.isEmpty else { return options.source }
        let named = carrierDevices.pseudonym(of: name.span, 0..<name.count, pseudonyms)
        return options.source.map { identityKey.device(named, in: $0) } ?? named
    }

    /// The fingerprint for detecting repeated lines; 0 without a stamp.
    ///
    /// Not collision-resistant: whoever constructs two colliding lines in one log only hides one of their own.
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

    /// Takes the first host for the one device of the log.
    ///
    /// - Returns: whether a host is that device.
    private mutating func takeOwn(_ host: UInt64) -> Bool {
        guard options.isOneDevice else { return false }
        if ownHost == 0 { ownHost = host }
        return host == ownHost
    }

    private mutating func nameDevice(_ device: Range<Int>, _ bytes: Span<UInt8>) {
        guard !bytes.equals("localhost", in: device) else { return }
        let host = identityKey.text(bytes, device)
        guard !takeOwn(host) else { return }
        entry.device = host
        if entry.device != lastDevice.hash { lastDevice = (entry.device, parsed.texts.copy(bytes, device)) }
        entry.deviceName = lastDevice.name
    }

    /// Copies the texts that leave with an event, in their shapes.
    private mutating func copyTexts(_ bytes: Span<UInt8>) {
        if !entry.message.error.isEmpty {
            let copy = parsed.texts.copy(bytes, entry.message.error)
            entry.message.error = parsed.texts.errorIdentifier(copy)
            if entry.message.error.isEmpty { parsed.altered[.error] += 1 }
        }
        if entry.message.error.isEmpty, entry.message.form.remainder == .refusal {
            entry.message.error = parsed.texts.appended("BGTaskSchedulerErrorDomain Code=1")
        }
        if !entry.message.contentHash.isEmpty {
            entry.message.contentHash = hash(bytes, entry.message.contentHash, .contentHash)
        }
        if !entry.message.scheduleHash.isEmpty {
            entry.message.scheduleHash = hash(bytes, entry.message.scheduleHash, .scheduleHash)
        }
        if !entry.message.counters.isEmpty {
            let counters = bytes.counters(entry.message.counters)
            entry.message.counters = parsed.texts.append(counters)
        }
    }

    /// A hash in the form that leaves.
    private mutating func hash(_ bytes: Span<UInt8>, _ range: Range<Int>, _ field: ShapedField) -> Event.Text {
        let copy = parsed.texts.copy(bytes, range)
        guard parsed.texts.lowercaseHex(copy) else { return 0..<0 }
        if pseudonyms.keepsIdentifiers { return copy }
        if !EventTexts.hasLengthOfHash(copy) { parsed.altered[field] += 1 }
        return parsed.texts.shaped(hash: copy, identityKey)
    }

    /// The index of the current line in the log, from 0.
    private var lineIndex: Int { Int(clamping: counts.read + parsed.lines.read) - 1 }

    private mutating func keepUnrecognised(_ problem: String, _ bytes: Span<UInt8>, _ text: Range<Int>) {
        parsed.lines.unrecognised += 1
        guard unrecognised.count < options.unrecognisedLimit else { return }
        let whole = bytes.trimmed(text)
        let shown = bytes.openingWords(whole)
        unrecognised.append(
            UnrecognisedLine(
                number: UInt64(lineIndex) + 1,
                text: bytes.string(shown) + (shown.count < whole.count ? " ..." : ""),
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
            framing: .logLines,
            receivedAt: readAt,
            pseudonyms: pseudonyms,
            identityKey: identityKey,
            installation: installationOfPending(),
            carried: carried,
            apps: options.apps,
            reportsPlaces: options.reportsPlaces
        )
        if !pendingHost.isEmpty { parsed.eventsNameHosts = true }
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
    /// The leading words of a text, up to a value, a quote or a list, which may contain user input, and of the plain
    /// characters only that the plugin's own words have.
    fileprivate func openingWords(_ range: Range<Int>) -> Range<Int> {
        var end = range.lowerBound
        var endOfWord = end
        let limit = Swift.min(range.upperBound, range.lowerBound + UnrecognisedLine.maximumText)
        while end < limit {
            let byte = self[end]
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ".") {
                endOfWord = end
            } else if !TextClass.isLetter(byte), byte != UInt8(ascii: "-") {
                return trimmed(range.lowerBound..<endOfWord)
            }
            end += 1
        }
        return trimmed(range.lowerBound..<(end == range.upperBound ? end : endOfWord))
    }

    fileprivate func string(_ range: Range<Int>) -> String {
        var copy: [UInt8] = []
        copy.append(self, range)
        return String(decoding: copy, as: UTF8.self)
    }
}

/// Consecutive lines that are JSON events, collected to be decoded together.
private struct PendingEventLines: Sendable {
    private(set) var range: Range<Int>?
    private(set) var lines = 0
    private(set) var first = 0

    var isEmpty: Bool { lines == 0 }

    /// Whether only a line end separates these lines from an index.
    func mayContinue(at index: Int, _ bytes: Span<UInt8>) -> Bool {
        guard let range else { return true }
        return (range.upperBound..<index).allSatisfy { bytes[$0] == 0x0A || bytes[$0] == 0x0D }
    }

    mutating func add(_ text: Range<Int>, line: Int) {
        if range == nil { first = line }
        range = (range?.lowerBound ?? text.lowerBound)..<text.upperBound
        lines += 1
    }
}
