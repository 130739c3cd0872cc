// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Proofs that the ledger writer works")
struct WriterProofTests {
    let directory: TemporaryDirectory
    let ledger: EventLedger
    let recorder = Recorder()

    init() throws {
        directory = try TemporaryDirectory()
        ledger = try EventLedger.sample(in: directory)
    }

    func makeWriter(_ limits: GroupCommitLimits = GroupCommitLimits()) throws -> GroupCommit<RecordingProcessor> {
        try GroupCommit(ledger: ledger, processor: RecordingProcessor(recorder), limits: limits)
    }

    @Test("each commit and each prove() counts as a proof that the writer works")
    func commits() async throws {
        let writer = try makeWriter()
        #expect(writer.statistics.proofs == 0)
        _ = try await writer.submit(.init(1))
        #expect(writer.statistics.proofs == 1)
        let position = ledger.position
        let identity = try ledger.reader.identity()
        try await writer.prove()
        #expect(writer.statistics.proofs == 2)
        #expect(writer.statistics.commits == 1)
        #expect(ledger.position == position)
        #expect(try ledger.reader.identity() == identity)
        await writer.stop(within: .seconds(30))
        await #expect(throws: SubmissionError.stopped) { try await writer.prove() }
    }

    @Test("a lock held by another program counts as a proof of work, a failing ledger does not")
    func hindered() async throws {
        let writer = try makeWriter()
        let lock = try WriteLock(in: directory)
        await waitUntil("the lock is held") { lock.isHeld }
        await #expect(throws: SubmissionError.self) { try await writer.prove() }
        #expect(writer.statistics.proofs == 1)
        guard case .busy = writer.statistics.failure else {
            Issue.record("\(String(describing: writer.statistics.failure))")
            return
        }
        lock.release()
        try await writer.prove()
        #expect(writer.statistics.proofs == 2)
        #expect(writer.statistics.failure == nil)
        try ledger.close()
        await #expect(throws: SubmissionError.self) { try await writer.prove() }
        #expect(writer.statistics.proofs == 2)
        #expect(writer.statistics.failure != nil)
        await writer.stop(within: .seconds(30))
    }

    @Test("a stuck writer gives no proof of work, and new submissions are refused at once")
    func stuck() async throws {
        let writer = try makeWriter(GroupCommitLimits(commitTime: .milliseconds(20)))
        let gate = Gate()
        async let held = writer.submit(.init(1, gate: gate))
        await waitUntil("the writer reached the gate") { gate.reached }
        await waitUntil("it is late") { writer.statistics.busyNanoseconds > 20_000_000 }
        do throws(SubmissionError) {
            _ = try await writer.submit(.init(2))
            Issue.record("it was let in")
        } catch {
            guard case .slow = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(writer.statistics.slowRefusals == 1)
        #expect(writer.statistics.proofs == 0)
        writer.limit(waitingBytes: 1 << 20, commitTime: nil)
        async let second = writer.submit(.init(3))
        await waitUntil("it waits") { writer.statistics.waitingSubmissions == 2 }
        gate.open()
        _ = try await (held, second)
        #expect(writer.statistics.proofs > 0)
        await waitUntil("it rests") { writer.statistics.busyNanoseconds == 0 }
        await writer.stop(within: .seconds(30))
    }
}
