// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Bounds the bytes of request bodies in memory at once.
final class ByteBudget: Sendable {
    /// The share of one request.
    final class Lease: Sendable {
        private let budget: ByteBudget
        private let limit: Int
        private let taken = Atomic(0)

        /// - Parameter limit: the bytes allowed for all requests when this one begins.
        init(_ budget: ByteBudget, limit: Int) {
            self.budget = budget
            self.limit = limit
        }

        /// Takes more bytes; false, and nothing is taken, if not enough are left.
        func extend(by bytes: Int) -> Bool {
            guard budget.used.wrappingAdd(bytes, ordering: .relaxed).newValue <= limit else {
                budget.used.wrappingSubtract(bytes, ordering: .relaxed)
                return false
            }
            taken.wrappingAdd(bytes, ordering: .relaxed)
            return true
        }

        /// Returns all bytes to the budget.
        func giveBack() {
            budget.used.wrappingSubtract(taken.exchange(0, ordering: .relaxed), ordering: .relaxed)
        }
    }

    private let used = Atomic(0)
}

/// Threads that decode large bodies, so that health checks and scrapes don't wait for them.
enum LargeBodies {
    /// Larger plain bodies are decoded on these threads.
    private static let plainThresholdBytes = 256 << 10
    /// Larger compressed bodies are decoded on these threads; smaller ones expand to some MiB at most.
    private static let compressedThresholdBytes = 32 << 10

    /// Runs until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount - 1))
        threads.start()
        return threads
    }()

    static func isLarge(_ bytes: Int, isCompressed: Bool) -> Bool {
        bytes > (isCompressed ? compressedThresholdBytes : plainThresholdBytes)
    }

    /// Runs the work on one of the threads, unless the task is cancelled before it starts.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}
