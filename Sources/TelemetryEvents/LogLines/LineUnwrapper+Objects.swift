// SPDX-License-Identifier: Apache-2.0

/// What a message of a wrapper is that begins like a JSON object.
private enum ObjectMessage {
    /// An event, or what was meant as one.
    case event
    /// A line of the plugin that structlog wrote.
    case structlog(LogObject)
    /// Anything else: a record of a log, or the JSON of another program, in which a line may be.
    case other(LogObject?)

    init(_ bytes: Span<UInt8>, _ text: Range<Int>) {
        var object = LogObject()
        let isWhole = object.read(bytes, text)
        if isWhole, object.structlogEvent != nil, !object.isEvent {
            self = .structlog(object)
        } else if isWhole, object.isForeignRecord {
            self = .other(object)
        } else {
            self = EventTraces.areBegun(inMessage: text, of: bytes) ? .event : .other(isWhole ? object : nil)
        }
    }
}

extension UnwrappedLine {
    /// Reads the message in a member of an object whose texts have no escapes.
    mutating func readMessage(_ bytes: Span<UInt8>, ofMember message: Range<Int>, stamps: inout LogStampReader) {
        readMessage(bytes, LineCursor(bytes.trimmedLine(message)))
        guard beginsObject(bytes) else { return }
        switch ObjectMessage(bytes, text) {
        case .event: isEvent = true
        case .structlog(let object): StructlogLine.read(object, bytes, stamps: &stamps, into: &self)
        case .other: break
        }
    }
}

/// Lines that are a JSON object.
extension LineUnwrapper {
    /// Reads a line that is a JSON object: of Apple's log, of the journal, or an event.
    mutating func readObject(
        _ bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        var object = LogObject()
        let isObject = object.read(bytes, range)
        guard isObject, object.isRecord, !object.isEvent else {
            let isOfStructlog = wrapper == nil || wrapper == .structlog
            if isOfStructlog, StructlogLine.readCut(bytes, range, into: &line) { return }
            guard wrapper == nil || wrapper == .events else { return }
            if isObject, !object.isEvent, readCarried(object, bytes, scratch: &scratch, into: &line) { return }
            let isOfProgram = object.isForeignRecord || object.holdsRecords
            if isObject, isOfProgram, !takesAllJSON, wrapper == nil { return }
            if isObject && object.isEvent || isMeantAsEvents(bytes, range) { line.become(eventIn: range) }
            return
        }
        readRecord(object, bytes, scratch: &scratch, into: &line)
    }

    /// Reads a record of Apple's log or of the journal, or a line that structlog wrote.
    mutating func readRecord(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        guard object.isEscaped || object.hasMessageBytes else { return read(object, bytes, into: &line) }
        var object = object
        object.unescape(bytes, into: &scratch)
        line.isInScratch = true
        read(object, scratch.span, into: &line)
    }

    /// Reads the line that a container runtime, a log shipper or a logging library has put into an object, such as
    /// `{"log":"[DNP-FETCH] text\n","stream":"stdout","time":"2025-11-15T05:48:00Z"}`.
    ///
    /// Of two times the line's own holds.
    /// - Returns: whether the line is an app's, or an event.
    mutating func readCarried(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) -> Bool {
        let isTagged = object.tag.map { bytes.namesApp(in: $0) } ?? false
        guard wrapper == nil, let raw = object.carriedLine,
            isTagged || bytes.namesApp(in: raw) || bytes.firstIndex(of: UInt8(ascii: "{"), in: raw) != nil
        else { return false }
        var object = object
        var texts: [UInt8] = []
        texts.reserveCapacity(raw.count + 128)
        object.unescape(bytes, into: &texts)
        guard let carried = object.carriedLine else { return false }
        let time = (object.carriedTime ?? object.timestamp).flatMap { stamps.time(texts.span, of: $0) }
        let text = texts.span.trimmedLine(carried)
        let header = header
        var inner = UnwrappedLine()
        inner.text = text
        // Each level doubles the backslashes of the next, so that 64 KiB hold few of them.
        if inner.beginsObject(texts.span) {
            readObject(ofMessageIn: texts.span, text, scratch: &scratch, into: &inner)
        } else {
            inner = unwrapFirst(texts.span, text, scratch: &scratch)
        }
        self.header = header
        if inner.isForeign, isTagged, let tag = object.tag {
            inner = UnwrappedLine()
            LogcatTag.read(tag, texts.span, into: &inner)
            // Loggers have such names on each platform.
            inner.platform = .unknown
            inner.readMessage(texts.span, LineCursor(text))
        }
        guard !inner.isForeign else { return false }
        if !inner.isInScratch { swap(&texts, &scratch) }
        inner.isInScratch = true
        if !inner.isEvent { inner.stamp = inner.stamp ?? time }
        line = inner
        return true
    }

