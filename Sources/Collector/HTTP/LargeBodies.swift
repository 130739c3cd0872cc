// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

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
