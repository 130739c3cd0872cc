// SPDX-License-Identifier: Apache-2.0

/// How much one read may return.
public struct ReadLimit: Sendable, Hashable {
    /// The most batches, at least 1.
    public var batches: Int
    /// The number of bytes after which no further batch is read; a read returns at least one batch if there is one,
    /// and so exceeds this by less than ``LedgerBatch/maximumBytes``.
    public var bytes: Int

    /// Makes a limit; the defaults are 1,024 batches and 4 MiB.
    public init(batches: Int = 1024, bytes: Int = 4 << 20) {
        self.batches = max(1, batches)
        self.bytes = max(1, bytes)
    }
}
