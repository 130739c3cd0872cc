// SPDX-License-Identifier: Apache-2.0

/// The compact encoding of one event.
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | kind |
/// | 4 | `EventPresence`, little-endian |
/// | 8 | timestamp in microseconds, little-endian |
/// | ... | the fields that are present, in the order of `EventPresence`: times as zigzag variable-length differences from the timestamp, numbers as variable-length integers (LEB128), texts as a length and bytes; conditions as one variable-length integer of the bits of `EventCondition` |
enum EventRecord {
    private static let headerSize = 13

    /// An upper bound of the record's size in bytes.
    @inline(__always)
    static func largestSize(of event: borrowing Event) -> Int {
        let texts = event.texts
        var size = headerSize + largestValues + Int(texts.scheduleId.count) + Int(texts.eventId.count)
        if !event.presence.isDisjoint(with: .rareTexts) {
            size += Int(texts.error.count) + Int(texts.contentHash.count) + Int(texts.scheduleHash.count)
            size += Int(texts.platform.count) + Int(texts.appVersion.count) + Int(texts.osVersion.count)
            size += Int(texts.deviceModel.count) + Int(texts.clientCounters.count) + Int(texts.originals.count)
        }
        return size
    }

    /// Nine numbers, a reason, an installation, the lengths of eleven texts, conditions and minutes.
    private static let largestValues = 9 * 10 + 1 + 16 + 11 * 5 + RecordWriter.largestCircumstances

    /// Writes the record and returns its end offset.
    static func write(
        _ event: borrowing Event,
        texts: Span<UInt8>,
        at position: Int,
        to output: inout MutableRawSpan
    ) -> Int {
        let present = event.presence
        let time = event.timestamp.microseconds
        var writer = RecordWriter(at: position)
        writer.byte(event.kind.rawValue, &output)
        writer.littleEndian(present.rawValue, &output)
        writer.littleEndian(time, &output)
        if present.contains(.scheduledFor) {
            writer.varint(zigzag: event.values.scheduledFor.microseconds &- time, &output)
        }
        if present.contains(.earliestBeginDate) {
            writer.varint(zigzag: event.values.earliestBeginDate.microseconds &- time, &output)
        }
        if !present.isDisjoint(with: .numbers) { writer.numbers(of: event, &output) }
        if present.contains(.reason) { writer.byte(event.values.reason.rawValue, &output) }
        if present.contains(.installation) {
            writer.littleEndian(event.values.installation.high, &output)
            writer.littleEndian(event.values.installation.low, &output)
        }
        if present.contains(.clockSkew) { writer.varint(zigzag: event.values.clockSkew, &output) }
        if present.contains(.scheduleId) { writer.text(event.texts.scheduleId, of: texts, &output) }
        if present.contains(.eventId) { writer.text(event.texts.eventId, of: texts, &output) }
        if !present.isDisjoint(with: .rareTexts) { writer.rareTexts(of: event, in: texts, &output) }
        if !present.isDisjoint(with: .circumstances) { writer.circumstances(of: event, &output) }
        return writer.position
    }

    /// Reads the record at an offset and returns its end offset.
    static func read(
        _ bytes: Span<UInt8>,
        at offset: Int,
        into event: inout Event
    ) throws(EventRecordError) -> Int {
        var reader = RecordReader(start: offset)
        guard bytes.count <= Int(UInt32.max) else { throw reader.error("more than 4 GiB") }
        guard let kind = EventKind(rawValue: try reader.byte(bytes)) else { throw reader.error("an unknown kind") }
        let present = EventPresence(rawValue: try reader.littleEndian32(bytes))
        guard present.isSubset(of: .known) else { throw reader.error("fields of a newer format") }
        let timestamp = try reader.time(Int64(bitPattern: try reader.littleEndian64(bytes)))
        event.reset(kind: kind, timestamp: timestamp, presence: present)

        if present.contains(.scheduledFor) {
            event.values.scheduledFor = try reader.time(timestamp.microseconds &+ (try reader.zigzag(bytes)))
        }
        if present.contains(.earliestBeginDate) {
            event.values.earliestBeginDate = try reader.time(timestamp.microseconds &+ (try reader.zigzag(bytes)))
        }
        if !present.isDisjoint(with: .numbers) { try reader.numbers(of: &event, bytes) }
        if present.contains(.reason) {
            guard let reason = FailureReason(rawValue: try reader.byte(bytes)) else {
                throw reader.error("an unknown failure reason")
            }
            event.values.reason = reason
        }
        if present.contains(.installation) {
            event.values.installation = Pseudonym(
                high: try reader.littleEndian64(bytes),
                low: try reader.littleEndian64(bytes)
            )
        }
        if present.contains(.clockSkew) { event.values.clockSkew = try reader.zigzag(bytes) }
        if present.contains(.scheduleId) { event.scheduleId = try reader.text(bytes) }
        if present.contains(.eventId) { event.eventId = try reader.text(bytes) }
        if !present.isDisjoint(with: .rareTexts) { try reader.rareTexts(of: &event, bytes) }
        if !present.isDisjoint(with: .circumstances) { try reader.circumstances(of: &event, bytes) }
        return reader.position
    }

