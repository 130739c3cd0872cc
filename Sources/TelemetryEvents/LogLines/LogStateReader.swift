// SPDX-License-Identifier: Apache-2.0

/// The version of a log decoder's saved state.
enum LogStateVersion: UInt8 {
    /// Sources were not devices of their own, and ids may be personal.
    case anonymousSources = 2
    /// The installation of cycles was not saved.
    case undecidedInstallations = 3
    /// Conditions, minutes and refusals to schedule were not saved.
    case withoutConditions = 4
    /// It was not saved when a cycle was last seen.
    case withoutSeenTimes = 5
    case current = 6

    /// Whether the installation of cycles is saved.
    var hasInstallations: Bool { rawValue >= Self.withoutConditions.rawValue }
    /// Whether conditions, minutes and refusals are saved.
    var hasConditions: Bool { rawValue > Self.withoutConditions.rawValue }
    /// Whether it is saved when a cycle was last seen.
    var hasSeenTimes: Bool { rawValue > Self.withoutSeenTimes.rawValue }
}

/// Reads the parts of a log decoder's saved state, of any version, in the order in which `LogStateWriter` writes them.
struct LogStateReader {
    let version: LogStateVersion
    /// Replaces the ids of a state that holds them as they were sent; nil where they have their shape.
    private let plainIds: (any Pseudonymising)?
    private var reader: RecordReader

    /// Checks version and hash.
    init(
        _ bytes: Span<UInt8>,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey
    ) throws(EventRecordError) {
        var reader = RecordReader(start: 0)
        guard let version = LogStateVersion(rawValue: try reader.byte(bytes)) else {
            throw reader.error("another version")
        }
        let end = bytes.count - LogStateWriter.hashBytes
        guard end > 0, bytes.word(at: end) == identityKey.text(bytes, 0..<end) else {
            throw reader.error("damage, or another key")
        }
        self.version = version
        self.reader = reader
        plainIds = version == .anonymousSources ? pseudonyms : nil
    }

    mutating func time(_ bytes: Span<UInt8>) throws(EventRecordError) -> Timestamp {
        Timestamp(microseconds: try reader.zigzag(bytes))
    }

