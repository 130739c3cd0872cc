// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The bytes of bodies that may be worked on at once, so that many large requests cannot fill the memory.
final class ByteBudget: Sendable {
    /// One request's part of the budget.
    final class Lease: Sendable {
        private let budget: ByteBudget
        private let taken = Atomic(0)

        init(_ budget: ByteBudget) {
            self.budget = budget
        }

        /// Takes more, or nothing and tells so when not enough is left.
        func extend(by bytes: Int) -> Bool {
            guard budget.left.wrappingSubtract(bytes, ordering: .relaxed).newValue >= 0 else {
                budget.left.wrappingAdd(bytes, ordering: .relaxed)
                return false
            }
            taken.wrappingAdd(bytes, ordering: .relaxed)
            return true
        }

        /// Gives everything back.
        func giveBack() {
            budget.left.wrappingAdd(taken.exchange(0, ordering: .relaxed), ordering: .relaxed)
        }
    }

    private let left: Atomic<Int>

    init(bytes: Int) {
        left = Atomic(bytes)
    }
}
