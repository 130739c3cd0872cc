// SPDX-License-Identifier: Apache-2.0

/// The compact encoding of one event.
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | kind |
/// | 4 | `Presence`, little-endian |
/// | 8 | timestamp in microseconds, little-endian |
/// | ... | the fields that are present, in the order of `Presence`: times as zigzag variable-length differences from the timestamp, numbers as variable-length integers (LEB128), texts as a length and bytes |
enum EventRecord {
    /// Which fields a record has, and the values of the Boolean ones.
    struct Presence: OptionSet {
        var rawValue: UInt32

        static let scheduledFor = Presence(rawValue: 1 << 0)
        static let earliestBeginDate = Presence(rawValue: 1 << 1)
        static let duration = Presence(rawValue: 1 << 2)
        static let ttl = Presence(rawValue: 1 << 3)
        static let status = Presence(rawValue: 1 << 4)
        static let byteCount = Presence(rawValue: 1 << 5)
        static let itemCount = Presence(rawValue: 1 << 6)
        static let age = Presence(rawValue: 1 << 7)
        static let reason = Presence(rawValue: 1 << 8)
        static let installation = Presence(rawValue: 1 << 9)
        static let clockSkew = Presence(rawValue: 1 << 10)
        static let scheduleId = Presence(rawValue: 1 << 11)
        static let eventId = Presence(rawValue: 1 << 12)
        static let error = Presence(rawValue: 1 << 13)
        static let contentHash = Presence(rawValue: 1 << 14)
        static let scheduleHash = Presence(rawValue: 1 << 15)
        static let platform = Presence(rawValue: 1 << 16)
        static let appVersion = Presence(rawValue: 1 << 17)
        static let osVersion = Presence(rawValue: 1 << 18)
        static let deviceModel = Presence(rawValue: 1 << 19)
        static let clientCounters = Presence(rawValue: 1 << 20)
        static let willRetry = Presence(rawValue: 1 << 21)
        static let willRetryTrue = Presence(rawValue: 1 << 22)
        static let fetched = Presence(rawValue: 1 << 23)
        static let fetchedTrue = Presence(rawValue: 1 << 24)
        static let usedCached = Presence(rawValue: 1 << 25)
        static let usedCachedTrue = Presence(rawValue: 1 << 26)
        static let timeAssumed = Presence(rawValue: 1 << 27)
        static let known = Presence(rawValue: 1 << 28 - 1)
    }

    static let headerSize = 13

    static func append(_ event: Event, texts: Span<UInt8>, to output: inout [UInt8]) {
        let header = output.count
        output.append(event.kind.rawValue)
        output.appendLittleEndian(UInt32(0))
        output.appendLittleEndian(UInt64(bitPattern: event.timestamp.microseconds))

        var present: Presence = []
        func time(_ value: Timestamp?, _ bit: Presence) {
            guard let value else { return }
            present.insert(bit)
            output.appendVarint(zigzag: value.microseconds &- event.timestamp.microseconds)
        }
        func number(_ value: Int64?, _ bit: Presence) {
            guard let value else { return }
            present.insert(bit)
            output.appendVarint(zigzag: value)
        }
        func text(_ range: Event.Text, _ bit: Presence) {
            guard !range.isEmpty else { return }
            present.insert(bit)
            output.appendVarint(UInt64(range.count))
            output.append(texts, range)
        }
        func flag(_ value: Bool?, _ bit: Presence, _ isTrue: Presence) {
            guard let value else { return }
            present.insert(bit)
            if value { present.insert(isTrue) }
        }

        time(event.scheduledFor, .scheduledFor)
        time(event.earliestBeginDate, .earliestBeginDate)
        number(event.duration, .duration)
        number(event.ttl, .ttl)
        number(event.status, .status)
        number(event.byteCount, .byteCount)
        number(event.itemCount, .itemCount)
        number(event.age, .age)
        if let reason = event.reason {
            present.insert(.reason)
            output.append(reason.rawValue)
        }
        if let installation = event.installation {
            present.insert(.installation)
            output.appendLittleEndian(installation.high)
            output.appendLittleEndian(installation.low)
        }
        number(event.clockSkew, .clockSkew)
        text(event.scheduleId, .scheduleId)
        text(event.eventId, .eventId)
        text(event.error, .error)
        text(event.contentHash, .contentHash)
        text(event.scheduleHash, .scheduleHash)
        text(event.platform, .platform)
        text(event.appVersion, .appVersion)
        text(event.osVersion, .osVersion)
        text(event.deviceModel, .deviceModel)
        text(event.clientCounters, .clientCounters)
        flag(event.willRetry, .willRetry, .willRetryTrue)
        flag(event.fetched, .fetched, .fetchedTrue)
        flag(event.usedCached, .usedCached, .usedCachedTrue)
        if event.isTimeAssumed { present.insert(.timeAssumed) }

        for byte in 0..<4 {
            output[header + 1 + byte] = UInt8(truncatingIfNeeded: present.rawValue >> UInt32(8 * byte))
        }
    }

