// SPDX-License-Identifier: Apache-2.0

import EventLedger

/// Stores each submission once, by its number, and records what happens.
struct RecordingProcessor: CommitProcessor {
    struct Submission: Sendable {
        let number: Int
        let bytes: Int
        let gate: Gate?

        init(_ number: Int, bytes: Int = 100, gate: Gate? = nil) {
            self.number = number
            self.bytes = bytes
            self.gate = gate
        }
    }

    struct Outcome: Sendable {
        let number: Int
        let placement: CommitPlacement?
    }

    let recorder: Recorder
    var ticks = 0
    private var known: Set<Int> = []
    private var noted: [Int] = []

    init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    static func cost(of submission: Submission) -> Int { submission.bytes }

    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> LedgerBatch? {
        submission.gate?.pass()
        recorder.change { $0.prepared.append(submission.number) }
        guard known.insert(submission.number).inserted else { return nil }
        noted.append(submission.number)
        return .sample(submission.number, count: submission.number < 0 ? 0 : 1, bytes: submission.bytes, at: receivedAt)
    }

    mutating func commit(_ submission: Submission, at placement: CommitPlacement?) -> Outcome {
        recorder.change { $0.committed.append(submission.number) }
        return Outcome(number: submission.number, placement: placement)
    }

    mutating func groupCommitted(at position: LedgerPosition, now: Int64) {
        noted.removeAll()
        let known = known
        recorder.change {
            $0.groups.append(position)
            $0.known = known
        }
    }

    mutating func aborted(_ error: LedgerError) {
        known.subtract(noted)
        noted.removeAll()
        recorder.change { $0.aborted.append(error) }
    }

    mutating func settled(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        recorder.change { $0.settled += 1 }
    }

    mutating func tick(now: Int64) -> Submission? {
        ticks += 1
        return ticks <= 2 ? Submission(-ticks) : nil
    }

    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        recorder.change { $0.stopped.append(position) }
    }
}