    mutating func count(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt64 { try reader.varint(bytes) }

    mutating func number(_ bytes: Span<UInt8>) throws(EventRecordError) -> Int64 { try reader.zigzag(bytes) }

    /// The devices and the streams of all of them.
    mutating func devices(
        _ bytes: Span<UInt8>
    ) throws(EventRecordError) -> (devices: [LogDevice], streams: [LogStream]) {
        var devices: [LogDevice] = []
        var streams: [LogStream] = []
        while try reader.byte(bytes) == 1 {
            devices.append(try device(bytes))
            while try reader.byte(bytes) == 1 {
                guard streams.count < LogBinding.maximumStreams else { throw reader.error("too many streams") }
                streams.append(try stream(bytes))
            }
            guard devices.count <= LogBinding.maximumDevices else { throw reader.error("too many devices") }
        }
        let names = Set(devices.map(\.name))
        guard names.count == devices.count, streams.allSatisfy({ names.contains($0.device) }) else {
            throw reader.error("streams of other devices")
        }
        return (devices, streams)
    }

    private mutating func flag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Bool {
        switch try reader.byte(bytes) {
        case 0: return false
        case 1: return true
        default: throw reader.error("a flag that is neither 0 nor 1")
        }
    }

    mutating func optionalTime(_ bytes: Span<UInt8>) throws(EventRecordError) -> Timestamp? {
        try flag(bytes) ? Timestamp(microseconds: try reader.zigzag(bytes)) : nil
    }

    private mutating func count(_ bytes: Span<UInt8>, upTo limit: Int) throws(EventRecordError) -> Int {
        let count = try reader.varint(bytes)
        guard count <= UInt64(limit) else { throw reader.error("a count over its limit") }
        return Int(count)
    }

    private mutating func serial(_ bytes: Span<UInt8>) throws(EventRecordError) -> UInt32 {
        UInt32(try count(bytes, upTo: Int(UInt32.max)))
    }

    mutating func recentLines(_ bytes: Span<UInt8>) throws(EventRecordError) -> RecentLines {
        let previous = try reader.littleEndian(bytes, size: 8)
        var latest: [UInt64] = []
        for _ in 0..<(try count(bytes, upTo: RecentLines.kept)) {
            latest.append(try reader.littleEndian(bytes, size: 8))
        }
        return RecentLines(latest: latest, previous: previous)
    }

    mutating func lineHeader(_ bytes: Span<UInt8>) throws(EventRecordError) -> LineHeader? {
        switch try reader.byte(bytes) {
        case 0: return nil
        case 1: return .logcat(try logcatHeader(bytes))
        case 2: return .journal(try stamp(bytes))
        default: throw reader.error("a header of lines of an unknown kind")
        }
    }

    private mutating func stamp(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogStamp {
        var stamp = LogStamp(wallMicroseconds: try reader.zigzag(bytes))
        stamp.hasYear = try flag(bytes)
        stamp.offsetSeconds = try optionalNumber(bytes).map { Int32(truncatingIfNeeded: $0) }
        return stamp
    }

    private mutating func logcatHeader(_ bytes: Span<UInt8>) throws(EventRecordError) -> UnwrappedLine {
        var header = UnwrappedLine()
        if try flag(bytes) { header.stamp = try stamp(bytes) }
        let component = try reader.byte(bytes)
        header.component = component == 0 ? nil : LogComponent(rawValue: component - 1)
        header.hasUnknownMarker = try flag(bytes)
        header.process = try reader.varint(bytes)
        header.platform = .android
        return header
    }

    private mutating func device(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogDevice {
        let name = try reader.littleEndian(bytes, size: 8)
        var installation: Pseudonym?
        if try flag(bytes) {
            let high = try reader.littleEndian(bytes, size: 8)
            installation = Pseudonym(high: high, low: try reader.littleEndian(bytes, size: 8))
        }
        var device = LogDevice(name: name, installation: installation)
        device.usedAt = try reader.varint(bytes)
        device.lastSerial = try serial(bytes)
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumCycles)) {
            var cycle = try cycle(bytes)
            if version.hasInstallations { try readInstallation(of: &cycle, bytes) }
            device.cycles.append(cycle)
        }
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumHeld)) { device.held.append(try held(bytes)) }
        return device
    }

    private mutating func cycle(_ bytes: Span<UInt8>) throws(EventRecordError) -> KnownCycle {
        let serial = try serial(bytes)
        var cycle = KnownCycle(serial: serial, process: try reader.varint(bytes))
        cycle.idHash = try reader.littleEndian(bytes, size: 8)
        var id: [UInt8] = []
        id.append(bytes, try reader.text(bytes))
        if let plainIds, !id.isEmpty {
            cycle.id = KnownId(id, plainIds)
        } else {
            cycle.id.text = id
            if plainIds == nil { cycle.id.schedule = try reader.littleEndian(bytes, size: 8) }
        }
        cycle.due = try optionalTime(bytes)
        cycle.begin = try optionalTime(bytes)
        if version.hasSeenTimes { cycle.seen = try optionalTime(bytes) }
        cycle.progress = KnownCycle.Progress(rawValue: try reader.byte(bytes))
        return cycle
    }

    private mutating func readInstallation(
        of cycle: inout KnownCycle,
        _ bytes: Span<UInt8>
    ) throws(EventRecordError) {
        cycle.results = KnownCycle.Results(rawValue: try reader.byte(bytes))
        switch try reader.byte(bytes) {
        case 0: cycle.installation = .undecided
        case 1: cycle.installation = .decided(nil)
        case 2:
            let high = try reader.littleEndian(bytes, size: 8)
            cycle.installation = .decided(Pseudonym(high: high, low: try reader.littleEndian(bytes, size: 8)))
        default: throw reader.error("an unknown kind of installation")
        }
    }

    /// The cycles that a source carries over; nil also in a state from before there were any.
    mutating func carriedCycles(_ bytes: Span<UInt8>) throws(EventRecordError) -> CarriedCycles? {
        guard version.hasInstallations, let until = try optionalTime(bytes) else { return nil }
        var cycles: [CarriedCycles.Cycle] = []
        for _ in 0..<(try count(bytes, upTo: CarriedCycles.maximum)) {
            let schedule = try reader.littleEndian(bytes, size: 8)
            let due = try optionalTime(bytes)
            cycles.append(
                CarriedCycles.Cycle(
                    schedule: schedule,
                    due: due,
                    end: Timestamp(microseconds: try reader.zigzag(bytes))
                )
            )
        }
        return CarriedCycles(cycles, until: until)
    }

    private mutating func held(_ bytes: Span<UInt8>) throws(EventRecordError) -> HeldEvent {
        let message = try message(bytes)
        var texts: [UInt8] = []
        texts.append(bytes, try reader.text(bytes))
        for text in LogMessage.texts where message[keyPath: text].upperBound > texts.count {
            throw reader.error("a text outside its event")
        }
        let timestamp = Timestamp(microseconds: try reader.zigzag(bytes))
        return HeldEvent(
            message: message,
            timestamp: timestamp,
            isTimeAssumed: try flag(bytes),
            texts: texts,
            cycle: try serial(bytes),
            yearless: try yearless(bytes),
            process: try reader.varint(bytes),
            isTentative: try flag(bytes),
            readAt: Timestamp(microseconds: try reader.zigzag(bytes)),
            line: 0
        )
    }

    private mutating func message(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogMessage {
        guard let kind = EventKind(rawValue: try reader.byte(bytes)) else { throw reader.error("an unknown kind") }
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
        let reason = try reader.byte(bytes)
        message.reason = reason == 0 ? nil : FailureReason(rawValue: reason - 1)
        message.willRetry = try optionalFlag(bytes)
        message.isSuccessful = try optionalFlag(bytes)
        message.usedCached = try optionalFlag(bytes)
        for text in LogMessage.texts {
            let start = try count(bytes, upTo: 1 << 20)
            message[keyPath: text] = start..<start + (try count(bytes, upTo: 1 << 20))
        }
        if version.hasConditions {
            guard let conditions = EventConditions(bits: UInt32(try count(bytes, upTo: Int(UInt32.max)))) else {
                throw reader.error("unknown conditions")
            }
            message.conditions = conditions
            message.minutes = try optionalNumber(bytes).map { Int32(clamping: $0) }
            message.platform = LogPlatform(rawValue: try reader.byte(bytes)) ?? .unknown
        }
        return message
    }

    private mutating func optionalNumber(_ bytes: Span<UInt8>) throws(EventRecordError) -> Int64? {
        try flag(bytes) ? try reader.zigzag(bytes) : nil
    }

    private mutating func optionalFlag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Bool? {
        switch try reader.byte(bytes) {
        case 0: nil
        case 1: false
        default: true
        }
    }

    private mutating func yearless(_ bytes: Span<UInt8>) throws(EventRecordError) -> YearlessStamp? {
        guard try flag(bytes) else { return nil }
        let wall = try reader.zigzag(bytes)
        return YearlessStamp(
            wallMicroseconds: wall,
            offset: try flag(bytes) ? Int32(truncatingIfNeeded: try reader.zigzag(bytes)) : nil
        )
    }

    private mutating func stream(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogStream {
        let device = try reader.littleEndian(bytes, size: 8)
        var stream = LogStream(device: device, process: try reader.varint(bytes))
        stream.scheduling = try serial(bytes)
        stream.execution = try serial(bytes)
        stream.delivery = try serial(bytes)
        let told = try reader.byte(bytes)
        guard let phase = LogRule.Phase(rawValue: told & LogStream.phaseMask) else {
            throw reader.error("an unknown phase")
        }
        stream.phase = phase
        stream.isBackInDelivered = told & LogStream.backInDelivered != 0
        let begun = (told & ~LogStream.backInDelivered) >> LogStream.begunRunShift
        stream.begunRun = begun == 0 ? nil : App(rawValue: begun - 1)
        stream.last = try optionalTime(bytes)
        stream.anchor = try optionalTime(bytes)
        stream.usedAt = try reader.varint(bytes)
        if version.hasConditions {
            stream.refusal.form = LogRefusal.Form(rawValue: try reader.byte(bytes)) ?? .none
            stream.refusal.wallMicroseconds = try reader.zigzag(bytes)
        }
        return stream
    }
}

extension LogMessage {
    /// The texts of a held event, in the order of the state's format.
    fileprivate static var texts: [WritableKeyPath<LogMessage, Event.Text>] {
        [\.error, \.contentHash, \.scheduleHash, \.counters]
    }
}