    /// Reads the record at an offset and returns where it ends.
    static func read(
        _ bytes: Span<UInt8>,
        at offset: Int,
        into event: inout Event
    ) throws(EventRecordError) -> Int {
        var reader = RecordReader(start: offset)
        guard let kind = EventKind(rawValue: try reader.byte(bytes)) else { throw reader.error("an unknown kind") }
        let present = Presence(rawValue: UInt32(truncatingIfNeeded: try reader.littleEndian(bytes, size: 4)))
        guard present.isSubset(of: .known) else { throw reader.error("fields of a newer format") }
        let timestamp = try reader.time(Int64(bitPattern: try reader.littleEndian(bytes, size: 8)))
        event = Event(kind: kind, timestamp: timestamp)

        if present.contains(.scheduledFor) {
            event.scheduledFor = try reader.time(timestamp.microseconds &+ (try reader.zigzag(bytes)))
        }
        if present.contains(.earliestBeginDate) {
            event.earliestBeginDate = try reader.time(timestamp.microseconds &+ (try reader.zigzag(bytes)))
        }
        if present.contains(.duration) { event.duration = try reader.zigzag(bytes) }
        if present.contains(.ttl) { event.ttl = try reader.zigzag(bytes) }
        if present.contains(.status) { event.status = try reader.zigzag(bytes) }
        if present.contains(.byteCount) { event.byteCount = try reader.zigzag(bytes) }
        if present.contains(.itemCount) { event.itemCount = try reader.zigzag(bytes) }
        if present.contains(.age) { event.age = try reader.zigzag(bytes) }
        if present.contains(.reason) {
            guard let reason = FailureReason(rawValue: try reader.byte(bytes)) else {
                throw reader.error("an unknown failure reason")
            }
            event.reason = reason
        }
        if present.contains(.installation) {
            event.installation = Pseudonym(
                high: try reader.littleEndian(bytes, size: 8),
                low: try reader.littleEndian(bytes, size: 8)
            )
        }
        if present.contains(.clockSkew) { event.clockSkew = try reader.zigzag(bytes) }
        if present.contains(.scheduleId) { event.scheduleId = try reader.text(bytes) }
        if present.contains(.eventId) { event.eventId = try reader.text(bytes) }
        if present.contains(.error) { event.error = try reader.text(bytes) }
        if present.contains(.contentHash) { event.contentHash = try reader.text(bytes) }
        if present.contains(.scheduleHash) { event.scheduleHash = try reader.text(bytes) }
        if present.contains(.platform) { event.platform = try reader.text(bytes) }
        if present.contains(.appVersion) { event.appVersion = try reader.text(bytes) }
        if present.contains(.osVersion) { event.osVersion = try reader.text(bytes) }
        if present.contains(.deviceModel) { event.deviceModel = try reader.text(bytes) }
        if present.contains(.clientCounters) { event.clientCounters = try reader.text(bytes) }
        if present.contains(.willRetry) { event.willRetry = present.contains(.willRetryTrue) }
        if present.contains(.fetched) { event.fetched = present.contains(.fetchedTrue) }
        if present.contains(.usedCached) { event.usedCached = present.contains(.usedCachedTrue) }
        event.isTimeAssumed = present.contains(.timeAssumed)
        return reader.position
    }
}
