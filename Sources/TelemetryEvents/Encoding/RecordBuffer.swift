// SPDX-License-Identifier: Apache-2.0

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
