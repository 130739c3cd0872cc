// SPDX-License-Identifier: Apache-2.0

/// Gives parsed messages their time and their cycle, and makes events of them (SPEC 3.3).
///
/// Pieces come in the order in which they were parsed. Memory is bounded: what waits for its schedule id gives way when there
/// is too much of it.
public struct LogBinder: Sendable {
    let options: LogDecoderOptions
    let pseudonyms: any Pseudonymising
    let identityKey: IdentityKey

    var binding = LogBinding()
    var recent = RecentLines()
    /// By the wall clock.
    var lastStamp = Int64.min
    var devices = PseudonymCache()
    /// The texts of the event that is made.
    var texts = EventTexts()
    var decoded = DecodedEvents()
    /// The time that the next line without a stamp is given, so that such lines keep their order.
    var assumedTime = Timestamp(microseconds: 0)
    var readAt = Timestamp(microseconds: 0)

    /// Starts at the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: those that the parser has.
    ///   - pseudonyms: what replaces the names of devices.
    ///   - identityKey: the key that the parser has.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
    }

    /// Binds the messages of a piece. Events whose cycle is not known yet come with a later call.
    public mutating func bind(_ parsed: ParsedLog, readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        decoded.lines = parsed.lines
        decoded.events.reserve(bytes: parsed.messages.count * 96, events: parsed.messages.count)
        if options.isLive { releaseOld() }
        binding.lifetimes.add(parsed.messages)
        let bytes = parsed.texts.bytes.span
        var next = 0
        for index in parsed.messages.indices {
            while next < parsed.events.count, parsed.events[next].messages <= index { append(parsed, next: &next) }
            let novelty = novelty(of: parsed.messages[index])
            take(parsed.messages[index], bytes, novelty)
        }
        while next < parsed.events.count { append(parsed, next: &next) }
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

    /// A line that was there before, behind another one, and is older than the last one is a repetition too.
    private mutating func novelty(of parsed: ParsedMessage) -> RecentLines.Novelty {
        guard parsed.fingerprint != 0, let stamp = parsed.stamp else { return .new }
        let isOlder = stamp.wallMicroseconds < lastStamp
        lastStamp = stamp.wallMicroseconds
        let namesItsCycle = parsed.schedule != 0 || parsed.message.due != nil
        let novelty = recent.note(parsed.fingerprint ^ parsed.device | 1, namesItsCycle: namesItsCycle)
        return novelty == .similar && isOlder ? .repeated : novelty
    }

    private mutating func append(_ parsed: ParsedLog, next: inout Int) {
        decoded.append(parsed.events[next].decoded, firstLine: parsed.events[next].firstLine)
        next += 1
    }

    private mutating func begin(_ readAt: Timestamp) {
        self.readAt = readAt
        assumedTime = max(assumedTime, readAt)
        decoded = DecodedEvents()
    }

    private mutating func end() -> DecodedEvents {
        decoded.isBlank = decoded.lines.read == 0 && decoded.events.count == 0
        decoded.events.finish()
        defer { decoded = DecodedEvents() }
        return decoded
    }
}

extension LogBinder {
    /// Takes in a message: finds its stream, time and cycle, and lets its event out or holds it back.
    ///
    /// - Parameters:
    ///   - bytes: what the texts of the message are ranges of.
    ///   - novelty: of a line that is told again only the time counts; one that is similar begins no cycle.
    mutating func take(_ parsed: ParsedMessage, _ bytes: Span<UInt8>, _ novelty: RecentLines.Novelty) {
        let stream = stream(of: parsed, bytes)
        let device = binding.device(ofStream: stream)
        binding.devices[device].usedAt = binding.lineCount
        if let absolute = parsed.message.due ?? parsed.message.begin { anchor(absolute, stream, device) }
        let time = time(of: parsed.stamp, stream: stream)
        if parsed.message.form.meaning == .nothing || novelty == .repeated { return }

        let process = binding.streams[stream].process
        if !binding.devices[device].held.isEmpty,
            parsed.message.form.kind == .prefetchExecuted || parsed.message.form.phase == .delivery
        {
            settle(device, process, nil)
        }
        makeRoom(device)
        var id: [UInt8] = []
        if parsed.schedule != 0, !binding.devices[device].knows(parsed.schedule) {
            id = identifier(bytes, parsed.message.scheduleId)
        }
        let place = binding.cycle(
            of: parsed.message,
            stream: stream,
            device: device,
            idHash: parsed.schedule,
            id: id,
            time: time.known,
            mayOpen: novelty == .new
        )
        if place == nil, novelty == .similar { return }
        if let place { note(parsed.message, place, device, process) }
        if parsed.message.form.meaning != .cycle { send(parsed, place, device, process, time, bytes) }
        if let place, !binding.devices[device].held.isEmpty { releaseNamed(device, place) }
    }

