// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOPosix

/// The threads that read, encode and compress for all destinations.
///
/// They give way to every other thread of the machine (nice(2)): a destination may lag, ingest may not.
enum EncodingThreads {
    /// Two, so that one destination encodes while another one reads.
    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 2)
        pool.start()
        return pool
    }()

    /// Runs work that takes milliseconds; nil where it throws.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async -> Value? {
        try? await pool.runIfActive {
            // Of the calling thread alone, as Linux has it.
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
            return try work()
        }
    }
}
