// SPDX-License-Identifier: Apache-2.0

extension RecordReader {
    mutating func flag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Bool {
        switch try byte(bytes) {
        case 0: return false
        case 1: return true
        default: throw error("a flag that is neither 0 nor 1")
        }
    }

    mutating func optionalTime(_ bytes: Span<UInt8>) throws(EventRecordError) -> Timestamp? {
        try flag(bytes) ? Timestamp(microseconds: try zigzag(bytes)) : nil
    }

    private mutating func count(_ bytes: Span<UInt8>, upTo limit: Int) throws(EventRecordError) -> Int {
        let count = try varint(bytes)
        guard count <= UInt64(limit) else { throw error("a count over its limit") }
        return Int(count)
    }

    private mutating func serial(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt32 {
        UInt32(try count(bytes, upTo: Int(UInt32.max)))
    }

    mutating func device(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogDevice {
        let name = try littleEndian(bytes, size: 8)
        var installation: Pseudonym?
        if try flag(bytes) {
            let high = try littleEndian(bytes, size: 8)
            installation = Pseudonym(high: high, low: try littleEndian(bytes, size: 8))
        }
        var device = LogDevice(name: name, installation: installation)
        device.usedAt = try varint(bytes)
        device.lastSerial = try serial(bytes)
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumCycles)) { device.cycles.append(try cycle(bytes)) }
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumHeld)) { device.held.append(try held(bytes)) }
        return device
    }

    private mutating func cycle(_ bytes: Span<UInt8>) throws(EventRecordError) -> KnownCycle {
        let serial = try serial(bytes)
        var cycle = KnownCycle(serial: serial, process: try varint(bytes))
        cycle.idHash = try littleEndian(bytes, size: 8)
        for index in try text(bytes) { cycle.id.append(bytes[index]) }
        cycle.due = try optionalTime(bytes)
        cycle.begin = try optionalTime(bytes)
        cycle.progress = KnownCycle.Progress(rawValue: try byte(bytes))
        return cycle
    }

    private mutating func held(_ bytes: Span<UInt8>) throws(EventRecordError) -> HeldEvent {
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        let start = position
        let end = try EventRecord.read(bytes, at: start, into: &event)
        self = RecordReader(start: end)
        var texts: [UInt8] = []
        texts.append(bytes, start..<end)
        event.moveTexts(by: -start)
        return HeldEvent(
            event: event,
            texts: texts,
            cycle: try serial(bytes),
            yearless: try yearless(bytes),
            process: try varint(bytes),
            isTentative: try flag(bytes),
            readAt: Timestamp(microseconds: try zigzag(bytes)),
            line: 0
        )
    }

    private mutating func yearless(_ bytes: Span<UInt8>) throws(EventRecordError) -> YearlessStamp? {
        guard try flag(bytes) else { return nil }
        let wall = try zigzag(bytes)
        return YearlessStamp(
            wallMicroseconds: wall,
            offset: try flag(bytes) ? Int32(truncatingIfNeeded: try zigzag(bytes)) : nil
        )
    }

    mutating func stream(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogStream {
        let device = try littleEndian(bytes, size: 8)
        var stream = LogStream(device: device, process: try varint(bytes))
        stream.scheduling = try serial(bytes)
        stream.execution = try serial(bytes)
        stream.delivery = try serial(bytes)
        guard let phase = LogRule.Phase(rawValue: try byte(bytes)) else { throw error("an unknown phase") }
        stream.phase = phase
        stream.last = try optionalTime(bytes)
        stream.anchor = try optionalTime(bytes)
        stream.usedAt = try varint(bytes)
        return stream
    }
}

extension Event {
    /// Shifts the ranges of the texts.
    fileprivate mutating func moveTexts(by offset: Int) {
        let texts: [WritableKeyPath<Event, Text>] = [
            \.scheduleId, \.eventId, \.error, \.contentHash, \.scheduleHash, \.platform, \.appVersion, \.osVersion,
            \.deviceModel, \.clientCounters,
        ]
        for text in texts where !self[keyPath: text].isEmpty {
            let range = self[keyPath: text]
            self[keyPath: text] = range.lowerBound + offset..<range.upperBound + offset
        }
    }
}
