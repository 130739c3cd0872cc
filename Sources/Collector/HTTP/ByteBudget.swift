// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The bytes of bodies that may be worked on at once, so that many large requests cannot fill the memory.
final class ByteBudget: Sendable {
    /// A part of the budget, to be given back once.
    struct Lease: Sendable {
        fileprivate let budget: ByteBudget
        fileprivate let bytes: Int

        func giveBack() {
            budget.left.wrappingAdd(bytes, ordering: .relaxed)
        }
    }

    private let left: Atomic<Int>

    init(bytes: Int) {
        left = Atomic(bytes)
    }

    /// Takes a part, or nil when not enough is left.
    func take(_ bytes: Int) -> Lease? {
        let rest = left.wrappingSubtract(bytes, ordering: .relaxed).newValue
        guard rest >= 0 else {
            left.wrappingAdd(bytes, ordering: .relaxed)
            return nil
        }
        return Lease(budget: self, bytes: bytes)
    }
}
