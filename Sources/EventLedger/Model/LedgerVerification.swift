// SPDX-License-Identifier: Apache-2.0

/// What reading a part of the ledger for the sake of its soundness found.
public struct LedgerVerification: Sendable, Equatable {
    /// How many batches were read.
    public internal(set) var batches = 0
    /// How many events the sound ones carry.
    public internal(set) var events: UInt64 = 0
    /// What is wrong, in order; at most ``maximumFindings``.
    public internal(set) var findings: [Finding] = []
    /// The last batch that was read; the next call goes on after it. Nil when the end was reached.
    public internal(set) var next: Int64?

    /// The most findings that one call reports.
    public static let maximumFindings = 100

    /// One thing that is wrong with a batch.
    public struct Finding: Sendable, Equatable {
        /// The batch.
        public let batch: Int64
        /// What was expected and what was found.
        public let detail: String
    }
}
