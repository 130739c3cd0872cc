// SPDX-License-Identifier: Apache-2.0

/// Assigns a time and a cycle to parsed messages and turns them into events (docs/log-validation.md).
///
/// Chunks must be bound in parse order. Memory is bounded: when too many events wait for a schedule id, the oldest are
/// emitted without.
public struct LogBinder: Sendable {
    private(set) var options: LogDecoderOptions
    let pseudonyms: any Pseudonymising
    let identityKey: IdentityKey

    var binding = LogBinding()
    var recent = RecentLines()
    /// The wall clock of the last stamped line.
    var lastStamp = Int64.min
    var devices = PseudonymCache()
    /// The texts of the event under construction.
    var texts = EventTexts()
    private var decoded = DecodedEvents()
    /// The time assigned to the next line without a stamp, so that such lines keep their order.
    var assumedTime = Timestamp(microseconds: 0)
    var readAt = Timestamp(microseconds: 0)
    /// The time assigned to the next line before the first stamp of a file, so that such lines come just before it.
    var headTime: Timestamp?

    /// Creates a binder for the beginning of a log.
    ///
    /// - Parameters:
    ///   - options: the parser's options.
    ///   - pseudonyms: replaces the names of devices.
    ///   - identityKey: the parser's key.
    public init(_ options: LogDecoderOptions, pseudonyms: any Pseudonymising, identityKey: IdentityKey) {
        self.options = options
        self.pseudonyms = pseudonyms
        self.identityKey = identityKey
    }

    /// Binds the messages of a chunk. Events whose cycle is not yet known are returned by a later call.
    public mutating func bind(_ parsed: ParsedLog, readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        decoded.lines = parsed.lines
        decoded.altered = parsed.altered
        decoded.events.reserve(bytes: parsed.messages.count * 96, events: parsed.messages.count)
        if options.isLive {
            releaseExpired()
        } else if lastStamp == .min {
            headTime = headTime(in: parsed) ?? headTime
        }
        binding.lifetimes.add(parsed.messages)
        let bytes = parsed.texts.bytes.span
        var next = 0
        for index in parsed.messages.indices {
            while next < parsed.events.count, parsed.events[next].messages <= index { append(parsed, next: &next) }
            let message = parsed.messages[index]
            bindMessage(message, bytes, novelty(of: message))
        }
        while next < parsed.events.count { append(parsed, next: &next) }
        return end()
    }

    /// Emits all waiting events.
    ///
    /// Call it at the end of a log, and when a live log has been idle for a while.
    public mutating func flush(readAt: Timestamp) -> DecodedEvents {
        begin(readAt)
        for device in binding.devices.indices { releaseAll(device) }
        return end()
    }

    mutating func assign(_ installation: Pseudonym) { options.installation = installation }

    /// Takes the lines from here on that name no other device for those of an installation; nil where it has no name.
    public mutating func assignSource(_ installation: Pseudonym?) { options.source = installation }

    /// Continues with the next part of a log that is stored in several files.
    public mutating func beginPart() {
        binding.lifetimes.beginPart()
    }

    /// Classifies a line; one seen before in another context is also a repetition if it is older than the previous
    /// line.
    private mutating func novelty(of parsed: ParsedMessage) -> RecentLines.Novelty {
        guard parsed.fingerprint != 0, let stamp = parsed.stamp else { return .new }
        let isOlder = stamp.wallMicroseconds < lastStamp
        lastStamp = stamp.wallMicroseconds
        let namesItsCycle = parsed.schedule != 0 || parsed.message.due != nil
        let novelty = recent.note(parsed.fingerprint ^ parsed.device | 1, namesItsCycle: namesItsCycle)
        return novelty == .similar && isOlder ? .repeated : novelty
    }