    /// Remembers what a message says about its cycle, for the lines that follow.
    private mutating func note(_ message: LogMessage, _ place: Int, _ device: Int, _ process: UInt64) {
        if let begin = message.begin { binding.devices[device].cycles[place].begin = begin }
        if message.form.phase == .execution, message.form.kind != .prefetchExecuted,
            !binding.devices[device].held.isEmpty
        {
            settle(device, process, binding.devices[device].cycles[place].serial)
        }
        switch message.form.kind {
        case .prefetchScheduled:
            binding.devices[device].cycles[place].progress.insert(.scheduled)
            binding.devices[device].cycles[place].progress.remove(.missed)
        case .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted:
            binding.devices[device].cycles[place].progress.insert(.ended)
        case .prefetchMissed: binding.devices[device].cycles[place].progress.insert(.missed)
        case .notificationDelivered: binding.devices[device].cycles[place].progress.insert(.delivered)
        default: break
        }
    }

    private mutating func send(
        _ parsed: ParsedMessage,
        _ place: Int?,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime,
        _ bytes: Span<UInt8>
    ) {
        guard let kind = parsed.message.form.kind else { return }
        if kind == .prefetchUsedForNotification, parsed.message.isFromElsewhere { return }
        texts.removeAll()
        guard parsed.message.hasTexts else { return send(parsed, parsed.message, kind, place, device, process, time) }
        var message = parsed.message
        moveTexts(of: &message, bytes)
        send(parsed, message, kind, place, device, process, time)
    }

    /// Sends a message whose texts are those of `texts`.
    private mutating func send(
        _ parsed: ParsedMessage,
        _ message: LogMessage,
        _ kind: EventKind,
        _ place: Int?,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime
    ) {
        let isTentative = kind == .prefetchExecuted && parsed.schedule == 0
        if kind == .prefetchExecuted, !isTentative, let place { binding.devices[device].cycles[place].execute() }
        let isBound = place.map { binding.devices[device].cycles[$0].isBound } ?? !kind.belongsToCycle
        if isBound, !isTentative, let known = time.any {
            return emit(message, known, isTimeAssumed: time.isAssumed, place, device, line: parsed.line)
        }
        var yearless: YearlessStamp?
        if case .yearless(let stamp) = time { yearless = stamp }
        hold(
            HeldEvent(
                message: message,
                timestamp: time.any ?? .earliestAccepted,
                isTimeAssumed: time.isAssumed,
                texts: texts.bytes,
                cycle: place.map { binding.devices[device].cycles[$0].serial } ?? 0,
                yearless: yearless,
                process: process,
                isTentative: isTentative,
                readAt: readAt,
                line: parsed.line
            ),
            device
        )
    }

    /// Copies the texts of a message to `texts`.
    private mutating func moveTexts(of message: inout LogMessage, _ bytes: Span<UInt8>) {
        if !message.error.isEmpty { message.error = texts.copy(bytes, message.error) }
        if !message.contentHash.isEmpty { message.contentHash = texts.copy(bytes, message.contentHash) }
        if !message.scheduleHash.isEmpty { message.scheduleHash = texts.copy(bytes, message.scheduleHash) }
        if !message.counters.isEmpty { message.counters = texts.copy(bytes, message.counters) }
    }

    /// The schedule id as it may be stored.
    private mutating func identifier(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        texts.removeAll()
        let copy = texts.append(bytes.validIdentifier(range))
        let safe = texts.identifier(copy, pseudonyms)
        return Array(texts.bytes[safe])
    }

    /// Lets an event out with what is known of its cycle; the message's texts are those of `texts`.
    mutating func emit(
        _ message: LogMessage,
        _ time: Timestamp,
        isTimeAssumed: Bool,
        _ place: Int?,
        _ device: Int,
        line: Int
    ) {
        guard let kind = message.form.kind else { return }
        guard time >= .earliestAccepted else { return reject(.timestampTooOld, line) }
        guard time.microseconds - readAt.microseconds <= Timestamp.acceptedLead else {
            return reject(.timestampInFuture, line)
        }
        var event = Event(kind: kind, timestamp: time)
        event.isTimeAssumed = isTimeAssumed
        event.installation = installation(place, device)
        event.scheduledFor = message.due
        event.earliestBeginDate = message.begin
        event.duration = message.duration
        event.age = message.age
        event.byteCount = message.byteCount
        event.itemCount = message.itemCount
        event.ttl = message.ttl.map { Int64($0) }
        event.status = message.status.map { Int64($0) }
        event.reason = message.reason
        event.willRetry = message.willRetry
        event.fetched = message.isSuccessful
        event.usedCached = message.usedCached
        event.error = message.error
        event.contentHash = message.contentHash
        event.scheduleHash = message.scheduleHash
        event.clientCounters = message.counters
        if let place {
            event.scheduleId = texts.append(binding.devices[device].cycles[place].id)
            event.scheduledFor = event.scheduledFor ?? binding.devices[device].cycles[place].due
            if kind == .prefetchScheduled, event.earliestBeginDate == nil {
                event.earliestBeginDate = binding.devices[device].cycles[place].begin
            }
        }
        let held = texts.bytes
        decoded.events.appendOneOfMany(event, texts: held.span)
        if isTimeAssumed, options.tellsUntimedLines { decoded.untimedLines.append(line) }
        if options.identifies { decoded.identities.append(identityKey.identity(of: event, in: held.span)) }
    }

