// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Exactly-once delivery while a real journald fails", .timeLimit(.minutes(5)))
    struct TroubledJournaldTests {
        @Test("10,000 entries that waited for journald to start are delivered exactly once")
        func absentAtFirst() throws {
            let journald = try TestJournald(starting: false)
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 10_000))
            try delivery.wait(for: "absence") { $0.state == .absent && $0.lastError != nil }
            #expect(delivery.writer.statistics.written == 0)
            try journald.start()
            try delivery.waitForPosition(10_000)
            #expect(try journald.sequences() == Array(1...10_000))
        }

        @Test("delivery is exactly once when journald is restarted under load")
        func restarted() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 10_000))
            try delivery.waitForPosition(3_000)
            journald.stop()
            delivery.extend(to: 15_000)
            try delivery.wait(for: "absence") { $0.state == .absent }
            try journald.start()
            try delivery.waitForPosition(15_000)
            expectOnce(try journald.sequences(), 1...15_000)
            #expect(delivery.writer.statistics.reconnects > 0)
        }

        @Test("delivery is exactly once when journald is killed repeatedly under load", arguments: 0..<3)
        func killed(round: Int) throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 0))
            for kill in 1...4 as ClosedRange<UInt64> {
                delivery.extend(to: kill * 5_000)
                try delivery.waitForPosition((kill - 1) * 5_000 + 1_000 + UInt64(round) * 300)
                journald.killAtOnce()
                try journald.start()
            }
            try delivery.waitForPosition(20_000)
            expectOnce(try journald.sequences(), 1...20_000)
            let statistics = delivery.writer.statistics
            #expect(statistics.confirmed == 20_000)
            #expect(statistics.written == 20_000 + statistics.retried)
            #expect(statistics.lost == statistics.retried)
        }

        @Test("delivery is exactly once when journald stalls under load and resumes")
        func stalled() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 10_000))
            try delivery.waitForPosition(3_000)
            journald.signal(SIGSTOP)
            delivery.extend(to: 20_000)
            try delivery.wait(for: "absence") { $0.state == .absent }
            #expect(delivery.writer.statistics.written < 20_000)
            journald.signal(SIGCONT)
            try delivery.waitForPosition(20_000)
            expectOnce(try journald.sequences(), 1...20_000)
        }

        @Test("a stalled journald causes no busy loop")
        func stalledIsIdle() throws {
            let journald = try TestJournald()
            let source = NumberedSource(upTo: 1_000)
            let delivery = try TestDelivery(journald, source)
            try delivery.waitForPosition(1_000)
            journald.signal(SIGSTOP)
            delivery.extend(to: 30_000)
            try delivery.wait(for: "absence") { $0.state == .absent }
            let before = (source.reads.load(ordering: .relaxed), delivery.writer.statistics.synchronisations)
            try delivery.wait(for: "three more tries") { $0.synchronisations >= before.1 + 3 }
            #expect(source.reads.load(ordering: .relaxed) == before.0)
            journald.signal(SIGCONT)
            try delivery.waitForPosition(30_000)
        }

        @Test("a journald that does not answer is not kept from the space of files that it has deleted")
        func stalledHoldsNoFiles() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 1_000)) {
                $0.firstPause = .seconds(60)
                $0.longestPause = .seconds(60)
            }
            try delivery.waitForPosition(1_000)
            journald.signal(SIGSTOP)
            delivery.extend(to: 2_000)
            // Three times, because a new connection reopens it.
            var closed = 0
            try Deadline().wait(for: "the journal's files are closed") {
                let open = (try? ChildProcess.output(of: "/bin/ls", ["-l", "/proc/\(getpid())/fd"])) ?? []
                let isOpen = String(decoding: open, as: UTF8.self).contains("\(journald.namespace)/")
                closed = isOpen || open.isEmpty ? 0 : closed + 1
                return closed == 3
            }
            journald.signal(SIGCONT)
        }

        @Test("a rate limit of journald delays delivery and loses nothing")
        func rateLimited() async throws {
            // journald multiplies the burst by up to 6 when the disk has room.
            let journald = try TestJournald(settings: "RateLimitIntervalSec=1s\nRateLimitBurst=100")
            let unit = try TestUnit(journald.namespace)
            unsafe setenv("JOURNALD_TESTS_UNIT", unit.path, 1)
            unsafe setenv("JOURNALD_TESTS_LIMITED", journald.namespace, 1)
            await #expect(processExitsWith: .success) {
                guard let unit = unsafe getenv("JOURNALD_TESTS_UNIT") else { exit(2) }
                guard let namespace = unsafe getenv("JOURNALD_TESTS_LIMITED") else { exit(3) }
                try TestUnit.enter(unsafe String(cString: unit))
                let configuration = TestDelivery.configuration(unsafe String(cString: namespace))
                let source = NumberedSource(upTo: 3_000)
                let writer = try ConfirmedJournalWriter(configuration, from: .start, source: source)
                try Deadline(.seconds(120)).wait(for: "\(writer.statistics)") { writer.statistics.position == 3_000 }
                let statistics = writer.statistics
                exit(statistics.lost > 0 && statistics.lost == statistics.retried ? 0 : 4)
            }
            expectOnce(try journald.sequences(), 1...3_000)
        }

        @Test("a journald that stores nothing is reported, and gets every entry once it stores again")
        func storesNothing() throws {
            let journald = try TestJournald(settings: "MaxLevelStore=err")
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 2_000))
            try delivery.wait(for: "a reason") {
                $0.state == .absent && $0.lastError?.contains("MaxLevelStore") == true
            }
            #expect(delivery.writer.statistics.written == 0)
            journald.stop()
            try journald.configure("RateLimitIntervalSec=0")
            try journald.start()
            try delivery.waitForPosition(2_000)
            #expect(try journald.sequences() == Array(1...2_000))
        }

        @Test("delivery is exactly once while journal files are rotated under load")
        func rotated() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 16_000)) { $0.readsPerOpening = 400 }
            for position in [2_000, 6_000, 10_000] as [UInt64] {
                try delivery.waitForPosition(position)
                _ = try journald.journalctl("--rotate")
            }
            try delivery.waitForPosition(16_000)
            #expect(try journald.sequences() == Array(1...16_000))
            #expect(delivery.writer.statistics.lost == 0)
        }
    }
}