    private mutating func append(_ parsed: ParsedLog, next: inout Int) {
        // The lines behind an event in a log without stamps are of its time.
        if !options.isLive, lastStamp == .min, !parsed.messages.isEmpty,
            let last = parsed.events[next].decoded.events.times?.last
        {
            headTime = accepted(Timestamp(microseconds: last.microseconds + 1))
        }
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
        if options.installation == nil { decoded.doubts = binding.doubts }
        decoded.events.finish()
        if decoded.hashes.count != decoded.events.count { decoded.hashes = EventHashes() }
        defer { decoded = DecodedEvents() }
        return decoded
    }

    // MARK: Binding and emitting

    /// Binds a message to its stream, time and cycle, and emits or holds its event.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the message's texts are ranges of.
    ///   - novelty: a repeated line contributes only its time; a similar one opens no cycle.
    private mutating func bindMessage(_ parsed: ParsedMessage, _ bytes: Span<UInt8>, _ novelty: RecentLines.Novelty) {
        let stream = stream(of: parsed, bytes)
        let device = binding.device(ofStream: stream)
        binding.devices[device].usedAt = binding.lineCount
        if parsed.message.form.isOfRefresh {
            return bindRefresh(parsed, stream, device, bytes, novelty)
        }
        if novelty == .new, parsed.fingerprint != 0, let stamp = parsed.stamp,
            binding.devices[device].stamped.add(stamp)
        {
            binding.doubts.insert(.stamps)
        }
        if let absolute = parsed.message.due ?? parsed.message.begin { anchor(absolute, stream, device) }
        let time = time(of: parsed, stream: stream, isNew: novelty == .new)
        if parsed.message.form.meaning == .nothing || novelty == .repeated { return }

        let process = binding.streams[stream].process
        if parsed.message.form.kind == .prefetchScheduleFailed, noteRefusal(parsed, stream) { return }
        if parsed.message.form.kind == .apiCall {
            return bindCall(parsed, stream, device, process, time, bytes)
        }
        if !binding.devices[device].held.isEmpty {
            if parsed.message.form.kind == .prefetchExecuted {
                // The same execution told again still waits for the line that names its cycle.
                if novelty == .similar, holdsExecution(device, process, at: time.any) { return }
                confirmExecution(device, process, nil, isAlone: true)
            } else if parsed.message.form.phase == .delivery {
                confirmExecution(device, process, nil)
            }
        }
        evictCycle(device)
        var id = KnownId()
        if parsed.schedule != 0, !binding.devices[device].knows(parsed.schedule) {
            id = KnownId(bytes.validIdentifier(parsed.message.scheduleId), pseudonyms)
        }
        let cycleIndex = binding.cycle(
            of: parsed.message,
            stream: stream,
            device: device,
            idHash: parsed.schedule,
            id: id,
            time: time.known,
            mayOpen: novelty == .new
        )
        if cycleIndex == nil, novelty == .similar || parsed.message.form.kind == .schedulePersisted { return }
        var parsed = parsed
        if let cycleIndex {
            if parsed.message.form.phase != .scheduling, let known = time.known {
                binding.devices[device].cycles[cycleIndex].seen = known
            }
            update(with: &parsed.message, cycleIndex, device, process, at: time.any)
        }
        // A denial that names no schedule is about the whole device.
        let isOfDevice =
            parsed.message.form.kind == .notificationDenied && parsed.schedule == 0
            && parsed.message.due == nil
        if parsed.message.form.meaning != .cycle {
            emitOrHold(parsed, isOfDevice ? nil : cycleIndex, device, process, time, bytes)
        }
        if let cycleIndex, !binding.devices[device].held.isEmpty { releaseNamed(device, cycleIndex) }
    }

    /// Emits an event of the background refresh. It belongs to no cycle, and what it shows of processes and times says
    /// nothing about those of the plugin.
    private mutating func bindRefresh(
        _ parsed: ParsedMessage,
        _ stream: Int,
        _ device: Int,
        _ bytes: Span<UInt8>,
        _ novelty: RecentLines.Novelty
    ) {
        let time = time(of: parsed, stream: stream, isNew: novelty == .new)
        if novelty == .repeated { return }
        emitOrHold(parsed, nil, device, binding.streams[stream].process, time, bytes)
    }