    /// The fingerprint of the installation that a record names; 0 where it names none, or cannot be read.
    static func installation(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        var reader = RecordReader(start: offset)
        return (try? reader.installation(bytes))?.fingerprint ?? 0
    }
}

extension Event {
    /// Resets the header; the values are read next.
    @inline(__always)
    fileprivate mutating func reset(kind: EventKind, timestamp: Timestamp, presence: EventPresence) {
        self.kind = kind
        self.timestamp = timestamp
        self.presence = presence.withoutLooseFlags
        texts = EventTextRanges()
        callConditions = 0
        runConditions = 0
    }
}

extension RecordWriter {
    fileprivate mutating func numbers(of event: borrowing Event, _ output: inout MutableRawSpan) {
        let present = event.presence
        if present.contains(.duration) { varint(zigzag: event.values.duration, &output) }
        if present.contains(.ttl) { varint(zigzag: event.values.ttl, &output) }
        if present.contains(.status) { varint(zigzag: event.values.status, &output) }
        if present.contains(.byteCount) { varint(zigzag: event.values.byteCount, &output) }
        if present.contains(.itemCount) { varint(zigzag: event.values.itemCount, &output) }
        if present.contains(.age) { varint(zigzag: event.values.age, &output) }
    }

    fileprivate mutating func rareTexts(
        of event: borrowing Event,
        in texts: Span<UInt8>,
        _ output: inout MutableRawSpan
    ) {
        let present = event.presence
        if present.contains(.error) { text(event.texts.error, of: texts, &output) }
        if present.contains(.contentHash) { text(event.texts.contentHash, of: texts, &output) }
        if present.contains(.scheduleHash) { text(event.texts.scheduleHash, of: texts, &output) }
        if present.contains(.platform) { text(event.texts.platform, of: texts, &output) }
        if present.contains(.appVersion) { text(event.texts.appVersion, of: texts, &output) }
        if present.contains(.osVersion) { text(event.texts.osVersion, of: texts, &output) }
        if present.contains(.deviceModel) { text(event.texts.deviceModel, of: texts, &output) }
        if present.contains(.clientCounters) { text(event.texts.clientCounters, of: texts, &output) }
        if present.contains(.originals) { text(event.texts.originals, of: texts, &output) }
    }
}

extension RecordReader {
    /// Reads up to the installation; nil where there is none.
    fileprivate mutating func installation(_ bytes: Span<UInt8>) throws(EventRecordError) -> Pseudonym? {
        _ = try byte(bytes)
        let present = EventPresence(rawValue: try littleEndian32(bytes))
        guard present.contains(.installation) else { return nil }
        _ = try littleEndian64(bytes)
        if present.contains(.scheduledFor) { _ = try varint(bytes) }
        if present.contains(.earliestBeginDate) { _ = try varint(bytes) }
        if !present.isDisjoint(with: .numbers) {
            var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
            event.presence = present
            try numbers(of: &event, bytes)
        }
        if present.contains(.reason) { _ = try byte(bytes) }
        return Pseudonym(high: try littleEndian64(bytes), low: try littleEndian64(bytes))
    }

    fileprivate mutating func numbers(of event: inout Event, _ bytes: Span<UInt8>) throws(EventRecordError) {
        let present = event.presence
        if present.contains(.duration) { event.values.duration = try zigzag(bytes) }
        if present.contains(.ttl) { event.values.ttl = try zigzag(bytes) }
        if present.contains(.status) { event.values.status = try zigzag(bytes) }
        if present.contains(.byteCount) { event.values.byteCount = try zigzag(bytes) }
        if present.contains(.itemCount) { event.values.itemCount = try zigzag(bytes) }
        if present.contains(.age) { event.values.age = try zigzag(bytes) }
    }

    fileprivate mutating func rareTexts(of event: inout Event, _ bytes: Span<UInt8>) throws(EventRecordError) {
        let present = event.presence
        if present.contains(.error) { event.error = try text(bytes) }
        if present.contains(.contentHash) { event.contentHash = try text(bytes) }
        if present.contains(.scheduleHash) { event.scheduleHash = try text(bytes) }
        if present.contains(.platform) { event.platform = try text(bytes) }
        if present.contains(.appVersion) { event.appVersion = try text(bytes) }
        if present.contains(.osVersion) { event.osVersion = try text(bytes) }
        if present.contains(.deviceModel) { event.deviceModel = try text(bytes) }
        if present.contains(.clientCounters) { event.clientCounters = try text(bytes) }
        if present.contains(.originals) { event.originals = try text(bytes) }
    }
}

/// Bytes that are not a valid event record: damaged, or written by a newer format.
public struct EventRecordError: Error, Sendable, CustomStringConvertible {
    /// The offset of the record in the batch.
    public let offset: Int
    /// What is wrong with the record.
    public let problem: StaticString

    /// What was expected, what was found and what to do.
    public var description: String {
        "expected a compact event record at byte \(offset) of the batch, found \(problem); "
            + "the ledger is damaged or was written by a newer version"
    }
}
