// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Journald

@Suite("Exactly once, with a writer that starts anew", .timeLimit(.minutes(5)))
struct RestartedWriterTests {
    @Test("a writer abandoned with entries underway is followed by one that knows nothing")
    func abandoned() throws {
        let journald = try TestJournald()
        var position: UInt64 = 0
        for _ in 0..<5 {
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 40_000))
            position += 6_000
            try delivery.waitForPosition(position)
        }
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 40_000))
        try delivery.waitForPosition(40_000)
        expectOnce(try journald.sequences(), 1...40_000)
    }

    @Test("a writer goes on from an old checkpoint")
    func oldCheckpoint() throws {
        let journald = try TestJournald()
        var kept = JournalCheckpoint.start
        var position: UInt64 = 0
        for round in 0..<6 {
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 40_000), from: kept) {
                $0.cursorInterval = .milliseconds(5)
            }
            position += 6_000
            try delivery.waitForPosition(position)
            // Every second writer's checkpoint is lost with it.
            if round.isMultiple(of: 2) { kept = delivery.writer.checkpoint }
        }
        #expect(kept.cursor != nil && kept.position > 0)
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 40_000), from: kept)
        try delivery.waitForPosition(40_000)
        expectOnce(try journald.sequences(), 1...40_000)
        #expect(delivery.writer.statistics.written < 40_000 - kept.position)
    }

    @Test("a checkpoint whose cursor is gone is good for its position", arguments: ["nonsense", gone])
    func goneCursor(cursor: String) throws {
        let journald = try TestJournald()
        do {
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 5_000))
            try delivery.waitForPosition(5_000)
        }
        let checkpoint = JournalCheckpoint(position: 1_000, cursor: cursor)
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 9_000), from: checkpoint)
        try delivery.waitForPosition(9_000)
        #expect(try journald.sequences() == Array(1...9_000))
        #expect(delivery.writer.statistics.written == 4_000)
    }

    private static let gone = """
        s=00000000000000000000000000000001;i=1;b=00000000000000000000000000000002;m=1;t=5f0000000000;x=1
        """

    @Test("a writer is killed with its process while entries are underway")
    func killedProcess() async throws {
        let journald = try TestJournald()
        unsafe setenv("JOURNALD_TESTS_DELIVERY", journald.namespace, 1)
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                guard let name = unsafe getenv("JOURNALD_TESTS_DELIVERY") else { exit(1) }
                let configuration = TestDelivery.configuration(unsafe String(cString: name))
                let source = NumberedSource(upTo: 50_000)
                let writer = try ConfirmedJournalWriter(configuration, from: .start, source: source)
                try Deadline().wait(for: "entries underway") {
                    writer.statistics.written >= 2_000 && writer.statistics.unconfirmed > 0
                }
                kill(getpid(), SIGKILL)
            }
        }
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 50_000))
        try delivery.waitForPosition(50_000)
        expectOnce(try journald.sequences(), 1...50_000)
    }

    @Test("both are killed at once")
    func bothKilled() throws {
        let journald = try TestJournald()
        var kept = JournalCheckpoint.start
        for round in 1...5 as ClosedRange<UInt64> {
            do {
                let delivery = try TestDelivery(journald, NumberedSource(upTo: 50_000), from: kept) {
                    $0.cursorInterval = .milliseconds(20)
                }
                try delivery.waitForPosition(round * 7_000)
                journald.killAtOnce()
                kept = delivery.writer.checkpoint
            }
            try journald.start()
        }
        let delivery = try TestDelivery(journald, NumberedSource(upTo: 50_000), from: kept)
        try delivery.waitForPosition(50_000)
        expectOnce(try journald.sequences(), 1...50_000)
    }
}