    /// Emits a call with the cycle that its process runs, if that is certain: a call names none, so it must not decide
    /// which one an execution belongs to.
    private mutating func bindCall(
        _ parsed: ParsedMessage,
        _ stream: Int,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime,
        _ bytes: Span<UInt8>
    ) {
        let isOpen = holdsExecution(device, process, at: nil)
        let cycleIndex = isOpen ? nil : binding.devices[device].index(of: binding.streams[stream].execution)
        emitOrHold(parsed, cycleIndex, device, process, time, bytes)
    }

    /// Notes that the system refused to schedule: the plugin writes the error, and a hint that it is expected on a simulator.
    ///
    /// - Returns: whether the other one of the two has told of it.
    private mutating func noteRefusal(_ parsed: ParsedMessage, _ stream: Int) -> Bool {
        let time = parsed.stamp?.wallMicroseconds ?? (options.isLive ? readAt.microseconds : 0)
        return binding.streams[stream].refusal.note(
            isHint: parsed.message.form.remainder == .refusal,
            at: time
        )
    }

    /// Updates the cycle with what a message says about it, and takes from the message the reason of a failure for which
    /// another line has told it.
    private mutating func update(
        with message: inout LogMessage,
        _ cycleIndex: Int,
        _ device: Int,
        _ process: UInt64,
        at time: Timestamp?
    ) {
        if let begin = message.begin { binding.devices[device].cycles[cycleIndex].begin = begin }
        if message.form.phase == .execution, message.form.kind != .prefetchExecuted,
            !binding.devices[device].held.isEmpty
        {
            confirmExecution(device, process, binding.devices[device].cycles[cycleIndex].serial, at: time)
        }
        if binding.devices[device].cycles[cycleIndex].knowsReason(for: message) { message.reason = nil }
        switch message.form.kind {
        case .prefetchScheduled:
            binding.devices[device].cycles[cycleIndex].progress.insert(.scheduled)
            binding.devices[device].cycles[cycleIndex].progress.remove(.missed)
        case .prefetchSuccess, .prefetchFailure, .prefetchExpired, .prefetchCompleted:
            binding.devices[device].cycles[cycleIndex].progress.insert(.ended)
            if binding.devices[device].cycles[cycleIndex].note(message) { binding.doubts.insert(.results) }
        case .prefetchMissed: binding.devices[device].cycles[cycleIndex].progress.insert(.missed)
        case .notificationDelivered: binding.devices[device].cycles[cycleIndex].progress.insert(.delivered)
        default: break
        }
    }

    private mutating func emitOrHold(
        _ parsed: ParsedMessage,
        _ cycleIndex: Int?,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime,
        _ bytes: Span<UInt8>
    ) {
        guard let kind = parsed.message.form.kind else { return }
        if kind == .prefetchUsedForNotification, parsed.message.isFromElsewhere { return }
        texts.removeAll()
        guard parsed.message.hasTexts else {
            return emitOrHold(parsed, parsed.message, kind, cycleIndex, device, process, time)
        }
        var message = parsed.message
        copyTexts(of: &message, bytes)
        emitOrHold(parsed, message, kind, cycleIndex, device, process, time)
    }

    /// Emits or holds a message whose texts are ranges of `texts`.
    private mutating func emitOrHold(
        _ parsed: ParsedMessage,
        _ message: LogMessage,
        _ kind: EventKind,
        _ cycleIndex: Int?,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime
    ) {
        let isTentative = kind == .prefetchExecuted && parsed.schedule == 0
        if kind == .prefetchExecuted, !isTentative, let cycleIndex {
            binding.devices[device].cycles[cycleIndex].execute()
        }
        let isBound = cycleIndex.map { binding.devices[device].cycles[$0].isBound } ?? !kind.belongsToCycle
        if isBound, !isTentative, let known = time.any {
            return emit(message, known, isTimeAssumed: time.isAssumed, cycleIndex, device, line: parsed.line)
        }
        var yearless: YearlessStamp?
        if case .yearless(let stamp) = time { yearless = stamp }
        hold(
            HeldEvent(
                message: message,
                timestamp: time.any ?? .earliestAccepted,
                isTimeAssumed: time.isAssumed,
                texts: message.hasTexts ? texts.bytes : [],
                cycle: cycleIndex.map { binding.devices[device].cycles[$0].serial } ?? 0,
                yearless: yearless,
                process: process,
                isTentative: isTentative,
                readAt: readAt,
                line: parsed.line
            ),
            device
        )
    }

