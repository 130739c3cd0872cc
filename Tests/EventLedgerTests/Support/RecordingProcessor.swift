// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import SystemPrimitives
import Testing

@testable import EventLedger

/// Stores each submission once, by its number, and records every call.
struct RecordingProcessor: CommitProcessor {
    struct Submission: Sendable {
        let number: Int
        let bytes: Int
        let gate: Gate?
        /// Holds the writer before the submission is applied.
        let commitGate: Gate?

        init(_ number: Int, bytes: Int = 100, gate: Gate? = nil, commitGate: Gate? = nil) {
            self.number = number
            self.bytes = bytes
            self.gate = gate
            self.commitGate = commitGate
        }
    }

    struct Outcome: Sendable {
        let number: Int
        let placement: CommitPlacement?
    }

    let recorder: Recorder
    var ticks = 0
    private var known: Set<Int> = []
    private var commitGates: [Int: Gate] = [:]

    init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    static func cost(of submission: Submission) -> Int { submission.bytes }

    mutating func prepare(_ submission: Submission, receivedAt: Int64) -> CommitDecision<Int, Outcome> {
        commitGates[submission.number] = submission.commitGate
        submission.gate?.pass()
        let number = submission.number
        recorder.change { $0.prepared.append(number) }
        guard known.insert(number).inserted else { return .answer(Outcome(number: number, placement: nil)) }
        return .append(.sample(number, count: number < 0 ? 0 : 1, bytes: submission.bytes, at: receivedAt), number)
    }

    mutating func commit(_ number: Int, of batch: LedgerBatch, at placement: CommitPlacement) -> Outcome {
        commitGates[number]?.pass()
        recorder.change {
            $0.committed.append(number)
            $0.batches.append(batch)
        }
        return Outcome(number: number, placement: placement)
    }

    mutating func abort(_ number: Int) {
        known.remove(number)
        recorder.change { $0.aborted.append(number) }
    }

    mutating func applied(through position: LedgerPosition, now: Int64) {
        let known = known
        recorder.change {
            $0.groups.append(position)
            $0.known = known
        }
    }

    mutating func groupAborted(_ error: LedgerError) {
        recorder.change { $0.errors.append(error) }
    }

    mutating func maintain(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        recorder.change { $0.maintained += 1 }
    }

    mutating func tick(now: Int64) -> Submission? {
        ticks += 1
        return ticks <= 2 ? Submission(-ticks) : nil
    }

    mutating func stopping(_ ledger: EventLedger, at position: LedgerPosition, now: Int64) {
        recorder.change { $0.stopped.append(position) }
    }
}

/// The calls of a processor, readable from outside the writer thread.
final class Recorder: Sendable {
    struct Log: Sendable {
        var prepared: [Int] = []
        var committed: [Int] = []
        var groups: [LedgerPosition] = []
        var batches: [LedgerBatch] = []
        var maintained = 0
        var aborted: [Int] = []
        var errors: [LedgerError] = []
        var known: Set<Int> = []
        var stopped: [LedgerPosition] = []
        /// The submissions that were answered, as a test notes them.
        var answered: [Int] = []
    }

    private let contents = Mutex(Log())

    var log: Log { contents.withLock { $0 } }

    func change(_ body: (inout Log) -> Void) {
        contents.withLock { body(&$0) }
    }
}

/// Blocks the writer thread until it is opened.
final class Gate: @unchecked Sendable {
    private let monitor = Monitor()
    private var isOpen = false
    private var isReached = false

    var reached: Bool { monitor.withLock { isReached } }

    func open() {
        monitor.withLock {
            isOpen = true
            monitor.signal()
        }
    }

    func pass() {
        monitor.withLock {
            isReached = true
            while !isOpen { monitor.wait() }
        }
    }
}

/// Collects reports from the writer thread.
final class ReportBox: Sendable {
    private let reports = Mutex<[CommitReport]>([])

    var all: [CommitReport] { reports.withLock { $0 } }

    func add(_ report: CommitReport) {
        reports.withLock { $0.append(report) }
    }
}

/// Waits until `condition` holds and records an issue when it doesn't within 30 s.
func waitUntil(
    _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () -> Bool
) async {
    for _ in 0..<30_000 {
        if condition() { return }
        _ = poll(nil, 0, 1)
        await Task.yield()
    }
    Issue.record(what, sourceLocation: sourceLocation)
}

/// Holds the write lock of a ledger's database, as another program would.
///
/// On a thread of its own: a task that blocks would take one of the few threads that all tests share.
final class WriteLock: Sendable {
    private let gate: Gate
    private let thread: NamedThread

    init(in directory: TemporaryDirectory) throws {
        let connection = try LedgerConnection(path: directory.path + "/ledger.sqlite", readOnly: false, setUp: [])
        let gate = Gate()
        self.gate = gate
        thread = try NamedThread(name: "write-lock") {
            try? connection.transaction(.immediate) { (_) throws(LedgerError) in gate.pass() }
        }
    }

    var isHeld: Bool { gate.reached }

    /// Releases the lock; to be called once.
    func release() {
        gate.open()
        thread.join()
    }
}
