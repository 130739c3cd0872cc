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

    /// Adds to a finite total, which stays finite; `amount` is finite.
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

extension Atomic where Value == UInt64 {
    /// Raises the value to `value` if it is lower.
    ///
    /// `max(_:ordering:)` compares words as signed (Swift 6.3) and would ignore values from 2^63 on.
    func raise(to value: UInt64, releasing: Bool = false) {
        var seen = load(ordering: .relaxed)
        while seen < value {
            let (exchanged, original) =
                releasing
                ? weakCompareExchange(
                    expected: seen,
                    desired: value,
                    successOrdering: .releasing,
                    failureOrdering: .relaxed
                ) : weakCompareExchange(expected: seen, desired: value, ordering: .relaxed)
            if exchanged { return }
            seen = original
        }
    }
}

extension Double {
    /// The sum of two finite numbers, saturating at the largest finite one, since an infinite total would stay
    /// infinite.
    @inline(__always)
    func addingUpToFinite(_ other: Double) -> Double {
        let sum = self + other
        if sum.isFinite { return sum }
        return sum < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
    }
}