extension OneAtATime {
    @Suite("Exactly-once delivery to a journal with an incomplete index or damaged entries", .timeLimit(.minutes(5)))
    struct DamagedJournalTests {
        /// Delivers 2,000 entries, kills journald and takes the last one out of the index of a value.
        ///
        /// - Returns: A checkpoint at the entry 1,000.
        private func prepare(_ journald: TestJournald, without assignment: String) async throws -> JournalCheckpoint {
            let kept = try await deliver(journald)
            journald.killAtOnce()
            try journald.removeLastEntryFromIndex(of: assignment)
            #expect(try journald.sequencesOfEveryEntry() == Array(1...2_000))
            try journald.start()
            return kept
        }

        /// Delivers 2,000 entries.
        ///
        /// - Returns: A checkpoint at the entry 1,000.
        private func deliver(_ journald: TestJournald) async throws -> JournalCheckpoint {
            let first = try TestDelivery(journald, NumberedSource(upTo: 1_000))
            let kept = await first.writer.stop(within: .seconds(30))
            #expect(kept.position == 1_000 && kept.cursor != nil)
            let second = try TestDelivery(journald, NumberedSource(upTo: 2_000), from: kept)
            #expect(await second.writer.stop(within: .seconds(30)).position == 2_000)
            return kept
        }

        @Test(
            "an entry that journalctl -t misses after a kill of journald is sent again, from a checkpoint or without one",
            arguments: [true, false]
        )
        func notInIdentifier(hasCheckpoint: Bool) async throws {
            let journald = try TestJournald()
            let kept = try await prepare(journald, without: "SYSLOG_IDENTIFIER=\(TestDelivery.identifier)")
            #expect(try journald.sequences() == Array(1...1_999))
            let checkpoint = hasCheckpoint ? kept : .start
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 3_000), from: checkpoint)
            try delivery.waitForPosition(3_000)
            #expect(try journald.sequences() == Array(1...3_000))
            #expect(delivery.writer.statistics.written == 1_001)
        }

        @Test("an entry that a kill of journald left out of another field's index is not sent again")
        func notInStream() async throws {
            let journald = try TestJournald()
            let kept = try await prepare(journald, without: "TEST_STREAM=0123456789abcdef")
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 3_000), from: kept)
            try delivery.waitForPosition(3_000)
            #expect(try journald.sequences() == Array(1...3_000))
            #expect(delivery.writer.statistics.written == 1_000)
        }

        @Test("a damaged entry is sent again")
        func damaged() async throws {
            let journald = try TestJournald()
            let kept = try await deliver(journald)
            try journald.file().damage("TEST_SEQ=1500")
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 3_000), from: kept)
            try delivery.waitForPosition(3_000)
            expectOnce(try journald.sequences(), 1...3_000)
            #expect(delivery.writer.statistics.written == 1_001)
        }

        @Test("an entry of the same stream and number under another identifier confirms nothing")
        func anotherIdentifier() throws {
            let journald = try TestJournald()
            let source = NumberedSource(upTo: 10)
            let delivery = try TestDelivery(journald, source)
            try delivery.waitForPosition(10)
            var configuration = TestDelivery.configuration(journald.namespace)
            configuration.identifier = "journald-tests-other"
            let other = try ConfirmedJournalWriter(configuration, from: .start, source: NumberedSource(upTo: 20))
            try Deadline().wait(for: "the other's position") { other.statistics.position == 20 }
            delivery.extend(to: 20)
            try delivery.waitForPosition(20)
            #expect(try journald.sequences() == Array(1...20))
            #expect(delivery.writer.statistics.repeated == 0)
        }
    }
}

