// SPDX-License-Identifier: Apache-2.0

extension LogDecoder {
    private static let stateVersion: UInt8 = 4
    /// The version before, which did not save the installation of cycles.
    private static let undecidedStateVersion: UInt8 = 3
    /// The version before that, whose sources were not devices of their own, and whose ids may be personal.
    private static let plainStateVersion: UInt8 = 2
    /// The maximum size of the state in bytes; the least recently used devices are left out.
    private static let maximumState = 64 << 10
    private static let hashBytes = 8

    /// What a restart needs to resume in the middle of a log: streams, cycles and waiting events. At most 64 KiB,
    /// its texts in their shapes like events', with a keyed hash at the end that detects damage.
    public var state: [UInt8] {
        var output: [UInt8] = [Self.stateVersion]
        output.appendVarint(zigzag: binder.assumedTime.microseconds)
        output.append(optional: binder.binding.anchor)
        output.appendVarint(binder.binding.lineCount)
        output.append(logcatHeader: parser.unwrapper.header)
        output.append(parser.carried)
        output.appendVarint(zigzag: binder.lastStamp)
        output.appendLittleEndian(binder.recent.previous)
        output.appendVarint(UInt64(binder.recent.latest.count))
        for fingerprint in binder.recent.latest { output.appendLittleEndian(fingerprint) }
        for device in binder.binding.devices.sorted(by: { $0.usedAt > $1.usedAt }) {
            var part: [UInt8] = [1]
            part.append(device)
            for stream in binder.binding.streams where stream.device == device.name {
                part.append(1)
                part.append(stream)
            }
            part.append(0)
            guard output.count + part.count + 1 + Self.hashBytes <= Self.maximumState else { break }
            output += part
        }
        output.append(0)
        output.appendLittleEndian(binder.identityKey.text(output.span, 0..<output.count))
        return output
    }

    /// Resumes from a saved state.
    ///
    /// - Parameters: as for a new decoder; line counts restart at zero.
    ///
    /// - Throws: `LogStateError` if the state is damaged, or of another version or key.
    public init(
        restoring state: [UInt8],
        _ options: LogDecoderOptions,
        pseudonyms: any Pseudonymising,
        identityKey: IdentityKey
    ) throws(LogStateError) {
        self.init(options, pseudonyms: pseudonyms, identityKey: identityKey)
        guard state.count <= Self.maximumState else { throw LogStateError(problem: "\(state.count) bytes") }
        do throws(EventRecordError) {
            var reader = RecordReader(start: 0)
            let bytes = state.span
            let version = try reader.byte(bytes)
            guard (Self.plainStateVersion...Self.stateVersion).contains(version) else {
                throw reader.error("another version")
            }
            let plainIds = version == Self.plainStateVersion ? pseudonyms : nil
            let end = state.count - Self.hashBytes
            guard end > 0, bytes.word(at: end) == identityKey.text(bytes, 0..<end) else {
                throw reader.error("damage, or another key")
            }
            binder.assumedTime = Timestamp(microseconds: try reader.zigzag(bytes))
            binder.binding.anchor = try reader.optionalTime(bytes)
            binder.binding.lineCount = try reader.varint(bytes)
            parser.unwrapper.header = try reader.logcatHeader(bytes)
            if version == Self.stateVersion { parser.carried = try reader.carriedCycles(bytes) }
            binder.lastStamp = try reader.zigzag(bytes)
            binder.recent = try reader.recentLines(bytes)
            while try reader.byte(bytes) == 1 {
                binder.binding.devices.append(
                    try reader.device(bytes, plainIds, areDecided: version == Self.stateVersion)
                )
                while try reader.byte(bytes) == 1 {
                    guard binder.binding.streams.count < LogBinding.maximumStreams else {
                        throw reader.error("too many streams")
                    }
                    binder.binding.streams.append(try reader.stream(bytes))
                }
                guard binder.binding.devices.count <= LogBinding.maximumDevices else {
                    throw reader.error("too many devices")
                }
            }
            let names = Set(binder.binding.devices.map(\.name))
            guard names.count == binder.binding.devices.count,
                binder.binding.streams.allSatisfy({ names.contains($0.device) })
            else {
                throw reader.error("streams of other devices")
            }
            if version <= Self.undecidedStateVersion {
                binder.decideInstallations(hasSources: version == Self.undecidedStateVersion)
            }
            isOfAnonymousSource = version == Self.plainStateVersion
            binder.binding.lastStream =
                binder.binding.streams.indices.max {
                    binder.binding.streams[$0].usedAt < binder.binding.streams[$1].usedAt
                } ?? 0
        } catch {
            throw LogStateError(problem: "\(error.problem)")
        }
    }
}

/// The saved state of a log decoder is unreadable.
public struct LogStateError: Error, Sendable, CustomStringConvertible {
    /// What is wrong with the state.
    public let problem: String

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected the saved state of a log's decoder, found \(problem); the log is read on without it, so that lines may bind "
            + "to new cycles"
    }
}

