// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Delivery to a real journald")
    struct ConfirmedJournalWriterTests {
        @Test("entries are delivered in order, each once, with stream, number and identifier")
        func delivers() async throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 3_000, padding: "\nsecond line")) {
                $0.waitForLateAnswers()
            }
            try delivery.waitForPosition(3_000)
            let checkpoint = await delivery.writer.stop(within: .seconds(10))
            #expect(checkpoint.position == 3_000)
            #expect(checkpoint.cursor != nil)
            #expect(try journald.sequences() == Array(1...3_000))
            #expect(try Set(journald.values(of: "TEST_STREAM")) == ["0123456789abcdef"])
            let identifiers = try journald.values(of: "SYSLOG_IDENTIFIER").filter { $0.hasPrefix("journald-tests") }
            #expect(identifiers.filter { $0 == "journald-tests" }.count == 3_000)
            #expect(identifiers.filter { $0 == "journald-tests-sync" }.count == 3)
            let statistics = delivery.writer.statistics
            #expect(statistics.isBatchingProven)
            #expect(statistics.written == 3_000 && statistics.confirmed == 3_000)
            #expect(statistics.lost == 0 && statistics.retried == 0 && statistics.repeated == 0)
            #expect(statistics.synchronisations == 1 && statistics.reconnects == 0)
            #expect(statistics.lastError == nil)
        }

        @Test("the writer delivers to the machine's journald by default")
        func machine() throws {
            let journald = try MachineJournald()
            defer { withExtendedLifetime(journald) {} }
            var random = SystemRandomNumberGenerator()
            let stream = ID128.random(using: &random).description
            let configuration = JournalDeliveryConfiguration(
                identifier: "journald-tests",
                streamField: "TEST_STREAM",
                stream: stream,
                sequenceField: "TEST_SEQ"
            )
            let writer = try ConfirmedJournalWriter(configuration, from: .start, source: NumberedSource(upTo: 1_000))
            try Deadline().wait(for: "position 1,000; \(writer.statistics)") { writer.statistics.position == 1_000 }
            let output = try ChildProcess.output(
                of: "/bin/journalctl",
                ["-q", "--no-pager", "--output=cat", "--output-fields=TEST_SEQ", "TEST_STREAM=\(stream)"]
            )
            let numbers = output.split(separator: UInt8(ascii: "\n")).compactMap {
                UInt64(String(decoding: $0, as: UTF8.self))
            }
            expectOnce(numbers, 1...1_000)
        }

        @Test("an idle writer delivers again when it is woken, and its checkpoint catches up")
        func wakes() throws {
            let journald = try TestJournald()
            let source = NumberedSource(upTo: 0)
            let delivery = try TestDelivery(journald, source) { $0.cursorInterval = .milliseconds(10) }
            try delivery.wait(for: "streaming") { $0.state == .streaming }
            for number in 1...20 as ClosedRange<UInt64> {
                source.extend(to: number)
                delivery.writer.wake()
                try delivery.waitForPosition(number)
            }
            try Deadline().wait(for: "the checkpoint") { delivery.writer.checkpoint.position == 20 }
            let reads = source.reads.load(ordering: .relaxed)
            #expect(reads < 200, "an idle source isn't asked again and again")
            expectOnce(try journald.sequences(), 1...20)
        }

        @Test("an idle writer closes the journal and reopens it for the next entry")
        func closes() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 500)) {
                $0.cursorInterval = .milliseconds(1)
                $0.readerIdleTime = .milliseconds(1)
                $0.waitForLateAnswers()
            }
            try delivery.waitForPosition(500)
            for number in 501...505 as ClosedRange<UInt64> {
                try Deadline().wait(for: "the journal to be closed") {
                    let maps = try ChildProcess.output(of: "/bin/cat", ["/proc/\(getpid())/maps"])
                    return !String(decoding: maps, as: UTF8.self).contains("\(journald.namespace)/")
                }
                delivery.extend(to: number)
                try delivery.waitForPosition(number)
            }
            #expect(try journald.sequences() == Array(1...505), "\(delivery.writer.statistics)")
            #expect(delivery.writer.statistics.synchronisations == 1, "\(delivery.writer.statistics)")
            #expect(delivery.writer.statistics.repeated == 0)
        }

        @Test("an idle writer that reopens the journal delivers each entry once when journald answers too late")
        func closesAndStalls() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 500)) {
                $0.cursorInterval = .milliseconds(1)
                $0.readerIdleTime = .milliseconds(1)
                $0.confirmationTimeout = .milliseconds(50)
                $0.markerTimeout = .milliseconds(50)
            }
            try delivery.waitForPosition(500)
            for number in stride(from: 510, through: 600, by: 10) as StrideThrough<UInt64> {
                journald.signal(SIGSTOP)
                let before = delivery.writer.statistics.synchronisations
                delivery.extend(to: number)
                try delivery.wait(for: "another synchronisation") { $0.synchronisations > before }
                journald.signal(SIGCONT)
                try delivery.waitForPosition(number)
            }
            #expect(try journald.sequences() == Array(1...600))
            let statistics = delivery.writer.statistics
            #expect(statistics.written == 600 && statistics.lost == 0 && statistics.retried == 0)
        }

        @Test("entries of a megabyte are delivered", .timeLimit(.minutes(3)))
        func sizes() throws {
            let journald = try TestJournald()
            let padding = String(repeating: "0123456789abcde\n", count: 1 << 16)
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 20, padding: padding))
            try delivery.waitForPosition(20)
            expectOnce(try journald.sequences(), 1...20)
            #expect(try journald.values(of: "TEST_LENGTH") == Array(repeating: "\(1 << 20)", count: 20))
        }

        @Test("numbers that the source leaves out are skipped in the journal")
        func leftOut() throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 1_000) { $0.isMultiple(of: 7) })
            try delivery.waitForPosition(1_000)
            #expect(try journald.sequences() == (1...1_000).filter { !$0.isMultiple(of: 7) })
            #expect(delivery.writer.statistics.skipped == 142)
            #expect(delivery.writer.statistics.confirmed == 858)
        }

        @Test("a failing source is retried, and the statistics show its error")
        func failingSource() throws {
            struct Failing: JournalSource {
                func read(after sequence: UInt64, limit: Int, into buffer: inout JournalEntryBuffer) throws {
                    throw TestFailure("the shelf is empty")
                }
            }
            let journald = try TestJournald()
            let writer = try ConfirmedJournalWriter(
                TestDelivery.configuration(journald.namespace),
                from: .start,
                source: Failing()
            )
            try Deadline().wait(for: "the error") {
                writer.statistics.lastError?.contains("the shelf is empty") == true
            }
            #expect(writer.statistics.state == .streaming)
        }

        @Test("a stream name that is empty or has control characters is refused", arguments: ["", "a\nb", "a\0"])
        func names(name: String) throws {
            var configuration = TestDelivery.configuration("none")
            configuration.streams = StreamNames(name)
            #expect(throws: JournalWriterError.name("stream", value: name)) {
                _ = try ConfirmedJournalWriter(configuration, from: .start, source: NumberedSource(upTo: 0))
            }
        }

        @Test("stopping without a journald returns at once and keeps the position")
        func stopAbsent() async throws {
            let journald = try TestJournald(starting: false)
            let kept = JournalCheckpoint(position: 3, cursor: nil)
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 5), from: kept)
            try delivery.wait(for: "absence") { $0.state == .absent && $0.lastError != nil }
            let checkpoint = await delivery.writer.stop(within: .seconds(600))
            #expect(checkpoint == kept)
        }

        @Test("a stop first delivers what the source has")
        func stopDrains() async throws {
            let journald = try TestJournald()
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 20_000))
            let checkpoint = await delivery.writer.stop(within: .seconds(60))
            #expect(checkpoint.position == 20_000)
            #expect(try journald.sequences() == Array(1...20_000))
        }
    }
}
