// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The bytes of bodies that are worked on at once, so that many large requests cannot fill the memory.
final class ByteBudget: Sendable {
    /// One request's part of the budget.
    final class Lease: Sendable {
        private let budget: ByteBudget
        private let limit: Int
        private let taken = Atomic(0)

        /// - Parameter limit: the bytes of all requests, as they are allowed when this one begins.
        init(_ budget: ByteBudget, limit: Int) {
            self.budget = budget
            self.limit = limit
        }

        /// Takes more, or nothing and tells so when not enough is left.
        func extend(by bytes: Int) -> Bool {
            guard budget.used.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit else {
                budget.used.wrappingSubtract(bytes, ordering: .relaxed)
                return false
            }
            taken.wrappingAdd(bytes, ordering: .relaxed)
            return true
        }

        /// Gives everything back.
        func giveBack() {
            budget.used.wrappingSubtract(taken.exchange(0, ordering: .relaxed), ordering: .relaxed)
        }
    }

    private let used = Atomic(0)
}
