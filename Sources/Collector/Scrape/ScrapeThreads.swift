// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix

/// Threads that render and compress pages, so that no connection waits for a page but its own. There are fewer than
/// processors, where there are several: scrapes never take them all from ingest.
enum ScrapeThreads {
    /// Runs until the process ends.
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: max(1, System.coreCount - 1))
        threads.start()
        return threads
    }()

    /// Runs the work on one of the threads, unless the task is cancelled before its turn comes.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws -> Value {
        try await threads.runIfActive(work)
    }
}
