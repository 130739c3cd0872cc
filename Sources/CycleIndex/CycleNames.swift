// SPDX-License-Identifier: Apache-2.0

internal import EventLedger
internal import TelemetryEvents

/// What the events of open cycles name, in bounded memory, so that a cycle that closes can be shown with its device and
/// the id of its schedule. The fold has hashes of them alone.
///
/// Two generations: a full one is kept until the next is full, too. An event whose name is in the older one brings it into
/// the newer, so that the names of cycles are forgotten first that nothing was heard of for longest.
struct CycleNames: Sendable {
    static let prefix = "names/"
    private static let chunkBytes = 16 << 10
    /// How often the limits of the ledger's state are halved before those of the names are: on a file system of 64 MiB
    /// two generations take a sixteenth.
    private static let firstHalvings = 6

    private var current = NameGeneration()
    private var earlier = NameGeneration()
    private var number: UInt64 = 0
    private var savedBytes = 0
    /// From where on the older generation is not saved.
    private var earlierSavedBytes = 0
    private var droppedGenerations: [UInt64] = []
    private var limit: Int
    private let largestLimit: Int
    /// The key of the latest name: the events of a cycle arrive together.
    private var latest: UInt64 = 0

    /// - Parameter limit: the most bytes of a generation.
    init(limit: Int = 2 << 20) {
        self.limit = min(limit, NameGeneration.largestLimit)
        largestLimit = self.limit
    }

    /// Suits the limit to a small disk, from the next name on; what is more goes with its generation.
    ///
    /// - Parameter halvings: how often the limits of the ledger's state are halved.
    mutating func halveLimit(_ halvings: Int) {
        limit = max(largestLimit >> max(0, halvings - Self.firstHalvings), min(Self.chunkBytes, largestLimit))
    }

    /// The memory of the names and of their tables.
    var byteCount: Int { current.byteCount + earlier.byteCount }

    /// Notes what an event names.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - schedule: the hash of its schedule; nil without an id.
    ///   - bytes: the bytes that the event was read from.
    @inline(__always)
    mutating func note(_ event: borrowing Event, _ schedule: UInt64?, in bytes: Span<UInt8>) {
        let installation = event.installation
        let key = schedule ?? installation?.fingerprint ?? 0
        if key == latest || key == 0 { return }
        latest = key
        if current.place(of: key) != nil { return }
        if let place = earlier.place(of: key) { return append(key, earlier.name(at: place)) }
        append(key, installation, bytes, event.scheduleId)
    }

    /// Remembers what the events of a schedule name.
    mutating func remember(_ name: CycleName, of schedule: UInt64) {
        if current.place(of: schedule) == nil { append(schedule, name) }
    }

    private mutating func append(_ key: UInt64, _ name: CycleName) {
        append(key, name.installation, name.scheduleId.span, 0..<name.scheduleId.count)
    }

    private mutating func append(
        _ key: UInt64,
        _ installation: Pseudonym?,
        _ bytes: Span<UInt8>,
        _ id: Range<Int>
    ) {
        if current.bytes.count >= limit {
            droppedGenerations.append(number &- 1)
            earlier = current
            earlierSavedBytes = savedBytes
            current = NameGeneration(as: earlier, limit: limit)
            number += 1
            savedBytes = 0
        }
        current.append(key, installation, bytes, id)
    }

    /// What the events of a cycle named; nil where it is not remembered.
    func name(schedule: UInt64?, installation: UInt64) -> CycleName? {
        let key = schedule ?? installation
        guard key != 0 else { return nil }
        if let place = current.place(of: key) { return current.name(at: place) }
        return earlier.place(of: key).map { earlier.name(at: $0) }
    }

    // MARK: Checkpoints

    /// What the next checkpoint takes of them, about.
    var unsavedBytes: Int { current.bytes.count - savedBytes + earlier.bytes.count - earlierSavedBytes }

    func put(into changes: inout StateChanges) {
        for dropped in droppedGenerations where dropped < number {
            changes.removeAll(prefix: StateKey(Self.prefix).appending(dropped))
        }
        if number > 0 { Self.put(earlier.bytes, number - 1, from: earlierSavedBytes, into: &changes) }
        Self.put(current.bytes, number, from: savedBytes, into: &changes)
    }

    /// What ``put(into:)`` gave is saved.
    mutating func saved() {
        droppedGenerations = []
        earlierSavedBytes = earlier.bytes.count
        savedBytes = current.bytes.count
    }

