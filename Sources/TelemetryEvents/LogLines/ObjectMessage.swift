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
