// SPDX-License-Identifier: Apache-2.0

internal import LedgerState
internal import TelemetryEvents

/// What is handed to the ledger's writer.
enum IngestSubmission: Sendable {
    /// Events that were decoded, with what was refused beside them; `earlier` as an earlier version took the same events,
    /// where it took them in another way.
    case events(DecodedEvents, origin: EventOrigin, batch: BatchIdentity?, earlier: DecodedEvents? = nil)
    /// Events of a source that is read continuously, with all lines since its last submission and where it is now.
    case reading(DecodedEvents, origin: EventOrigin, lines: LogLineCounts, position: SourcePosition?)
    /// Events that are judged as if they were to be stored, and then forgotten.
    case dryRun(DecodedEvents, batch: BatchIdentity?, earlier: DecodedEvents? = nil)
    /// Time that passed without events, so that what closes by the clock closes at a place in the ledger.
    case tick
    /// Limits of the state that are halved so often from here on, to suit the ledger's disk.
    case limits(halvings: Int)
}

/// What identifies a batch that came with an `Idempotency-Key`.
struct BatchIdentity: Sendable {
    var key: UInt64
    var keyAndBody: UInt64
}

/// What became of a submission.
enum IngestOutcome: Sendable {
    /// It is durable, or would be if it were no dry run.
    case committed(accepted: Int, duplicates: Int)
    /// Its `Idempotency-Key` came before with another body; nothing was stored.
    case keyReused
}
