// SPDX-License-Identifier: Apache-2.0

/// Events in their compact encoding, one record after the other: what the decoder makes and the ledger stores.
///
/// Appending and reading cost no allocation per event. Iterate with `EventCursor`.
public struct EventBatch: Sendable {
    private var records = RecordBuffer()
    /// Where each record ends.
    public private(set) var ends: [Int] = []

    /// Makes an empty batch.
    public init() {}

    /// The records.
    public var bytes: [UInt8] { records.bytes }

    /// How many events there are.
    public var count: Int { ends.count }

    /// The bytes of one record.
    public func record(at index: Int) -> Range<Int> {
        (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// Appends an event whose texts are ranges of `texts`.
    public mutating func append(_ event: Event, texts: Span<UInt8>) {
        records.append(event, texts: texts, isLast: true)
        ends.append(records.count)
        finish()
    }

    /// Appends an event that is not the last one; `finish()` has to follow them.
    @inline(__always)
    mutating func appendOneOfMany(_ event: borrowing Event, texts: Span<UInt8>) {
        records.append(event, texts: texts, isLast: false)
        ends.append(records.count)
    }

    /// Gives back the room for further events, without which `bytes` would be a copy.
    mutating func finish() {
        records.removeRoom()
    }

    /// Appends the events of another batch.
    mutating func append(_ other: EventBatch) {
        let start = records.count
        records.append(contentsOf: other.records)
        for end in other.ends { ends.append(start + end) }
    }

    /// Empties the batch and keeps its memory.
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
    /// Where the next record begins.
    public private(set) var offset = 0

    /// Starts at the first record.
    public init() {}

    /// The next event, or nil at the end. O(fields).
    ///
    /// - Throws: `EventRecordError` when the bytes are no record; the cursor then stays where it is.
    public mutating func next(in bytes: Span<UInt8>) throws(EventRecordError) -> Event? {
        var event = Event(kind: .pluginStarted, timestamp: .earliestAccepted)
        return try next(into: &event, in: bytes) ? event : nil
    }

    /// Reads the next event into one that is used again, which saves copying it; false at the end.
    ///
    /// - Throws: `EventRecordError` when the bytes are no record; the event is then meaningless.
    public mutating func next(into event: inout Event, in bytes: Span<UInt8>) throws(EventRecordError) -> Bool {
        guard offset < bytes.count else { return false }
        offset = try EventRecord.read(bytes, at: offset, into: &event)
        return true
    }
}

/// Growing bytes with room behind them, into which records are written by words.
struct RecordBuffer: Sendable {
    /// The bytes and behind them the room.
    private var storage: [UInt8] = []
    private var used = 0

    /// How many bytes there are.
    var count: Int { used }

    /// The bytes, which costs a copy as long as there is room behind them; see `removeRoom()`.
    var bytes: [UInt8] { used == storage.count ? storage : Array(storage[..<used]) }

    /// Appends a record.
    ///
    /// - Parameter isLast: whether no room need be made for another one.
    mutating func append(_ event: borrowing Event, texts: Span<UInt8>, isLast: Bool) {
        let needed = EventRecord.largestSize(of: event) + RecordWriter.slack
        if storage.count - used < needed { makeRoom(isLast ? needed : max(needed, used / 2, storage.capacity - used)) }
        let start = used
        var span = storage.mutableSpan
        // Any bytes at all are valid bytes, so what is stored through it cannot break the array.
        var room = unsafe span.mutableBytes
        used = EventRecord.write(event, texts: texts, at: start, to: &room)
    }

    mutating func append(contentsOf other: RecordBuffer) {
        removeRoom()
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

    /// Makes the array of bytes end where they end, so that it can be handed out as it is.
    mutating func removeRoom() {
        storage.removeLast(storage.count - used)
    }

    @inline(never)
    private mutating func makeRoom(_ room: Int) {
        storage.append(contentsOf: repeatElement(0, count: used + room - storage.count))
    }
}