    /// Unwraps the first of several lines that is an app's; the others stay behind it in its text.
    private mutating func unwrapFirst(
        _ bytes: Span<UInt8>,
        _ text: Range<Int>,
        scratch: inout [UInt8]
    ) -> UnwrappedLine {
        guard var lineFeed = bytes.firstIndex(of: UInt8(ascii: "\n"), in: text) else {
            return unwrapPlain(bytes, text, scratch: &scratch)
        }
        var start = text.lowerBound
        while true {
            var line = unwrapPlain(bytes, bytes.trimmedLine(start..<lineFeed), scratch: &scratch)
            if !line.isForeign, !line.isInScratch, !line.isEvent {
                line.text = line.text.lowerBound..<text.upperBound
            }
            if !line.isForeign || lineFeed == text.upperBound { return line }
            start = lineFeed + 1
            lineFeed = bytes.firstIndex(of: UInt8(ascii: "\n"), in: start..<text.upperBound) ?? text.upperBound
        }
    }

    private mutating func read(_ object: LogObject, _ bytes: Span<UInt8>, into line: inout UnwrappedLine) {
        if object.structlogEvent != nil, wrapper == nil || wrapper == .structlog {
            StructlogLine.read(object, bytes, stamps: &stamps, into: &line)
        } else if object.eventMessage != nil, wrapper == nil || wrapper == .appleNDJSON || wrapper == .appleJSON {
            AppleNDJSONLine.read(object, bytes, stamps: &stamps, into: &line)
        } else if object.message != nil, wrapper == nil || wrapper == .journalJSON {
            JournalJSONLine.read(object, bytes, stamps: &stamps, into: &line)
        }
    }
}

/// Messages of other wrappers that begin like a JSON object.
extension LineUnwrapper {
    /// How far into a heading its program is looked for.
    private static let longestHeading = 256

    /// Reads the message of a line that is unwrapped but for being an object: an event, which is read as if it stood alone,
    /// or a line that structlog wrote.
    @inline(__always)
    mutating func readObject(
        ofMessageIn bytes: Span<UInt8>,
        _ range: Range<Int>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        guard line.beginsObject(bytes), !line.isInScratch, !line.isEvent else { return }
        readObject(bytes, behind: range.lowerBound..<line.text.lowerBound, of: &line, scratch: &scratch)
    }

    @inline(never)
    private mutating func readObject(
        _ bytes: Span<UInt8>,
        behind heading: Range<Int>,
        of line: inout UnwrappedLine,
        scratch: inout [UInt8]
    ) {
        guard !Self.isOfCollector(heading, bytes) else { return }
        var inner = UnwrappedLine()
        if !StructlogLine.readCut(bytes, line.text, into: &inner) {
            switch ObjectMessage(bytes, line.text) {
            case .event: return line.become(eventIn: line.text, device: line.device)
            case .structlog(let object): read(object, bytes, scratch: &scratch, into: &inner)
            case .other(let object):
                guard let object else { return }
                if wrapper == nil, object.isRecord { readRecord(object, bytes, scratch: &scratch, into: &inner) }
                guard !inner.isForeign || readCarried(object, bytes, scratch: &scratch, into: &inner) else { return }
            }
        }
        if !inner.isEvent {
            inner.stamp = inner.stamp ?? line.stamp
            if inner.process == 0 { inner.process = line.process }
            if inner.platform == .unknown { inner.platform = line.platform }
        }
        if inner.device.isEmpty, !inner.isInScratch {
            inner.device = line.device
        } else if inner.device.isEmpty {
            inner.device = scratch.count..<scratch.count + line.device.count
            scratch.append(bytes, line.device)
        }
        line = inner
    }

    /// Whether a heading names a collector as the program, which has counted what it writes: it would read its own entries
    /// without end.
    private static func isOfCollector(_ heading: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let name: StaticString = " dnp-telemetry"
        let length = name.utf8CodeUnitCount
        let isRFC5424 = heading.first.map { bytes[$0] == UInt8(ascii: "<") } ?? false
        var place = heading.lowerBound
        let end = Swift.min(heading.upperBound, place + longestHeading)
        while place + length < end {
            let next = bytes[place + length]
            let ends = next == UInt8(ascii: "[") || next == UInt8(ascii: ":") || isRFC5424 && next == UInt8(ascii: " ")
            if ends, bytes.equals(name, in: place..<place + length) { return true }
            place += 1
        }
        return false
    }

    private mutating func read(
        _ object: LogObject,
        _ bytes: Span<UInt8>,
        scratch: inout [UInt8],
        into line: inout UnwrappedLine
    ) {
        guard object.isEscaped else { return StructlogLine.read(object, bytes, stamps: &stamps, into: &line) }
        var object = object
        object.unescape(bytes, into: &scratch)
        line.isInScratch = true
        StructlogLine.read(object, scratch.span, stamps: &stamps, into: &line)
    }
}
