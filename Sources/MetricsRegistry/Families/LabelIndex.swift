// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// The instruments of a family by typed labels, found without a lock and without creating label values.
///
/// It is a cache in front of the family, which alone manages series, their limit and their removal. Once a series has
/// been removed, lookups take a lock and discard what was cached before the last removal.
@safe
@usableFromInline
final class LabelIndex<Labels: LabelCombination, Instrument: AnyObject & Sendable>: Sendable {
    @usableFromInline
    typealias Slots = LabelSlots<Labels, Instrument>

    /// The family's instrument for labels, and whether it is their own series and not the overflow series.
    typealias Lookup = @Sendable (Labels) -> (instrument: Instrument, isOwn: Bool)

    private struct Tables {
        /// The tables that were ever current before a removal, since a reader may still use them.
        var published: [Slots]
        /// The entries since the last removal, and the number of removals at that time.
        var recent = Slots(capacity: 16)
        var removals = 0
    }

    @usableFromInline let current: Atomic<Unmanaged<Slots>>
    @usableFromInline let removals: SeriesRemovals
    @usableFromInline let seed = UInt64.random(in: 0...UInt64.max)
    private let tables: Mutex<Tables>
    private let lookup: Lookup
    private let maximumEntries: Int

    /// - Parameter maximumSeries: Bounds the entries: several combinations may have the same label values.
    init(maximumSeries: Int, removals: SeriesRemovals, _ lookup: @escaping Lookup) {
        self.removals = removals
        self.lookup = lookup
        maximumEntries = min(maximumSeries, 1 << 31) * 2
        let first = Slots(capacity: 16)
        unsafe current = Atomic(Unmanaged.passUnretained(first))
        tables = Mutex(Tables(published: [first]))
    }

    @inlinable @inline(__always)
    func hash(_ labels: Labels) -> UInt64 {
        LabelWord.spread(labels.labelWord, seed: seed)
    }

    /// The cached instrument of labels, valid for as long as the index.
    @inlinable @inline(__always)
    func find(_ labels: Labels, hash: UInt64) -> Unmanaged<Instrument>? {
        if removals.count != 0 { return nil }
        return unsafe current.load(ordering: .acquiring)._withUnsafeGuaranteedRef { unsafe $0.find(labels, hash: hash) }
    }

    /// The instrument of labels that are not cached, or not since the last removal.
    @usableFromInline @inline(never)
    func add(_ labels: Labels, hash: UInt64) -> Instrument {
        let removals = removals.count
        if removals != 0, let known = known(labels, hash, removals) { return known }
        let (instrument, isOwn) = lookup(labels)
        if isOwn {
            tables.withLock { remember(labels, hash, instrument, removals, in: &$0) }
        }
        return instrument
    }

    private func known(_ labels: Labels, _ hash: UInt64, _ removals: Int) -> Instrument? {
        tables.withLock { tables in
            guard tables.removals == removals else { return nil }
            return unsafe tables.recent.find(labels, hash: hash)?.takeUnretainedValue()
        }
    }

    private func remember(
        _ labels: Labels,
        _ hash: UInt64,
        _ instrument: Instrument,
        _ removals: Int,
        in tables: inout Tables
    ) {
        if removals == 0 {
            let latest = tables.published.count - 1
            guard let grown = grown(tables.published[latest], labels, hash) else { return }
            if grown !== tables.published[latest] { tables.published.append(grown) }
            grown.insert(labels, hash: hash, instrument)
            unsafe current.store(Unmanaged.passUnretained(grown), ordering: .releasing)
        } else {
            if tables.removals > removals { return }
            if tables.removals < removals {
                tables.recent = Slots(capacity: 16)
                tables.removals = removals
            }
            guard let grown = grown(tables.recent, labels, hash) else { return }
            tables.recent = grown
            grown.insert(labels, hash: hash, instrument)
        }
    }

    /// A table that can take another entry; nil if the entry exists or the index is full.
    private func grown(_ slots: Slots, _ labels: Labels, _ hash: UInt64) -> Slots? {
        if slots.count >= maximumEntries { return nil }
        if unsafe slots.find(labels, hash: hash) != nil { return nil }
        return slots.isCrowded ? slots.doubled() : slots
    }
}

/// An open-addressed hash table from combinations of label values to instruments, which it owns. It is read without a
/// lock and only gains entries.
///
/// Readers may run during an insertion: the hash and combination of a slot are written before its instrument is
/// published.
@safe
@usableFromInline
final class LabelSlots<Labels: LabelCombination, Instrument: AnyObject & Sendable>: @unchecked Sendable {
    @safe
    @usableFromInline
    struct Slot: ~Copyable {
        @usableFromInline var hash: UInt64 = 0
        @usableFromInline let instrument = unsafe Atomic<Unmanaged<Instrument>?>(nil)

        init() {}
    }

    @usableFromInline let mask: Int
    @usableFromInline let slots: UnsafeMutablePointer<Slot>
    /// Initialized where a slot has an instrument.
    @usableFromInline let labels: UnsafeMutablePointer<Labels>
    private(set) var count = 0

    /// `capacity` slots, a power of two.
    init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0)
        mask = capacity - 1
        unsafe slots = .allocate(capacity: capacity)
        unsafe labels = .allocate(capacity: capacity)
        for index in 0..<capacity { unsafe (slots + index).initialize(to: Slot()) }
    }

    deinit {
        for index in 0...mask {
            if let instrument = unsafe slots[index].instrument.load(ordering: .relaxed) {
                unsafe instrument.release()
                unsafe (labels + index).deinitialize(count: 1)
            }
        }
        unsafe slots.deinitialize(count: mask + 1)
        unsafe slots.deallocate()
        unsafe labels.deallocate()
    }

    /// Whether another entry would fill more than half of the slots and slow lookups down.
    var isCrowded: Bool { count * 2 >= mask }

    /// The instrument of these labels, valid for as long as the table. Safe on any thread at any time.
    @inlinable @inline(__always)
    func find(_ wanted: Labels, hash: UInt64) -> Unmanaged<Instrument>? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let instrument = unsafe slots[index].instrument.load(ordering: .acquiring) {
            if unsafe slots[index].hash == hash, unsafe labels[index] == wanted { return unsafe instrument }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Adds a new entry. One thread at a time; the table must not be crowded.
    func insert(_ added: Labels, hash: UInt64, _ instrument: Instrument) {
        precondition(!isCrowded)
        var index = Int(truncatingIfNeeded: hash) & mask
        while unsafe slots[index].instrument.load(ordering: .relaxed) != nil {
            index = (index + 1) & mask
        }
        unsafe slots[index].hash = hash
        unsafe (labels + index).initialize(to: added)
        unsafe slots[index].instrument.store(.passRetained(instrument), ordering: .releasing)
        count += 1
    }

    /// A table of twice the size with the same entries.
    func doubled() -> LabelSlots {
        let larger = LabelSlots(capacity: (mask + 1) * 2)
        for index in 0...mask {
            if let instrument = unsafe slots[index].instrument.load(ordering: .relaxed) {
                unsafe larger.insert(labels[index], hash: slots[index].hash, instrument.takeUnretainedValue())
            }
        }
        return larger
    }
}

/// The number of removals of series of a family. After the first one lookups take a lock.
@usableFromInline
final class SeriesRemovals: Sendable {
    @usableFromInline let counter = Atomic<Int>(0)

    init() {}

    @inlinable @inline(__always) var count: Int {
        counter.load(ordering: .acquiring)
    }

    func add() {
        counter.wrappingAdd(1, ordering: .releasing)
    }
}
