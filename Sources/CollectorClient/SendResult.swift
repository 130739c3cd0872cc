// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// What became of an input.
package struct SendResult: Sendable {
    /// How it ended.
    package enum Ending: Equatable, Sendable {
        /// All of it was sent.
        case complete
        /// Ctrl-C ended it; what had been read was sent.
        case interrupted
        /// It could be read so far only.
        case unreadable(String)
        /// The collector could not be reached in time.
        case unreachable(String)
        /// The collector does not take it.
        case refused(String)
    }

    /// How it ended.
    package internal(set) var ending = Ending.complete
    /// Events that the collector stored.
    package internal(set) var accepted: UInt64 = 0
    /// Events that it had already.
    package internal(set) var duplicates: UInt64 = 0
    /// Events that nobody can read.
    package internal(set) var rejected: UInt64 = 0
    /// The first of them.
    package internal(set) var rejections: [SendRejection] = []
    /// Batches that were acknowledged.
    package internal(set) var batches = 0
    /// Attempts beyond the first of each batch.
    package internal(set) var retries = 0
    /// The lines of a log; all zero where there was none.
    var lines = LogLineCounts()

    /// Lines of the plugin that nothing recognised.
    package var unrecognisedLines: UInt64 { lines.unrecognised }

    mutating func add(_ receipt: BatchOutcome.Receipt, of batch: SendBatch) {
        batches += 1
        accepted += receipt.accepted
        duplicates += receipt.duplicates
        rejected += receipt.rejectedTotal
        for rejection in receipt.rejected.prefix(SendAccount.namedRejections - rejections.count) {
            rejections.append(SendRejection(place: batch.place(of: rejection.index), reason: rejection.reason))
        }
        guard let read = receipt.lines else { return }
        lines.read += read.read
        lines.recognised += read.recognised
        lines.foreign += read.foreign
        lines.unrecognised += read.unrecognised
    }

    mutating func add(_ account: SendAccount, _ decoded: LogLineCounts) {
        lines += decoded
        rejected += account.rejected
        rejections += account.rejections.prefix(SendAccount.namedRejections - rejections.count)
    }
}

/// An event that nobody can read.
package struct SendRejection: Hashable, Sendable {
    /// Where in the input it stands: "line 17".
    package var place: String
    /// What was expected and what was found.
    package var reason: String
}
