// SPDX-License-Identifier: Apache-2.0

internal import EventLedger

/// The writer has stopped, or the service stops while the ledger stores nothing: what follows is not taken.
struct IntakeEnded: Error {}

extension GroupCommit where Processor == IngestProcessor {
    /// Hands in what cannot be refused, because nobody would send it again: tries until it is durable or the sources end.
    func store(_ submission: IngestSubmission, unless stop: SourceStop) async throws(IntakeEnded) -> IngestOutcome {
        while true {
            let pause: Duration
            do throws(SubmissionError) {
                return try await submit(submission)
            } catch {
                switch error {
                case .stopped: throw IntakeEnded()
                case .overloaded(let retryAfter), .slow(let retryAfter): pause = retryAfter
                case .failed: pause = .seconds(1)
                }
            }
            guard await stop.sleep(pause) else { throw IntakeEnded() }
        }
    }
}