    private static func put(_ bytes: [UInt8], _ number: UInt64, from saved: Int, into changes: inout StateChanges) {
        guard saved < bytes.count else { return }
        for chunk in saved / chunkBytes...(bytes.count - 1) / chunkBytes {
            let start = chunk * chunkBytes
            let page = Array(bytes[start..<min(start + chunkBytes, bytes.count)])
            changes.put(StateKey(prefix).appending(number).appending(UInt64(chunk)), page)
        }
    }

    /// Restores a page; pages come in the order of their keys.
    mutating func restore(_ key: StateKey, _ value: [UInt8]) {
        let bytes = Array(key.bytes.dropFirst(Self.prefix.utf8.count))
        guard bytes.count == 16 else { return }
        let generation = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if generation != number {
            earlier = current
            earlier.index()
            earlierSavedBytes = earlier.bytes.count
            current = NameGeneration()
            number = generation
        }
        current.bytes += value
    }

    /// Ends the restoring.
    mutating func restored() {
        current.index()
        savedBytes = current.bytes.count
    }
}

/// Names one behind the other, and a hash table of where they begin.
///
/// A name is its key (8 bytes), the two halves of the pseudonym (8 each), and the length of the id (1) and the id.
private struct NameGeneration: Sendable {
    /// The most bytes of names before the last one: a slot has 22 bits for a place, which are four megabytes.
    static let largestLimit = 2 << 20
    private static let fixedBytes = 25
    private static let placeMask: UInt32 = 1 << 22 - 1

    var bytes: [UInt8] = []
    /// The place of a name plus one, and ten bits of its key, so that hardly any other name is looked at; 0 for a free slot.
    /// The count is a power of two, of which at most half is used.
    private var slots: [UInt32]
    private var used = 0

    init() { slots = [UInt32](repeating: 0, count: 64) }

    /// Without names, and with room for as many as another one has, and no more than fit into a limit of bytes.
    init(as other: NameGeneration, limit: Int) {
        var count = other.slots.count
        while count > 64, count / 2 >= 2 * limit / Self.fixedBytes { count /= 2 }
        slots = [UInt32](repeating: 0, count: count)
    }

    var byteCount: Int { bytes.capacity + slots.count * 4 }

    /// The highest bits of a key; the lowest ones give its slot.
    @inline(__always)
    private static func tag(_ key: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: key >> 32) & ~placeMask }

    @inline(__always)
    func place(of key: UInt64) -> Int? {
        let mask = slots.count - 1
        let tag = Self.tag(key)
        var slot = Int(truncatingIfNeeded: key) & mask
        while slots[slot] != 0 {
            if slots[slot] & ~Self.placeMask == tag {
                let place = Int(slots[slot] & Self.placeMask) - 1
                if bytes.littleEndianWord(at: place) == key { return place }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    func name(at place: Int) -> CycleName {
        let high = bytes.littleEndianWord(at: place + 8) ?? 0
        let low = bytes.littleEndianWord(at: place + 16) ?? 0
        let length = Int(bytes[place + 24])
        let id = Array(bytes[(place + Self.fixedBytes)..<(place + Self.fixedBytes + length)])
        return CycleName(installation: high | low == 0 ? nil : Pseudonym(high: high, low: low), scheduleId: id)
    }

    mutating func append(_ key: UInt64, _ installation: Pseudonym?, _ source: Span<UInt8>, _ id: Range<Int>) {
        let (place, id) = (bytes.count, id.prefix(255))
        bytes.append(littleEndian: key)
        bytes.append(littleEndian: installation?.high ?? 0)
        bytes.append(littleEndian: installation?.low ?? 0)
        bytes.append(UInt8(id.count))
        bytes.append(source, id)
        insert(place, key)
    }

    /// Enters a name, unless its place is more than any generation has, as in damaged state.
    private mutating func insert(_ place: Int, _ key: UInt64) {
        guard place < Self.placeMask else { return }
        if used * 2 >= slots.count { grow() }
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: key) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = UInt32(place + 1) | Self.tag(key)
        used += 1
    }

    private mutating func grow() {
        let places = slots
        slots = [UInt32](repeating: 0, count: places.count * 2)
        used = 0
        for place in places where place != 0 {
            let place = Int(place & Self.placeMask) - 1
            if let key = bytes.littleEndianWord(at: place) { insert(place, key) }
        }
    }

    /// Makes the table of restored bytes, and drops what is cut short at their end.
    mutating func index() {
        var place = 0
        while place + Self.fixedBytes <= bytes.count {
            let end = place + Self.fixedBytes + Int(bytes[place + 24])
            guard end <= bytes.count, let key = bytes.littleEndianWord(at: place) else { break }
            if self.place(of: key) == nil { insert(place, key) }
            place = end
        }
        bytes.removeLast(bytes.count - place)
    }
}
