// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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

    /// Runs work that takes milliseconds; nil where it throws.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async -> Value? {
        try? await pool.runIfActive {
            // Of the calling thread alone, as Linux has it.
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, niceness)
            return try work()
        }
    }
}