extension OneAtATime {
    @Suite("Exactly-once delivery over restarts of the writer", .timeLimit(.minutes(5)))
    struct RestartedWriterTests {
        @Test("delivery is exactly once when a writer without a checkpoint follows one with unconfirmed entries")
        func abandoned() throws {
            let journald = try TestJournald()
            var position: UInt64 = 0
            for _ in 0..<5 {
                let delivery = try TestDelivery(journald, NumberedSource(upTo: 16_000))
                position += 2_000
                try delivery.waitForPosition(position)
            }
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 16_000))
            try delivery.waitForPosition(16_000)
            expectOnce(try journald.sequences(), 1...16_000)
        }

        @Test("delivery is exactly once when a writer resumes from an old checkpoint")
        func oldCheckpoint() throws {
            let journald = try TestJournald()
            var kept = JournalCheckpoint.start
            var position: UInt64 = 0
            for round in 0..<6 {
                let delivery = try TestDelivery(journald, NumberedSource(upTo: 16_000), from: kept) {
                    $0.cursorInterval = .milliseconds(5)
                }
                position += 2_000
                try delivery.waitForPosition(position)
                // Every second writer's checkpoint is lost with it.
                if round.isMultiple(of: 2) { kept = delivery.writer.checkpoint }
            }
            #expect(kept.cursor != nil && kept.position > 0)
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 16_000), from: kept)
            try delivery.waitForPosition(16_000)
            expectOnce(try journald.sequences(), 1...16_000)
            #expect(delivery.writer.statistics.written < 16_000 - kept.position)
        }

        @Test("a checkpoint whose cursor is gone still gives its position", arguments: ["nonsense", gone])
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

        @Test("delivery is exactly once when the writer's process is killed with unconfirmed entries")
        func killedProcess() async throws {
            let journald = try TestJournald()
            unsafe setenv("JOURNALD_TESTS_DELIVERY", journald.namespace, 1)
            for _ in 0..<3 {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    guard let name = unsafe getenv("JOURNALD_TESTS_DELIVERY") else { exit(1) }
                    let configuration = TestDelivery.configuration(unsafe String(cString: name))
                    let source = NumberedSource(upTo: 20_000)
                    let writer = try ConfirmedJournalWriter(configuration, from: .start, source: source)
                    try Deadline().wait(for: "entries underway") {
                        writer.statistics.written >= 2_000 && writer.statistics.unconfirmed > 0
                    }
                    kill(getpid(), SIGKILL)
                }
            }
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 20_000))
            try delivery.waitForPosition(20_000)
            expectOnce(try journald.sequences(), 1...20_000)
        }

        @Test("delivery is exactly once when journald and the writer are killed together")
        func bothKilled() throws {
            let journald = try TestJournald()
            var kept = JournalCheckpoint.start
            for round in 1...5 as ClosedRange<UInt64> {
                do {
                    let delivery = try TestDelivery(journald, NumberedSource(upTo: 20_000), from: kept) {
                        $0.cursorInterval = .milliseconds(20)
                    }
                    try delivery.waitForPosition(round * 3_000)
                    journald.killAtOnce()
                    kept = delivery.writer.checkpoint
                }
                try journald.start()
            }
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 20_000), from: kept)
            try delivery.waitForPosition(20_000)
            expectOnce(try journald.sequences(), 1...20_000)
        }
    }
}
