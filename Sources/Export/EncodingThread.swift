// SPDX-License-Identifier: Apache-2.0

internal import CPriority
internal import NIOCore
internal import NIOPosix

/// The thread that reads, encodes and compresses for all destinations; those that are behind take turns.
///
/// It gives way to the threads of ingest (nice(2)): a destination may lag, ingest may not. At 15 it gets a thirtieth of the
/// time of another thread that is always busy, so that a machine under load does not silence the destinations.
enum EncodingThread {
    private static let niceness: Int32 = 15
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()
    /// Goes on for it: a thread that this one started, such as the runtime starts for a task, would have its priority.
    private static let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Runs work that takes milliseconds; nil where it throws.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async -> Value? {
        let result = pool.runIfActive(eventLoop: loop) {
            // Where that is refused it works as other threads do.
            _ = dnp_set_niceness(niceness)
            return try work()
        }
        return try? await result.get()
    }
}
