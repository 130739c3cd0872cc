// SPDX-License-Identifier: Apache-2.0

/// Consecutive events in their compact encoding: what the decoder produces and the ledger stores.
///
/// Appending and reading do not allocate per event. Iterate with `EventCursor`.
public struct EventBatch: Sendable {
    private var records = RecordBuffer()
    /// The end offset of each record.
    public private(set) var ends: [Int] = []

    /// Creates an empty batch.
    public init() {}

    /// The encoded records.
    public var bytes: [UInt8] { records.bytes }

    /// The number of events.
    public var count: Int { ends.count }

    /// The byte range of one record.
    public func record(at index: Int) -> Range<Int> {
        (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// The fingerprint of each event's installation; 0 where it names none. O(events).
    package var installations: [UInt64] {
        let bytes = bytes
        return ends.indices.map { EventRecord.installation(bytes.span, at: record(at: $0).lowerBound) }
    }

    /// The encoded records but for some; a copy only where there are any.
    ///
    /// - Parameter places: the places of those events, in ascending order.
    public func bytes(without places: [Int]) -> [UInt8] {
        let bytes = bytes
        guard !places.isEmpty else { return bytes }
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var start = 0
        for place in places {
            let dropped = record(at: place)
            kept.append(contentsOf: bytes[start..<dropped.lowerBound])
            start = dropped.upperBound
        }
        kept.append(contentsOf: bytes[start...])
        return kept
    }

    /// Appends an event whose texts are ranges of `texts`.
    public mutating func append(_ event: Event, texts: Span<UInt8>) {
        records.append(event, texts: texts, isLast: true)
        ends.append(records.count)
        finish()
    }

    /// Appends one of many events; call `finish()` after the last one.
    @inline(__always)
    mutating func appendOneOfMany(_ event: borrowing Event, texts: Span<UInt8>) {
        records.append(event, texts: texts, isLast: false)
        ends.append(records.count)
    }

    /// Trims the spare space, without which `bytes` would copy.
    mutating func finish() {
        records.trim()
    }

    /// Appends the events of another batch.
    mutating func append(_ other: EventBatch) {
        guard count > 0 else { return self = other }
        let start = records.count
        records.append(contentsOf: other.records)
        for end in other.ends { ends.append(start + end) }
    }

    /// Empties the batch and keeps its capacity.
    public mutating func removeAll() {
        records.removeAll()
        ends.removeAll(keepingCapacity: true)
    }

    mutating func reserve(bytes byteCount: Int, events: Int) {
        records.reserve(byteCount)
        ends.reserveCapacity(events)
    }
}

/// Reads the events of an encoded batch in order.
public struct EventCursor: Sendable {
    /// The offset of the next record.
    public private(set) var offset = 0

    /// Creates a cursor at the first record.
    public init() {}

    /// Returns the next event, or nil at the end. O(fields).
    ///
    /// - Throws: `EventRecordError` if the bytes are not a valid record; the cursor then does not move.
    public mutating func next(in bytes: Span<UInt8>) throws(EventRecordError) -> Event? {
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        return try next(into: &event, in: bytes) ? event : nil
    }

    /// Reads the next event into a reused one, which avoids a copy; false at the end.
    ///
    /// - Throws: `EventRecordError` if the bytes are not a valid record; the event's content is then undefined.
    public mutating func next(into event: inout Event, in bytes: Span<UInt8>) throws(EventRecordError) -> Bool {
        guard offset < bytes.count else { return false }
        offset = try EventRecord.read(bytes, at: offset, into: &event)
        return true
    }
}

/// A growing byte buffer with spare space at its end, into which records are written word by word.
private struct RecordBuffer: Sendable {
    /// The used bytes, followed by the spare space.
    private var storage: [UInt8] = []
    private var used = 0

    var count: Int { used }

    /// The used bytes. Copies while there is spare space; call `trim()` first.
    var bytes: [UInt8] { used == storage.count ? storage : Array(storage[..<used]) }

    /// Appends a record.
    ///
    /// - Parameter isLast: whether to skip reserving space for further records.
    mutating func append(_ event: borrowing Event, texts: Span<UInt8>, isLast: Bool) {
        let needed = EventRecord.largestSize(of: event) + RecordWriter.slack
        if storage.count - used < needed { grow(isLast ? needed : max(needed, used / 2, storage.capacity - used)) }
        let start = used
        var span = storage.mutableSpan
        // Every bit pattern is a valid byte, so raw stores cannot break the array.
        var output = unsafe span.mutableBytes
        used = EventRecord.write(event, texts: texts, at: start, to: &output)
    }

    mutating func append(contentsOf other: RecordBuffer) {
        trim()
        storage.append(contentsOf: other.storage[..<other.used])
        used = storage.count
    }

    mutating func reserve(_ count: Int) {
        storage.reserveCapacity(used + count)
    }

    mutating func removeAll() {
        storage.removeAll(keepingCapacity: true)
        used = 0
    }

    /// Drops the spare space, so that the array can be handed out without a copy.
    mutating func trim() {
        storage.removeLast(storage.count - used)
    }

    @inline(never)
    private mutating func grow(_ spareBytes: Int) {
        storage.append(contentsOf: repeatElement(0, count: used + spareBytes - storage.count))
    }
}