extension [UInt8] {
    fileprivate mutating func append(optional time: Timestamp?) {
        append(time == nil ? 0 : 1)
        if let time { appendVarint(zigzag: time.microseconds) }
    }

    /// The current header of `logcat -v long`.
    fileprivate mutating func append(logcatHeader header: UnwrappedLine?) {
        append(header == nil ? 0 : 1)
        guard let header else { return }
        append(header.stamp == nil ? 0 : 1)
        if let stamp = header.stamp {
            appendVarint(zigzag: stamp.wallMicroseconds)
            append(stamp.hasYear ? 1 : 0)
            append(optional: stamp.offsetSeconds.map { Int64($0) })
        }
        append(header.component.map { $0.rawValue + 1 } ?? 0)
        append(header.hasUnknownMarker ? 1 : 0)
        appendVarint(header.process)
    }

    fileprivate mutating func append(_ device: LogDevice) {
        appendLittleEndian(device.name)
        append(device.installation == nil ? 0 : 1)
        if let installation = device.installation {
            appendLittleEndian(installation.high)
            appendLittleEndian(installation.low)
        }
        appendVarint(device.usedAt)
        appendVarint(UInt64(device.lastSerial))
        appendVarint(UInt64(device.cycles.count))
        for cycle in device.cycles { append(cycle) }
        appendVarint(UInt64(device.held.count))
        for held in device.held { append(held) }
    }

    fileprivate mutating func append(_ stream: LogStream) {
        appendLittleEndian(stream.device)
        appendVarint(stream.process)
        appendVarint(UInt64(stream.scheduling))
        appendVarint(UInt64(stream.execution))
        appendVarint(UInt64(stream.delivery))
        append(stream.phase.rawValue | (stream.isBackInDelivered ? LogStream.backInDelivered : 0))
        append(optional: stream.last)
        append(optional: stream.anchor)
        appendVarint(stream.usedAt)
    }

    private mutating func append(_ cycle: KnownCycle) {
        appendVarint(UInt64(cycle.serial))
        appendVarint(cycle.process)
        appendLittleEndian(cycle.idHash)
        appendVarint(UInt64(cycle.id.text.count))
        append(contentsOf: cycle.id.text)
        appendLittleEndian(cycle.id.schedule)
        append(optional: cycle.due)
        append(optional: cycle.begin)
        append(cycle.progress.rawValue)
        append(cycle.results.rawValue)
        switch cycle.installation {
        case .undecided: append(0)
        case .decided(nil): append(1)
        case .decided(let installation?):
            append(2)
            appendLittleEndian(installation.high)
            appendLittleEndian(installation.low)
        }
    }

    fileprivate mutating func append(_ carried: CarriedCycles?) {
        append(optional: carried?.until)
        guard let carried else { return }
        appendVarint(UInt64(carried.cycles.count))
        for cycle in carried.cycles {
            appendLittleEndian(cycle.schedule)
            append(optional: cycle.due)
            appendVarint(zigzag: cycle.end.microseconds)
        }
    }

    private mutating func append(_ held: HeldEvent) {
        append(held.message)
        appendVarint(UInt64(held.texts.count))
        append(contentsOf: held.texts)
        appendVarint(zigzag: held.timestamp.microseconds)
        append(held.isTimeAssumed ? 1 : 0)
        appendVarint(UInt64(held.cycle))
        append(held.yearless)
        appendVarint(held.process)
        append(held.isTentative ? 1 : 0)
        appendVarint(zigzag: held.readAt.microseconds)
    }

    private mutating func append(_ message: LogMessage) {
        append(message.form.kind?.rawValue ?? 0)
        append(optional: message.due)
        append(optional: message.begin)
        for number in [message.duration, message.age, message.byteCount, message.itemCount] { append(optional: number) }
        append(optional: message.ttl.map { Int64($0) })
        append(optional: message.status.map { Int64($0) })
        append(message.reason.map { $0.rawValue + 1 } ?? 0)
        for flag in [message.willRetry, message.isSuccessful, message.usedCached] {
            append(flag.map { $0 ? 2 : 1 } ?? 0)
        }
        for text in [message.error, message.contentHash, message.scheduleHash, message.counters] {
            appendVarint(text.isEmpty ? 0 : UInt64(text.lowerBound))
            appendVarint(UInt64(text.count))
        }
    }

    private mutating func append(optional number: Int64?) {
        append(number == nil ? 0 : 1)
        if let number { appendVarint(zigzag: number) }
    }

    private mutating func append(_ stamp: YearlessStamp?) {
        append(stamp == nil ? 0 : 1)
        guard let stamp else { return }
        appendVarint(zigzag: stamp.wallMicroseconds)
        append(stamp.offset == nil ? 0 : 1)
        if let offset = stamp.offset { appendVarint(zigzag: Int64(offset)) }
    }
}

extension RecordReader {
    private mutating func flag(_ bytes: Span<UInt8>) throws(EventRecordError) -> Bool {
        switch try byte(bytes) {
        case 0: return false
        case 1: return true
        default: throw error("a flag that is neither 0 nor 1")
        }
    }

