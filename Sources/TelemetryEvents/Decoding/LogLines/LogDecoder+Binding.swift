// SPDX-License-Identifier: Apache-2.0

extension LogDecoder {
    /// Takes in a message: finds its stream, time and cycle, and lets its event out or holds it back.
    mutating func take(_ message: LogMessage, _ line: UnwrappedLine, _ bytes: Span<UInt8>) {
        let stream = stream(of: line, bytes)
        let device = binding.device(ofStream: stream)
        if let absolute = message.event.scheduledFor ?? message.event.earliestBeginDate {
            anchor(absolute, stream, device)
        }
        let time = time(of: line, stream: stream)
        if message.rule.meaning == .nothing { return }

        let process = binding.streams[stream].process
        if message.event.kind == .prefetchExecuted || message.rule.phase == .delivery { settle(device, process, nil) }
        makeRoom(device)
        let idHash = message.event.scheduleId.isEmpty ? 0 : identityKey.text(bytes, message.event.scheduleId)
        let id = message.event.scheduleId.isEmpty ? [] : identifier(bytes, message.event.scheduleId, idHash, device)
        let place = binding.cycle(
            of: message,
            stream: stream,
            device: device,
            idHash: idHash,
            id: { id },
            time: { if case .known(let time) = time { time } else { nil } }()
        )
        if let place { note(message, place, device, process) }
        if case .event = message.rule.meaning {
            send(message, place, device, process, time, bytes)
        }
        if let place { releaseNamed(device, place) }
    }

    /// Remembers what a message says about its cycle, for the lines that follow.
    private mutating func note(_ message: LogMessage, _ place: Int, _ device: Int, _ process: UInt64) {
        let event = message.event.kind
        let isEvent = message.rule.meaning != .cycle
        if let begin = message.event.earliestBeginDate { binding.devices[device].cycles[place].begin = begin }
        if message.rule.phase == .execution, !(isEvent && event == .prefetchExecuted) {
            settle(device, process, binding.devices[device].cycles[place].serial)
        }
        guard isEvent else { return }
        switch event {
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
        _ message: LogMessage,
        _ place: Int?,
        _ device: Int,
        _ process: UInt64,
        _ time: LineTime,
        _ bytes: Span<UInt8>
    ) {
        if message.event.kind == .prefetchUsedForNotification, message.isFromElsewhere { return }
        var event = message.event
        texts.removeAll()
        event.scheduleId = 0..<0
        if !event.error.isEmpty {
            let copy = texts.copy(JSONText(range: event.error, isEscaped: false), from: bytes)
            event.error = texts.errorIdentifier(copy)
        }
        if !event.contentHash.isEmpty { event.contentHash = lowercased(bytes, event.contentHash) }
        if !event.scheduleHash.isEmpty { event.scheduleHash = lowercased(bytes, event.scheduleHash) }
        if event.kind == .telemetrySnapshot { event.clientCounters = texts.append(message.counters) }
        event.installation = binding.devices[device].installation
        var yearless: YearlessStamp?
        switch time {
        case .known(let time): event.timestamp = time
        case .assumed(let time):
            event.timestamp = time
            event.isTimeAssumed = true
        case .yearless(let stamp): yearless = stamp
        }
        let isTentative = event.kind == .prefetchExecuted && message.event.scheduleId.isEmpty
        let serial = place.map { binding.devices[device].cycles[$0].serial } ?? 0
        if event.kind == .prefetchExecuted, !isTentative, let place {
            binding.devices[device].cycles[place].execute()
        }
        let isBound = place.map { binding.devices[device].cycles[$0].isBound } ?? !event.kind.belongsToCycle
        guard isTentative || yearless != nil || !isBound else {
            return emit(event, place.map { binding.devices[device].cycles[$0] })
        }
        hold(
            HeldEvent(
                event: event,
                texts: texts.bytes,
                cycle: serial,
                yearless: yearless,
                process: process,
                isTentative: isTentative,
                readAt: readAt,
                line: lineIndex
            ),
            device
        )
    }

    private mutating func lowercased(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Event.Text {
        let copy = texts.copy(JSONText(range: range, isEscaped: false), from: bytes)
        return texts.hash(copy) ?? 0..<0
    }

    /// The schedule id as it may be stored; looked up among the device's cycles before it is made anew.
    private mutating func identifier(_ bytes: Span<UInt8>, _ range: Range<Int>, _ hash: UInt64, _ device: Int)
        -> [UInt8]
    {
        if let known = binding.devices[device].lastIndex(where: { $0.idHash == hash }) {
            return binding.devices[device].cycles[known].id
        }
        texts.removeAll()
        let copy = texts.copy(JSONText(range: range, isEscaped: false), from: bytes)
        let safe = texts.identifier(copy, pseudonyms)
        return texts.bytes.validUTF8(safe)
    }

    /// Lets an event out with what is known of its cycle; its texts are those of `texts`.
    mutating func emit(_ event: Event, _ cycle: KnownCycle?, line: Int? = nil) {
        var event = event
        if let cycle {
            if !cycle.id.isEmpty { event.scheduleId = texts.append(cycle.id) }
            event.scheduledFor = event.scheduledFor ?? cycle.due
        }
        guard event.timestamp >= .earliestAccepted else { return reject(.timestampTooOld, line) }
        guard event.timestamp.microseconds - readAt.microseconds <= Timestamp.acceptedLead else {
            return reject(.timestampInFuture, line)
        }
        let held = texts.bytes
        decoded.events.append(event, texts: held.span)
        decoded.identities.append(identityKey.identity(of: event, in: held.span))
    }

    private mutating func reject(_ reason: RejectionReason, _ line: Int?) {
        decoded.reject(Rejection(index: line ?? lineIndex, reason: reason, field: .timestamp))
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

extension [UInt8] {
    /// A range of the bytes with what is no UTF-8 replaced.
    fileprivate func validUTF8(_ range: Range<Int>) -> [UInt8] {
        Array(String(decoding: self[range], as: UTF8.self).utf8)
    }
}
