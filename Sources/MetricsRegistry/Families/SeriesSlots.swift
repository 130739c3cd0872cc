// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An open-addressed hash table of the series of a family, read without a lock while it only gains entries.
///
/// Readers may run during an insertion: the hash of a slot is written before its member is published. The table does
/// not own its members: the family keeps them, and this table, for as long as it lives.
@safe
final class SeriesSlots<Member: Instrument>: @unchecked Sendable {
    @safe
    private struct Slot: ~Copyable {
        var hash: UInt64 = 0
        let member = unsafe Atomic<Unmanaged<Member>?>(nil)
    }

    private let mask: Int
    private let slots: UnsafeMutablePointer<Slot>
    private var used = 0

    /// `capacity` slots, a power of two.
    init(capacity: Int) {
        precondition(capacity > 1 && capacity & (capacity - 1) == 0)
        mask = capacity - 1
        unsafe slots = .allocate(capacity: capacity)
        for index in 0..<capacity {
            unsafe (slots + index).initialize(to: Slot())
        }
    }

    deinit {
        unsafe slots.deinitialize(count: mask + 1)
        unsafe slots.deallocate()
    }

    var capacity: Int { mask + 1 }

    /// Whether another entry would fill more than half of the slots and slow lookups down.
    var isCrowded: Bool { used * 2 >= mask }

    /// The member with this hash for which `matches` holds. Safe on any thread at any time.
    @inline(__always)
    func member(hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        unsafe reference(hash: hash, where: matches)?._withUnsafeGuaranteedRef { $0 }
    }

    /// The member with this hash, without retaining it.
    @inline(__always)
    func reference(hash: UInt64, where matches: (Member) -> Bool) -> Unmanaged<Member>? {
        var index = Int(truncatingIfNeeded: hash) & mask
        while let found = unsafe slots[index].member.load(ordering: .acquiring) {
            if unsafe slots[index].hash == hash, unsafe found._withUnsafeGuaranteedRef(matches) { return unsafe found }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Adds a new member. One thread at a time; the table must not be crowded.
    func insert(_ member: Member, hash: UInt64) {
        precondition(!isCrowded)
        var index = Int(truncatingIfNeeded: hash) & mask
        while unsafe slots[index].member.load(ordering: .relaxed) != nil {
            index = (index + 1) & mask
        }
        unsafe slots[index].hash = hash
        unsafe slots[index].member.store(Unmanaged.passUnretained(member), ordering: .releasing)
        used += 1
    }

    /// Removes a member; no reader may run meanwhile. `hashOf` returns the hash that a member was inserted with.
    func remove(_ member: Member, hash: UInt64, hashOf: (Member) -> UInt64) {
        var gap = Int(truncatingIfNeeded: hash) & mask
        while let found = pointer(at: gap), found !== member { gap = (gap + 1) & mask }
        guard pointer(at: gap) != nil else { return }
        var index = (gap + 1) & mask
        while let next = pointer(at: index) {
            let home = Int(truncatingIfNeeded: hashOf(next)) & mask
            if (index - home) & mask >= (index - gap) & mask {
                unsafe slots[gap].hash = slots[index].hash
                unsafe slots[gap].member.store(Unmanaged.passUnretained(next), ordering: .relaxed)
                gap = index
            }
            index = (index + 1) & mask
        }
        unsafe slots[gap].member.store(nil, ordering: .relaxed)
        used -= 1
    }

    private func pointer(at index: Int) -> Member? {
        unsafe slots[index].member.load(ordering: .relaxed)?.takeUnretainedValue()
    }
}

/// The table that readers currently use. It owns no table: the family keeps all that were ever published.
@safe
struct CurrentSlots<Member: Instrument>: ~Copyable, Sendable {
    private let slots: Atomic<Unmanaged<SeriesSlots<Member>>>

    init(_ first: SeriesSlots<Member>) {
        unsafe slots = Atomic(Unmanaged.passUnretained(first))
    }

    @inline(__always)
    func member(hash: UInt64, where matches: (Member) -> Bool) -> Member? {
        unsafe slots.load(ordering: .acquiring)._withUnsafeGuaranteedRef { $0.member(hash: hash, where: matches) }
    }

    @inline(__always)
    func reference(hash: UInt64, where matches: (Member) -> Bool) -> Unmanaged<Member>? {
        unsafe slots.load(ordering: .acquiring)
            ._withUnsafeGuaranteedRef { unsafe $0.reference(hash: hash, where: matches) }
    }

    func publish(_ next: SeriesSlots<Member>) {
        unsafe slots.store(Unmanaged.passUnretained(next), ordering: .releasing)
    }
}
