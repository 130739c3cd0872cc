// SPDX-License-Identifier: Apache-2.0

/// Why a submission was not stored.
public enum SubmissionError: Error, Sendable, Equatable {
    /// Too much waits already. The hint is when there should be room again, without jitter.
    case overloaded(retryAfter: Duration)
    /// Commits take longer than they may. The hint is as above.
    case slow(retryAfter: Duration)
    /// The writer is stopping or has stopped.
    case stopped
    /// The ledger did not store the group that the submission was in.
    case failed(LedgerError)
}

extension SubmissionError: CustomStringConvertible {
    /// What happened and what to do about it.
    public var description: String {
        switch self {
        case .overloaded(let retryAfter): "too many submissions wait to be stored; try again in \(retryAfter)"
        case .slow(let retryAfter): "commits take longer than they may; try again in \(retryAfter)"
        case .stopped: "the ledger's writer has stopped; submit to a running service"
        case .failed(let error): error.description
        }
    }
}
