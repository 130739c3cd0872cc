// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    mutating func append(optional time: Timestamp?) {
        append(time == nil ? 0 : 1)
        if let time { appendVarint(zigzag: time.microseconds) }
    }

    /// The header of `logcat -v long` that the next lines belong to.
    mutating func append(logcatHeader header: UnwrappedLine?) {
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

    mutating func append(_ device: LogDevice) {
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

    mutating func append(_ stream: LogStream) {
        appendLittleEndian(stream.device)
        appendVarint(stream.process)
        appendVarint(UInt64(stream.scheduling))
        appendVarint(UInt64(stream.execution))
        appendVarint(UInt64(stream.delivery))
        append(stream.phase.rawValue)
        append(optional: stream.last)
        append(optional: stream.anchor)
        appendVarint(stream.usedAt)
    }

    private mutating func append(_ cycle: KnownCycle) {
        appendVarint(UInt64(cycle.serial))
        appendVarint(cycle.process)
        appendLittleEndian(cycle.idHash)
        appendVarint(UInt64(cycle.id.count))
        append(contentsOf: cycle.id)
        append(optional: cycle.due)
        append(optional: cycle.begin)
        append(cycle.progress.rawValue)
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
