// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
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

/// Threads for bodies that take long to decode, so that health and scrapes are answered meanwhile.
enum LargeBodies {
    /// A plain body that is larger is decoded here, in bytes.
    private static let largestPlain = 256 << 10
    /// A compressed body that is larger is decoded here, in bytes; smaller ones come to some MiB at most.
    private static let largestCompressed = 32 << 10

    /// Runs until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount - 1))
        threads.start()
        return threads
    }()

    static func isLarge(_ bytes: Int, isCompressed: Bool) -> Bool {
        bytes > (isCompressed ? largestCompressed : largestPlain)
    }

    /// Runs the work on one of the threads, unless the task is cancelled before its turn comes.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}
