// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// An open-addressed hash table from combinations of label values to instruments, which it owns, that is read without
/// a lock and only ever gains entries.
///
/// A reader may look while one writer inserts: a slot's hash and combination are written before its instrument is
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

    /// Whether another entry would fill more than half of the slots, so that look-ups would take long.
    var isCrowded: Bool { count * 2 >= mask }

    /// The instrument of these labels, which lives as long as the table. Any thread, at any time.
    @inlinable @inline(__always)
    func find(_ wanted: Labels, hash: UInt64) -> Unmanaged<Instrument>? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let instrument = unsafe slots[index].instrument.load(ordering: .acquiring) {
            if unsafe slots[index].hash == hash, unsafe labels[index] == wanted { return unsafe instrument }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Adds what isn't there yet. One thread at a time; the table must not be crowded.
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