    fileprivate mutating func optionalTime(_ bytes: Span<UInt8>) throws(EventRecordError) -> Timestamp? {
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

    fileprivate mutating func recentLines(_ bytes: Span<UInt8>) throws(EventRecordError) -> RecentLines {
        let previous = try littleEndian(bytes, size: 8)
        var latest: [UInt64] = []
        for _ in 0..<(try count(bytes, upTo: RecentLines.kept)) { latest.append(try littleEndian(bytes, size: 8)) }
        return RecentLines(latest: latest, previous: previous)
    }

    fileprivate mutating func logcatHeader(_ bytes: Span<UInt8>) throws(EventRecordError) -> UnwrappedLine? {
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

    /// - Parameter plainIds: replaces ids of a state that holds them as they were sent; nil where they have their shape.
    fileprivate mutating func device(
        _ bytes: Span<UInt8>,
        _ plainIds: (any Pseudonymising)?,
        areDecided: Bool
    ) throws(EventRecordError) -> LogDevice {
        let name = try littleEndian(bytes, size: 8)
        var installation: Pseudonym?
        if try flag(bytes) {
            let high = try littleEndian(bytes, size: 8)
            installation = Pseudonym(high: high, low: try littleEndian(bytes, size: 8))
        }
        var device = LogDevice(name: name, installation: installation)
        device.usedAt = try varint(bytes)
        device.lastSerial = try serial(bytes)
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumCycles)) {
            var cycle = try cycle(bytes, plainIds)
            if areDecided { try readInstallation(of: &cycle, bytes) }
            device.cycles.append(cycle)
        }
        for _ in 0..<(try count(bytes, upTo: LogDevice.maximumHeld)) { device.held.append(try held(bytes)) }
        return device
    }

    private mutating func cycle(
        _ bytes: Span<UInt8>,
        _ plainIds: (any Pseudonymising)?
    ) throws(EventRecordError) -> KnownCycle {
        let serial = try serial(bytes)
        var cycle = KnownCycle(serial: serial, process: try varint(bytes))
        cycle.idHash = try littleEndian(bytes, size: 8)
        var id: [UInt8] = []
        id.append(bytes, try text(bytes))
        if let plainIds, !id.isEmpty {
            cycle.id = KnownId(id, plainIds)
        } else {
            cycle.id.text = id
            if plainIds == nil { cycle.id.schedule = try littleEndian(bytes, size: 8) }
        }
        cycle.due = try optionalTime(bytes)
        cycle.begin = try optionalTime(bytes)
        cycle.progress = KnownCycle.Progress(rawValue: try byte(bytes))
        return cycle
    }

    private mutating func readInstallation(
        of cycle: inout KnownCycle,
        _ bytes: Span<UInt8>
    ) throws(EventRecordError) {
        cycle.results = KnownCycle.Results(rawValue: try byte(bytes))
        switch try byte(bytes) {
        case 0: cycle.installation = .undecided
        case 1: cycle.installation = .decided(nil)
        case 2:
            let high = try littleEndian(bytes, size: 8)
            cycle.installation = .decided(Pseudonym(high: high, low: try littleEndian(bytes, size: 8)))
        default: throw error("an unknown kind of installation")
        }
    }

    fileprivate mutating func carriedCycles(_ bytes: Span<UInt8>) throws(EventRecordError) -> CarriedCycles? {
        guard let until = try optionalTime(bytes) else { return nil }
        var cycles: [CarriedCycles.Cycle] = []
        for _ in 0..<(try count(bytes, upTo: CarriedCycles.maximum)) {
            let schedule = try littleEndian(bytes, size: 8)
            let due = try optionalTime(bytes)
            cycles.append(
                CarriedCycles.Cycle(
                    schedule: schedule,
                    due: due,
                    end: Timestamp(microseconds: try zigzag(bytes))
                )
            )
        }
        return CarriedCycles(cycles, until: until)
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

    fileprivate mutating func stream(_ bytes: Span<UInt8>) throws(EventRecordError) -> LogStream {
        let device = try littleEndian(bytes, size: 8)
        var stream = LogStream(device: device, process: try varint(bytes))
        stream.scheduling = try serial(bytes)
        stream.execution = try serial(bytes)
        stream.delivery = try serial(bytes)
        let told = try byte(bytes)
        guard let phase = LogRule.Phase(rawValue: told & ~LogStream.backInDelivered) else {
            throw error("an unknown phase")
        }
        stream.phase = phase
        stream.isBackInDelivered = told & LogStream.backInDelivered != 0
        stream.last = try optionalTime(bytes)
        stream.anchor = try optionalTime(bytes)
        stream.usedAt = try varint(bytes)
        return stream
    }
}

extension LogStream {
    /// The bit beside its phase that says that its last lines came back to a delivered cycle.
    fileprivate static let backInDelivered: UInt8 = 1 << 7
}

extension LogMessage {
    /// The texts of a held event, in the order of the state's format.
    fileprivate static var texts: [WritableKeyPath<LogMessage, Event.Text>] {
        [\.error, \.contentHash, \.scheduleHash, \.counters]
    }
}
