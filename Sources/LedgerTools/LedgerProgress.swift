// SPDX-License-Identifier: Apache-2.0

/// How far a command has read the ledger.
public struct LedgerProgress: Hashable, Sendable {
    /// The events of the batches that were read.
    public var events: UInt64 = 0
    /// What is read now, such as "batches".
    public var stage = "batches"

    /// The progress as a line.
    public func line(elapsedSeconds: Double) -> String {
        let rate = elapsedSeconds > 0 ? ", \(UInt64(Double(events) / elapsedSeconds)) events/s" : ""
        return "\(stage): \(events) events\(rate)"
    }
}
