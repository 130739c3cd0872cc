// SPDX-License-Identifier: Apache-2.0

/// Writes the parts of a log decoder's saved state; `LogStateReader` reads them in the same order.
struct LogStateWriter {
    /// The maximum size of the state in bytes; the least recently used devices are left out.
    static let maximumBytes = 64 << 10
    /// The size of the hash at the end.
    static let hashBytes = 8

    private(set) var bytes: [UInt8]

    init() {
        bytes = [LogStateVersion.current.rawValue]
    }

    private init(part: [UInt8]) {
        bytes = part
    }

    mutating func append(_ time: Timestamp) { bytes.appendVarint(zigzag: time.microseconds) }

    mutating func append(_ recent: RecentLines) {
        bytes.appendLittleEndian(recent.previous)
        bytes.appendVarint(UInt64(recent.latest.count))
        for fingerprint in recent.latest { bytes.appendLittleEndian(fingerprint) }
    }

    mutating func append(count: UInt64) { bytes.appendVarint(count) }

    mutating func append(number: Int64) { bytes.appendVarint(zigzag: number) }

    /// Appends a device with its streams; false where it does not fit, and nothing is appended.
    mutating func append(_ device: LogDevice, _ streams: [LogStream]) -> Bool {
        var part = LogStateWriter(part: [1])
        part.append(device)
        for stream in streams {
            part.bytes.append(1)
            part.append(stream)
        }
        part.bytes.append(0)
        guard bytes.count + part.bytes.count + 1 + Self.hashBytes <= Self.maximumBytes else { return false }
        bytes += part.bytes
        return true
    }

    /// Ends the devices and appends the hash that detects damage.
    mutating func finish(_ key: IdentityKey) {
        bytes.append(0)
        bytes.appendLittleEndian(key.text(bytes.span, 0..<bytes.count))
    }

    mutating func append(optional time: Timestamp?) {
        bytes.append(time == nil ? 0 : 1)
        if let time { bytes.appendVarint(zigzag: time.microseconds) }
    }

    /// What an earlier line says of the next ones: 0 for nothing, 1 for a header of `logcat -v long`, 2 for an entry of the
    /// journal.
    mutating func append(_ header: LineHeader?) {
        switch header {
        case nil: bytes.append(0)
        case .logcat(let line):
            bytes.append(1)
            bytes.append(line.stamp == nil ? 0 : 1)
            if let stamp = line.stamp { append(stamp) }
            bytes.append(line.component.map { $0.rawValue + 1 } ?? 0)
            bytes.append(line.hasUnknownMarker ? 1 : 0)
            bytes.appendVarint(line.process)
        case .journal(let stamp):
            bytes.append(2)
            append(stamp)
        }
    }

    private mutating func append(_ stamp: LogStamp) {
        bytes.appendVarint(zigzag: stamp.wallMicroseconds)
        bytes.append(stamp.hasYear ? 1 : 0)
        append(optional: stamp.offsetSeconds.map { Int64($0) })
    }

    private mutating func append(_ device: LogDevice) {
        bytes.appendLittleEndian(device.name)
        bytes.append(device.installation == nil ? 0 : 1)
        if let installation = device.installation {
            bytes.appendLittleEndian(installation.high)
            bytes.appendLittleEndian(installation.low)
        }
        bytes.appendVarint(device.usedAt)
        bytes.appendVarint(UInt64(device.lastSerial))
        bytes.appendVarint(UInt64(device.cycles.count))
        for cycle in device.cycles { append(cycle) }
        bytes.appendVarint(UInt64(device.held.count))
        for held in device.held { append(held) }
    }

    private mutating func append(_ stream: LogStream) {
        bytes.appendLittleEndian(stream.device)
        bytes.appendVarint(stream.process)
        bytes.appendVarint(UInt64(stream.scheduling))
        bytes.appendVarint(UInt64(stream.execution))
        bytes.appendVarint(UInt64(stream.delivery))
        bytes.append(stream.progress)
        append(optional: stream.last)
        append(optional: stream.anchor)
        bytes.appendVarint(stream.usedAt)
        bytes.append(stream.refusal.form.rawValue)
        bytes.appendVarint(zigzag: stream.refusal.wallMicroseconds)
    }

    private mutating func append(_ cycle: KnownCycle) {
        bytes.appendVarint(UInt64(cycle.serial))
        bytes.appendVarint(cycle.process)
        bytes.appendLittleEndian(cycle.idHash)
        bytes.appendVarint(UInt64(cycle.id.text.count))
        bytes.append(contentsOf: cycle.id.text)
        bytes.appendLittleEndian(cycle.id.schedule)
        append(optional: cycle.due)
        append(optional: cycle.begin)
        append(optional: cycle.seen)
        bytes.append(cycle.progress.rawValue)
        bytes.append(cycle.results.rawValue)
        switch cycle.installation {
        case .undecided: bytes.append(0)
        case .decided(nil): bytes.append(1)
        case .decided(let installation?):
            bytes.append(2)
            bytes.appendLittleEndian(installation.high)
            bytes.appendLittleEndian(installation.low)
        }
    }

    mutating func append(_ carried: CarriedCycles?) {
        append(optional: carried?.until)
        guard let carried else { return }
        bytes.appendVarint(UInt64(carried.cycles.count))
        for cycle in carried.cycles {
            bytes.appendLittleEndian(cycle.schedule)
            append(optional: cycle.due)
            bytes.appendVarint(zigzag: cycle.end.microseconds)
        }
    }

    private mutating func append(_ held: HeldEvent) {
        append(held.message)
        bytes.appendVarint(UInt64(held.texts.count))
        bytes.append(contentsOf: held.texts)
        bytes.appendVarint(zigzag: held.timestamp.microseconds)
        bytes.append(held.isTimeAssumed ? 1 : 0)
        bytes.appendVarint(UInt64(held.cycle))
        append(held.yearless)
        bytes.appendVarint(held.process)
        bytes.append(held.isTentative ? 1 : 0)
        bytes.appendVarint(zigzag: held.readAt.microseconds)
    }

    private mutating func append(_ message: LogMessage) {
        bytes.append(message.form.kind?.rawValue ?? 0)
        append(optional: message.due)
        append(optional: message.begin)
        for number in [message.duration, message.age, message.byteCount, message.itemCount] { append(optional: number) }
        append(optional: message.ttl.map { Int64($0) })
        append(optional: message.status.map { Int64($0) })
        bytes.append(message.reason.map { $0.rawValue + 1 } ?? 0)
        for flag in [message.willRetry, message.isSuccessful, message.usedCached] {
            bytes.append(flag.map { $0 ? 2 : 1 } ?? 0)
        }
        for text in [message.error, message.contentHash, message.scheduleHash, message.counters] {
            bytes.appendVarint(text.isEmpty ? 0 : UInt64(text.lowerBound))
            bytes.appendVarint(UInt64(text.count))
        }
        bytes.appendVarint(UInt64(message.conditions.bits))
        append(optional: message.minutes.map { Int64($0) })
        bytes.append(message.platform.rawValue)
    }

    private mutating func append(optional number: Int64?) {
        bytes.append(number == nil ? 0 : 1)
        if let number { bytes.appendVarint(zigzag: number) }
    }

    private mutating func append(_ stamp: YearlessStamp?) {
        bytes.append(stamp == nil ? 0 : 1)
        guard let stamp else { return }
        bytes.appendVarint(zigzag: stamp.wallMicroseconds)
        bytes.append(stamp.offset == nil ? 0 : 1)
        if let offset = stamp.offset { bytes.appendVarint(zigzag: Int64(offset)) }
    }
}
