// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Group commit")
struct GroupCommitTests {
    let directory: TemporaryDirectory
    let ledger: EventLedger
    let recorder = Recorder()

    init() throws {
        directory = try TemporaryDirectory()
        ledger = try EventLedger.sample(in: directory)
    }

    func makeWriter(
        limits: GroupCommitLimits = GroupCommitLimits(),
        tickInterval: Duration? = nil,
        observe: (@Sendable (CommitReport) -> Void)? = nil
    ) throws -> GroupCommit<RecordingProcessor> {
        try GroupCommit(
            ledger: ledger,
            processor: RecordingProcessor(recorder),
            limits: limits,
            clock: LedgerClock(now: { sampleTime }, monotonic: LedgerClock.system.monotonic),
            tickInterval: tickInterval,
            observe: observe
        )
    }

    func answer(
        _ writer: GroupCommit<RecordingProcessor>,
        _ submission: RecordingProcessor.Submission
    ) async -> Result<RecordingProcessor.Outcome, SubmissionError> {
        do throws(SubmissionError) {
            return .success(try await writer.submit(submission))
        } catch {
            return .failure(error)
        }
    }

    @Test("sixty-five submissions share two transactions, and each gets its own placement")
    func sharesTransactions() async throws {
        let writer = try makeWriter()
        let gate = Gate()
        let outcomes = try await withThrowingTaskGroup(of: RecordingProcessor.Outcome.self) { group in
            group.addTask { try await writer.submit(.init(0, gate: gate)) }
            await waitUntil("the writer reached the gate") { gate.reached }
            for number in 1...64 {
                group.addTask { try await writer.submit(.init(number)) }
            }
            await waitUntil("all wait") { writer.statistics.waitingSubmissions == 65 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let statistics = writer.statistics
        #expect(statistics.commits == 2)
        #expect(statistics.submissions == 65)
        #expect(statistics.events == 65)
        #expect(statistics.waitingSubmissions == 0 && statistics.waitingBytes == 0)
        #expect(recorder.log.groups.map(\.sequence) == [1, 65])

        let stored = try ledger.reader.read(afterBatch: 0)
        for outcome in outcomes {
            let placement = try #require(outcome.placement)
            #expect(
                stored[Int(placement.batch) - 1].batch.events == LedgerBatch.sample(outcome.number, bytes: 100).events
            )
            #expect(stored[Int(placement.batch) - 1].firstSequence == placement.firstSequence)
        }
        #expect(Set(outcomes.map(\.number)) == Set(0...64))
        #expect(recorder.log.prepared == recorder.log.committed)
        await writer.stop(within: .seconds(30))
    }

    @Test("submitters of a large group are answered in parts, each once what it may see is applied")
    func answersInParts() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(answeredEvents: 2))
        let (gate, commitGate) = (Gate(), Gate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await writer.submit(.init(0, gate: gate)) }
            await waitUntil("the writer reached the gate") { gate.reached }
            for number in [1, 2, 1, 3, 4, 5] {
                let waiting = writer.statistics.waitingSubmissions
                group.addTask { [recorder] in
                    _ = try await writer.submit(.init(number, commitGate: number == 4 ? commitGate : nil))
                    #expect(recorder.log.groups.last.map { $0.sequence > UInt64(number) } ?? false)
                    recorder.change { $0.answered.append(number) }
                }
                await waitUntil("\(number) waits") { writer.statistics.waitingSubmissions == waiting + 1 }
            }
            gate.open()
            await waitUntil("the first part is answered") { Set(recorder.log.answered) == [1, 2] }
            #expect(recorder.log.groups.map(\.sequence) == [1, 3])
            #expect(writer.statistics.waitingSubmissions == 4 && writer.statistics.commits == 1)
            commitGate.open()
            try await group.waitForAll()
        }
        #expect(writer.statistics.commits == 2)
        #expect(writer.statistics.submissions == 7)
        #expect(writer.statistics.waitingSubmissions == 0 && writer.statistics.waitingBytes == 0)
        #expect(recorder.log.committed == Array(0...5))
        #expect(recorder.log.groups.map(\.sequence) == [1, 3, 5, 6])
        await writer.stop(within: .seconds(30))
    }

    @Test("submissions are committed in the order of their arrival")
    func keepsOrder() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(groupSubmissions: 3))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await writer.submit(.init(0, gate: gate)) }
            await waitUntil("the writer reached the gate") { gate.reached }
            for number in 1...10 {
                group.addTask { _ = try await writer.submit(.init(number)) }
                await waitUntil("\(number) waits") { writer.statistics.waitingSubmissions == number + 1 }
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(recorder.log.committed == Array(0...10))
        #expect(recorder.log.groups.map(\.batch) == [1, 4, 7, 10, 11])
        await writer.stop(within: .seconds(30))
    }

    @Test("a commit group ends at its limit of bytes")
    func groupBytes() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(groupBytes: 1000))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await writer.submit(.init(0, gate: gate)) }
            await waitUntil("the writer reached the gate") { gate.reached }
            for (number, bytes) in [(1, 600), (2, 400), (3, 5000), (4, 1)] {
                group.addTask { _ = try await writer.submit(.init(number, bytes: bytes)) }
                await waitUntil("\(number) waits") { writer.statistics.waitingSubmissions == number + 1 }
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(recorder.log.groups.map(\.batch) == [1, 3, 4, 5])
        await writer.stop(within: .seconds(30))
    }

    @Test("a full queue refuses at once, by number and by bytes, and admits again when it has drained")
    func rejectsOverload() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(waitingSubmissions: 3, waitingBytes: 1000))
        let gate = Gate()
        async let first = writer.submit(.init(0, bytes: 5000, gate: gate))
        await waitUntil("the writer reached the gate") { gate.reached }
        await #expect(throws: SubmissionError.overloaded(retryAfter: .milliseconds(100))) {
            _ = try await writer.submit(.init(1, bytes: 1))
        }
        gate.open()
        #expect(try await first.placement?.batch == 1)

        let second = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await writer.submit(.init(2, gate: second)) }
            await waitUntil("the writer reached the gate") { second.reached }
            for number in 3...4 { group.addTask { _ = try await writer.submit(.init(number)) } }
            await waitUntil("three wait") { writer.statistics.waitingSubmissions == 3 }
            await #expect(throws: SubmissionError.self) { _ = try await writer.submit(.init(5)) }
            second.open()
            try await group.waitForAll()
        }
        #expect(writer.statistics.overloads == 2)
        #expect(try await writer.submit(.init(6)).placement != nil)
        #expect(!recorder.log.prepared.contains(5))
        await writer.stop(within: .seconds(30))
    }

    @Test("admit() throws and counts while the queue is full, before a submission is built")
    func admits() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(waitingSubmissions: 2))
        let gate = Gate()
        try writer.admit()
        async let first = writer.submit(.init(0, gate: gate))
        await waitUntil("the writer reached the gate") { gate.reached }
        try writer.admit()
        async let second = writer.submit(.init(1))
        await waitUntil("both wait") { writer.statistics.waitingSubmissions == 2 }
        #expect(throws: SubmissionError.overloaded(retryAfter: .milliseconds(100))) { try writer.admit() }
        #expect(writer.statistics.overloads == 1 && writer.statistics.waitingSubmissions == 2)
        gate.open()
        _ = try await (first, second)
        try writer.admit()
        await writer.stop(within: .seconds(30))
        #expect(throws: SubmissionError.stopped) { try writer.admit() }
    }

    @Test("while commits fail, admit() lets one probe through, and an oversized submission blocks no others")
    func admitsBehindFailures() async throws {
        let writer = try makeWriter()
        let lock = try WriteLock(in: directory)
        await waitUntil("the lock is held") { lock.isHeld }
        #expect(await isFailure(answer(writer, .init(1))))
        try writer.admit()
        let gate = Gate()
        async let probe = answer(writer, .init(2, gate: gate))
        await waitUntil("the writer reached the gate") { gate.reached }
        let failure = try #require(writer.statistics.failure)
        #expect(throws: SubmissionError.failed(failure)) { try writer.admit() }
        #expect(writer.statistics.failedSubmissions == 2 && writer.statistics.fullSubmissions == 0)
        lock.release()
        gate.open()
        #expect(await !isFailure(probe))
        #expect(await isFailure(answer(writer, .init(3, bytes: LedgerBatch.maximumBytes + 1))))
        let last = Gate()
        async let held = answer(writer, .init(4, gate: last))
        await waitUntil("the writer reached the last gate") { last.reached }
        try writer.admit()
        last.open()
        #expect(await !isFailure(held))
        await writer.stop(within: .seconds(30))
    }

    private func isFailure(_ answer: Result<RecordingProcessor.Outcome, SubmissionError>) -> Bool {
        if case .failure = answer { true } else { false }
    }

    @Test("a failed group is undone with an error for each submitter, and the next group is stored")
    func failedGroup() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(waitingBytes: .max, groupBytes: .max))
        _ = try await writer.submit(.init(1))
        let gate = Gate()
        let results = await withTaskGroup(of: Result<RecordingProcessor.Outcome, SubmissionError>.self) { group in
            group.addTask { await answer(writer, .init(2, gate: gate)) }
            await waitUntil("the writer reached the gate") { gate.reached }
            group.addTask { await answer(writer, .init(3)) }
            await waitUntil("3 waits") { writer.statistics.waitingSubmissions == 2 }
            group.addTask { await answer(writer, .init(4, bytes: LedgerBatch.maximumBytes)) }
            await waitUntil("4 waits") { writer.statistics.waitingSubmissions == 3 }
            gate.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        let failures = results.filter {
            if case .failure(.failed(.refused)) = $0 { return true }
            return false
        }
        #expect(failures.count == 2)
        #expect(recorder.log.committed == [1, 2])
        #expect(recorder.log.errors.count == 1)
        #expect(writer.statistics.failedGroups == 1)

        #expect(ledger.position == LedgerPosition(batch: 2, sequence: 2))
        #expect(try await writer.submit(.init(3)).placement?.position == LedgerPosition(batch: 3, sequence: 3))
        #expect(recorder.log.known == [1, 2, 3])
        #expect(try ledger.reader.verify().findings.isEmpty)
        await writer.stop(within: .seconds(30))
    }

    @Test("each commit and each abort gets the preparation of its own batch, past submissions with nothing to store")
    func returnsPreparations() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(waitingBytes: .max, groupBytes: .max))
        /// Submits everything as one group, in order.
        func submitGroup(_ submissions: [RecordingProcessor.Submission]) async -> [Int?] {
            let gate = Gate()
            return await withTaskGroup(of: (Int, Int?).self) { group in
                group.addTask {
                    _ = try? await writer.perform { _, _ in gate.pass() }; return (-1, nil)
                }
                await waitUntil("the writer reached the gate") { gate.reached }
                for (index, submission) in submissions.enumerated() {
                    group.addTask {
                        (index, try? await answer(writer, submission).get().placement.map { Int($0.batch) })
                    }
                    await waitUntil("it waits") { writer.statistics.waitingSubmissions == index + 1 }
                }
                gate.open()
                return await group.reduce(into: [Int?](repeating: nil, count: submissions.count)) {
                    if $1.0 >= 0 { $0[$1.0] = $1.1 }
                }
            }
        }
        let placed = await submitGroup([.init(1), .init(1), .init(2), .init(2), .init(3)])
        #expect(placed == [1, nil, 2, nil, 3])
        #expect(recorder.log.committed == [1, 2, 3])
        #expect(recorder.log.batches == [1, 2, 3].map { .sample($0, count: 1, bytes: 100, at: sampleTime) })
        #expect(recorder.log.aborted == [])

        let failed = await submitGroup([.init(4), .init(1), .init(5, bytes: LedgerBatch.maximumBytes)])
        #expect(failed == [nil, nil, nil])
        #expect(recorder.log.aborted == [5, 4])
        #expect(recorder.log.committed == [1, 2, 3])
        #expect(await submitGroup([.init(4)]) == [4])
        await writer.stop(within: .seconds(30))
    }

    @Test("a submission with nothing to store is answered without a transaction")
    func nothingToStore() async throws {
        let writer = try makeWriter()
        #expect(try await writer.submit(.init(1)).placement?.firstSequence == 1)
        #expect(try await writer.submit(.init(1)).placement == nil)
        #expect(writer.statistics.commits == 1)
        #expect(writer.statistics.submissions == 2)
        #expect(ledger.position.batch == 1)
        await writer.stop(within: .seconds(30))
    }

    @Test("a stop commits what waits, calls stopping() once and refuses later submissions")
    func stopDrains() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(groupSubmissions: 5))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask { _ = try await writer.submit(.init(number, gate: gate)) }
            }
            await waitUntil("all wait") { writer.statistics.waitingSubmissions == 30 }
            async let stopped = writer.stop(within: .seconds(60))
            async let stoppedToo = writer.stop(within: .seconds(60))
            gate.open()
            try await group.waitForAll()
            #expect(await stopped == 0)
            #expect(await stoppedToo == 0)
        }
        #expect(ledger.position.batch == 30)
        #expect(recorder.log.stopped == [ledger.position])
        await #expect(throws: SubmissionError.stopped) { _ = try await writer.submit(.init(99)) }
        await #expect(throws: SubmissionError.stopped) { try await writer.perform { _, _ in } }
        #expect(await writer.stop(within: .zero) == 0)
    }

    @Test("past its deadline a stop abandons what has not begun, with an error for each submitter")
    func stopAbandons() async throws {
        let writer = try makeWriter(limits: GroupCommitLimits(groupSubmissions: 1))
        let gate = Gate()
        let answers = await withTaskGroup(of: String.self) { group in
            for number in 0..<10 {
                group.addTask {
                    switch await answer(writer, .init(number, gate: gate)) {
                    case .success: "stored"
                    case .failure(let error): error == .stopped ? "stopped" : "\(error)"
                    }
                }
            }
            await waitUntil("all wait and one is held") {
                writer.statistics.waitingSubmissions == 10 && gate.reached
            }
            group.addTask { "abandoned \(await writer.stop(within: .zero))" }
            await waitUntil("the stop is known") { writer.isStopping }
            gate.open()
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(answers == ["stored": 1, "stopped": 9, "abandoned 9": 1])
        #expect(ledger.position.batch == 1)
        #expect(recorder.log.stopped.count == 1)
    }

    @Test("perform() runs on the writer thread between groups and can checkpoint")
    func performs() async throws {
        let writer = try makeWriter()
        _ = try await writer.submit(.init(1))
        let prepared = try await writer.perform { processor, ledger throws(LedgerError) in
            var changes = StateChanges()
            changes.put("key", [1, 2, 3])
            try ledger.checkpoint(projection: "fold", at: ledger.position, changes: changes, now: sampleTime)
            return processor.recorder.log.prepared
        }
        #expect(prepared == [1])
        #expect(try ledger.reader.position(of: "fold")?.position == LedgerPosition(batch: 1, sequence: 1))
        await #expect(throws: SubmissionError.failed(.refused(detail: "no"))) {
            try await writer.perform { _, _ throws(LedgerError) in throw .refused(detail: "no") }
        }
        await writer.stop(within: .seconds(30))
    }

    @Test("a tick comes at each interval, what it submits is stored, and maintenance follows it")
    func ticks() async throws {
        let writer = try makeWriter(tickInterval: .milliseconds(2))
        let recorder = recorder
        await waitUntil("five ticks") { recorder.log.maintained >= 5 }
        await writer.stop(within: .seconds(30))
        let stored = try ledger.reader.read(afterBatch: 0)
        #expect(
            stored.map(\.batch) == [
                .sample(-1, count: 0, bytes: 100, at: sampleTime), .sample(-2, count: 0, bytes: 100, at: sampleTime),
            ]
        )
        #expect(stored.map(\.firstSequence) == [1, 1])
        #expect(writer.statistics.waitingSubmissions == 0)
    }

    @Test("the observer gets a report of each group, with the error of a failed one")
    func reports() async throws {
        let box = ReportBox()
        let writer = try makeWriter { box.add($0) }
        _ = try await writer.submit(.init(1, bytes: 100))
        _ = try? await writer.submit(.init(2, bytes: LedgerBatch.maximumBytes))
        await writer.stop(within: .seconds(30))
        let found = box.all
        #expect(found.map(\.submissions) == [1, 1])
        #expect(found.map(\.batches) == [1, 1])
        #expect(found[0].error == nil && found[0].nanoseconds > 0 && found[0].bytes > 100)
        #expect(found[1].error != nil)
    }

    @Test("a writer without an owner stops")
    func endsWithItsOwner() async throws {
        do {
            let writer = try makeWriter()
            _ = try await writer.submit(.init(1))
        }
        let recorder = recorder
        await waitUntil("the last hook ran") { recorder.log.stopped.count == 1 }
    }
}
