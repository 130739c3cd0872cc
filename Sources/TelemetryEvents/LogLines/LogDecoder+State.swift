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

    mutating func recentLines(_ bytes: Span<UInt8>) throws(EventRecordError) -> RecentLines {
        let previous = try littleEndian(bytes, size: 8)
        var latest: [UInt64] = []
        for _ in 0..<(try count(bytes, upTo: RecentLines.kept)) { latest.append(try littleEndian(bytes, size: 8)) }
        return RecentLines(latest: latest, previous: previous)
    }

    mutating func logcatHeader(_ bytes: Span<UInt8>) throws(EventRecordError) -> UnwrappedLine? {
        guard try flag(bytes) else { return nil }
        var header = UnwrappedLine()
        if try flag(bytes) {
            var stamp = LogStamp(wallMicroseconds: try zigzag(bytes))
            stamp.hasYear = try flag(bytes)
            stamp.offsetSeconds = try optionalNumber(bytes).map { Int32(truncatingIfNeeded: $0) }
            header.stamp = stamp
        }
        let component = try byte(bytes)
        header.component = component == 0 ? nil : LogComponent(rawValue: component - 1)
        header.hasUnknownMarker = try flag(bytes)
        header.process = try varint(bytes)
        return header
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
        let message = try message(bytes)
        var texts: [UInt8] = []
        texts.append(bytes, try text(bytes))
        for text in LogMessage.texts where message[keyPath: text].upperBound > texts.count {
            throw error("a text outside its event")
        }
        let timestamp = Timestamp(microseconds: try zigzag(bytes))
        return HeldEvent(
            message: message,
            timestamp: timestamp,
            isTimeAssumed: try flag(bytes),
            texts: texts,
            cycle: try serial(bytes),
            yearless: try yearless(bytes),
            process: try varint(bytes),
            isTentative: try flag(bytes),
            readAt: Timestamp(microseconds: try zigzag(bytes)),
            line: 0
        )
    }

    private mutating func message(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogMessage {
        guard let kind = EventKind(rawValue: try byte(bytes)) else { throw error("an unknown kind") }
        var message = LogMessage(
            LogRule.Form(meaning: .event(kind), phase: .plugin, remainder: .nothing, idNamesTask: false)
        )
        message.due = try optionalTime(bytes)
        message.begin = try optionalTime(bytes)
        message.duration = try optionalNumber(bytes)
        message.age = try optionalNumber(bytes)
        message.byteCount = try optionalNumber(bytes)
        message.itemCount = try optionalNumber(bytes)
        message.ttl = try optionalNumber(bytes).map { Int32(truncatingIfNeeded: $0) }
        message.status = try optionalNumber(bytes).map { Int16(truncatingIfNeeded: $0) }
        let reason = try byte(bytes)
        message.reason = reason == 0 ? nil : FailureReason(rawValue: reason - 1)
        message.willRetry = try optionalFlag(bytes)
        message.isSuccessful = try optionalFlag(bytes)
        message.usedCached = try optionalFlag(bytes)
        for text in LogMessage.texts {
            let start = try count(bytes, upTo: 1 << 20)
            message[keyPath: text] = start..<start + (try count(bytes, upTo: 1 << 20))
        }
        return message
    }

    private mutating func optionalNumber(_ bytes: Span<UInt8>) throws(EventRecordError) -> Int64? {
        try flag(bytes) ? try zigzag(bytes) : nil
    }

    private mutating func optionalFlag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Bool? {
        switch try byte(bytes) {
        case 0: nil
        case 1: false
        default: true
        }
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

extension LogMessage {
    /// The texts of an event that waits, in the order in which the state has them.
    fileprivate static var texts: [WritableKeyPath<LogMessage, Event.Text>] {
        [\.error, \.contentHash, \.scheduleHash, \.counters]
    }
}
