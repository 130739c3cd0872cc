// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// The writer has stopped, or the service stops while the ledger stores nothing: what follows is not taken.
struct IntakeEnded: Error {}

extension GroupCommit where Processor == IngestProcessor {
    /// Hands in what cannot be refused, because nobody would send it again: tries until it is durable or the sources end.
    func store(_ submission: IngestSubmission, unless stop: SourceStop) async throws(IntakeEnded) -> IngestOutcome {
        while true {
            let pause: Duration?
            do throws(SubmissionError) {
                return try await submit(submission)
            } catch {
                pause = error.pauseOfSources
            }
            guard let pause, await stop.sleep(pause) else { throw IntakeEnded() }
        }
    }
}

extension SubmissionError {
    /// How long a source waits before it tries again; nil when that is of no use. The hints are for clients, which are many:
    /// a source goes on as soon as the ledger does.
    var pauseOfSources: Duration? {
        switch self {
        case .stopped: nil
        case .overloaded(let retryAfter), .slow(let retryAfter): min(retryAfter, .seconds(1))
        case .failed: .seconds(1)
        }
    }
}
