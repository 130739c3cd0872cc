// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension Atomic where Value == UInt64 {
    /// Replaces the value if it is lower.
    ///
    /// `max(_:ordering:)` compares as if the words were signed (Swift 6.3), and would ignore values from 2^63 on.
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