    /// What stands for the device, or for one of several processes that live on it side by side.
    private func installation(_ place: Int?, _ device: Int) -> Pseudonym? {
        if let installation = options.installation { return installation }
        guard let place, binding.devices[device].cycles[place].progress.contains(.apart) else {
            return binding.devices[device].installation
        }
        return identityKey.process(binding.devices[device].cycles[place].process, of: binding.devices[device].name)
    }

    private mutating func reject(_ reason: RejectionReason, _ line: Int) {
        decoded.reject(Rejection(index: line, reason: reason, field: .timestamp))
    }
}

extension KnownCycle {
    /// Whether its events have what an event must have, and wait for nothing.
    var isBound: Bool { idHash != 0 || progress.contains(.released) }

    mutating func execute() {
        progress.insert(.executed)
        progress.remove(.ended)
    }
}

extension LogDevice {
    func knows(_ idHash: UInt64) -> Bool {
        cycles.contains { $0.idHash == idHash }
    }

    /// The id of a cycle with this hash, as it may be stored.
    func id(of idHash: UInt64) -> [UInt8] {
        lastIndex { $0.idHash == idHash }.map { cycles[$0].id } ?? []
    }
}

extension Span<UInt8> {
    /// An identifier with what is no UTF-8 replaced, which makes it longer; cut to what an identifier may have.
    fileprivate func validIdentifier(_ range: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(self, range)
        let valid = Array(String(decoding: copy, as: UTF8.self).utf8)
        guard valid.count > 128 else { return valid }
        let end = valid[...128].lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return Array(valid[..<end])
    }
}

extension LogBinder {
    /// The stream that a line belongs to; a line that names neither device nor process nor time belongs to the last one.
    mutating func stream(of parsed: ParsedMessage, _ bytes: Span<UInt8>) -> Int {
        binding.lineCount += 1
        if parsed.device == 0, parsed.process == 0, parsed.stamp == nil, !binding.streams.isEmpty {
            return binding.use(binding.lastStream)
        }
        let name = device(named: parsed.device, bytes, parsed.deviceName)
        if let known = binding.stream(device: name, process: parsed.process) { return binding.use(known) }
        if !binding.devices.contains(where: { $0.name == name }) {
            let installation =
                name == 0 ? nil : devices.pseudonym(of: bytes, parsed.deviceName, pseudonyms)
            openDevice(LogDevice(name: name, installation: installation))
        }
        return binding.use(binding.openStream(device: name, process: parsed.process))
    }

    /// The device that a line is of: one without a name is the one that other lines name, as long as they name only one.
    private mutating func device(named name: UInt64, _ bytes: Span<UInt8>, _ text: Event.Text) -> UInt64 {
        guard binding.devices.count == 1 else { return name }
        if name == 0 { return binding.devices[0].name }
        if binding.devices[0].name == 0 {
            binding.nameOnlyDevice(name, devices.pseudonym(of: bytes, text, pseudonyms))
        }
        return name
    }

    private mutating func openDevice(_ device: LogDevice) {
        if binding.devices.count >= LogBinding.maximumDevices {
            let oldest = binding.devices.indices.min { binding.devices[$0].usedAt < binding.devices[$1].usedAt } ?? 0
            releaseAll(oldest)
            binding.dropDevice(oldest)
        }
        binding.devices.append(device)
    }
}

extension LogBinding {
    func stream(device: UInt64, process: UInt64) -> Int? {
        if lastStream < streams.count, streams[lastStream].device == device, streams[lastStream].process == process {
            return lastStream
        }
        return streams.firstIndex { $0.device == device && $0.process == process }
    }

    mutating func use(_ stream: Int) -> Int {
        lastStream = stream
        streams[stream].usedAt = lineCount
        return stream
    }

    /// Gives the only device the name that was missing.
    mutating func nameOnlyDevice(_ name: UInt64, _ installation: Pseudonym) {
        devices[0].name = name
        devices[0].installation = installation
        for index in streams.indices { streams[index].device = name }
    }

    func device(ofStream stream: Int) -> Int {
        if devices.count == 1 { return 0 }
        let name = streams[stream].device
        return devices.firstIndex { $0.name == name } ?? 0
    }

    /// Opens a stream in place of the one that was not used for longest when there are too many.
    mutating func openStream(device: UInt64, process: UInt64) -> Int {
        if streams.count >= Self.maximumStreams,
            let oldest = streams.indices.min(by: { streams[$0].usedAt < streams[$1].usedAt })
        {
            streams.remove(at: oldest)
        }
        streams.append(LogStream(device: device, process: process))
        return streams.count - 1
    }

    mutating func dropDevice(_ index: Int) {
        let name = devices[index].name
        devices.remove(at: index)
        streams.removeAll { $0.device == name }
        lastStream = 0
    }
}
