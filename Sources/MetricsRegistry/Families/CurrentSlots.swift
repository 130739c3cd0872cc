// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The table in which readers look now. It owns no table: the family keeps all that were ever published.
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
