// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOPosix

/// The threads that read, encode and compress for all destinations.
///
/// They give way to the threads of ingest (nice(2)): a destination may lag, ingest may not. At 10 they get a tenth of the
/// time of another thread that is always busy, so that a machine under load does not silence the destinations.
enum EncodingThreads {
    private static let niceness: Int32 = 10
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
            setpriority(Int32(PRIO_PROCESS.rawValue), 0, niceness)
            return try work()
        }
    }
}