    /// Copies the texts of a message into `texts`.
    private mutating func copyTexts(of message: inout LogMessage, _ bytes: Span<UInt8>) {
        if !message.error.isEmpty { message.error = texts.copy(bytes, message.error) }
        if !message.contentHash.isEmpty { message.contentHash = texts.copy(bytes, message.contentHash) }
        if !message.scheduleHash.isEmpty { message.scheduleHash = texts.copy(bytes, message.scheduleHash) }
        if !message.counters.isEmpty { message.counters = texts.copy(bytes, message.counters) }
    }

    /// Emits an event with what is known of its cycle; the message's texts are ranges of `texts`.
    mutating func emit(
        _ message: LogMessage,
        _ time: Timestamp,
        isTimeAssumed: Bool,
        _ cycleIndex: Int?,
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
        event.installation = installation(cycleIndex, device)
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
        if message.conditions.bits != 0 { event.conditions = message.conditions }
        if let isSimulator = options.isSimulator, event.isSimulator == nil { event.isSimulator = isSimulator }
        event.minutes = message.minutes.map { Int64($0) }
        if message.platform != .unknown { event.platform = texts.appended(message.platform.name) }
        if let cycleIndex {
            let id = binding.devices[device].id(at: cycleIndex)
            event.scheduleId = texts.append(id.text)
            event.scheduledFor = event.scheduledFor ?? binding.devices[device].cycles[cycleIndex].due
            if kind == .prefetchScheduled, event.earliestBeginDate == nil {
                event.earliestBeginDate = binding.devices[device].cycles[cycleIndex].begin
            }
            if id.isPseudonym { keepOriginals(of: &event, id, cycleIndex, device) }
        }
        let held = texts.bytes
        decoded.events.appendOneOfMany(event, texts: held.span)
        if isTimeAssumed, options.reportsUntimedLines { decoded.untimedLines.append(line) }
        if options.reportsPlaces { decoded.places.append(EventPlace(line: line, isLogLine: true)) }
        if options.identifies { decoded.hashes.append(identityKey.hashes(of: event, in: held.span)) }
    }

    /// Keeps the hashes of the event under the id that a pseudonym stands for; after a restart only its schedule's is known.
    private mutating func keepOriginals(of event: inout Event, _ id: KnownId, _ cycleIndex: Int, _ device: Int) {
        decoded.altered[.scheduleId] += 1
        guard !id.original.isEmpty else {
            guard id.schedule != 0 else { return }
            event.originals = texts.append(OriginalHashes(identity: nil, schedule: id.schedule))
            return
        }
        let pseudonym = event.scheduleId
        event.scheduleId = texts.append(id.original)
        let originals = identityKey.originals(of: event, in: texts.bytes.span)
        event.scheduleId = pseudonym
        event.originals = texts.append(originals)
        binding.devices[device].cycles[cycleIndex].id.schedule = originals.schedule ?? 0
    }

    private mutating func reject(_ reason: RejectionReason, _ line: Int) {
        decoded.reject(Rejection(index: line, reason: reason, field: .timestamp))
    }
}

extension Span<UInt8> {
    /// The identifier with invalid UTF-8 replaced, which may lengthen it, truncated to the maximum length.
    fileprivate func validIdentifier(_ range: Range<Int>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(self, range)
        if copy.count <= 128, copy.allSatisfy({ $0 < 0x80 }) { return copy }
        let valid = Array(String(decoding: copy, as: UTF8.self).utf8)
        guard valid.count > 128 else { return valid }
        let end = valid[...128].lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return Array(valid[..<end])
    }
}
