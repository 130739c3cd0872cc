// SPDX-License-Identifier: Apache-2.0

/// How far a command has read the ledger.
package struct LedgerProgress: Hashable, Sendable {
    /// The events of the batches that were read.
    package var events: UInt64 = 0
    /// What is read now, such as "batches".
    package var stage = "batches"

    /// The progress as a line.
    package func line(elapsedSeconds: Double) -> String {
        let rate = elapsedSeconds > 0 ? ", \(UInt64(Double(events) / elapsedSeconds)) events/s" : ""
        return "\(stage): \(events) events\(rate)"
    }
}
