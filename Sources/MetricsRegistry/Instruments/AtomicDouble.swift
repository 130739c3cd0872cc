// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// A double in an atomic word, with the read-modify-write operations that metrics need.
@usableFromInline
struct AtomicDouble: ~Copyable, Sendable {
    @usableFromInline let bits: Atomic<UInt64>

    init(_ value: Double) {
        bits = Atomic(value.bitPattern)
    }

    @inlinable var value: Double {
        Double(bitPattern: bits.load(ordering: .relaxed))
    }

    var pattern: UInt64 {
        bits.load(ordering: .relaxed)
    }

    @inlinable
    func store(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    @inlinable
    func add(_ amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let wanted = (Double(bitPattern: seen) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: seen, desired: wanted, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    /// Adds to a total, which stays finite; both are.
    func add(toTotal amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let wanted = Double(bitPattern: seen).addingUpToFinite(amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: seen, desired: wanted, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }

    func raise(to value: Double) {
        var seen = bits.load(ordering: .relaxed)
        while Double(bitPattern: seen) < value {
            let (exchanged, original) = bits.weakCompareExchange(
                expected: seen,
                desired: value.bitPattern,
                ordering: .relaxed
            )
            if exchanged { return }
            seen = original
        }
    }
}
