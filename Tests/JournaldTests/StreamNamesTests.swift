// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import Journald

@Suite("Names of a stream")
struct StreamNamesTests {
    static let streams: StreamNames = {
        var streams = StreamNames("a")
        streams.proceed(as: "b", after: 10)
        streams.proceed(as: "c", after: 10)
        streams.proceed(as: "d", after: 20)
        return streams
    }()

    @Test("a number belongs to the newest part that begins before it")
    func parts() {
        #expect((1...10).allSatisfy { Self.streams.index(of: $0) == 0 })
        #expect((11...20).allSatisfy { Self.streams.index(of: $0) == 2 }, "b has no numbers")
        #expect(Self.streams.index(of: 21) == 3 && Self.streams.index(of: .max) == 3)
        #expect((0..<4).map(Self.streams.last) == [10, 10, 20, .max])
        #expect(StreamNames("only").index(of: .max) == 0)
    }

    @Test("what stands under a name beyond its own numbers is not admitted and is reported")
    func sorting() {
        var sorter = StreamSorter(Self.streams, given: 25)
        #expect(sorter.admits(10, of: 0) && sorter.admits(11, of: 2) && sorter.admits(25, of: 3))
        #expect(sorter.comparison == JournalComparison(given: 25, strays: [:]))
        #expect(!sorter.admits(11, of: 0) && !sorter.admits(9, of: 2) && !sorter.admits(500, of: 0))
        #expect(!sorter.admits(26, of: 3) && !sorter.admits(12, of: 1))
        #expect(sorter.comparison.strays == ["a": 500, "b": 12, "d": 26])
    }

    @Test("each entry names the part of the stream that its number belongs to")
    func prefixes() throws {
        var configuration = TestDelivery.configuration("none")
        configuration.streams = Self.streams
        var buffer = JournalEntryBuffer(configuration, configuration.streams)
        for number in [10, 11, 20, 21] as [UInt64] {
            try buffer.append(sequence: number) { $0.append(.message, "m") }
        }
        let text = String(decoding: buffer.bytes, as: UTF8.self)
        let names = text.split(separator: "\n").filter { $0.hasPrefix("TEST_STREAM=") }.map { $0.dropFirst(12) }
        #expect(names == ["a", "c", "c", "d"])
    }

    @Test("an entry that was never sent confirms nothing and leads to a scan")
    func strayReadBack() {
        var session = DeliverySession(limits: DeliverySessionTests.limits(), confirmed: 0, given: 0, seed: 1)
        DeliverySessionTests.synchronise(&session, now: 0)
        session.sent(1...2, bytes: 10, now: 0)
        session.readBack(1, now: 0)
        #expect(session.confirmed == 1)
        session.readBack(7, now: 0)
        #expect(session.confirmed == 1)
        #expect(session.step(now: 0) == .connect)
    }
}

extension OneAtATime {
    @Suite("A stream whose numbers were given twice, in a real journald")
    struct ForkedStreamTests {
        /// What an owner gets to compare, and what it answers.
        final class Owner: Sendable {
            private let state = Mutex<(comparisons: [JournalComparison], failures: Int)>(([], 0))

            var comparisons: [JournalComparison] { state.withLock { $0.comparisons } }

            init(failures: Int) { state.withLock { $0.failures = failures } }

            /// The name "fork" for what follows the last number given by right, after some failures.
            func compare(_ comparison: JournalComparison) throws -> StreamNames? {
                let fails = state.withLock { state in
                    state.comparisons.append(comparison)
                    state.failures -= 1
                    return state.failures >= 0
                }
                if fails { throw TestFailure("the owner cannot store its new name") }
                guard let name = TestDelivery.configuration("").streams.parts.first?.name,
                    comparison.strays[name] != nil
                else { return nil }
                var streams = StreamNames(name)
                streams.proceed(as: "fork", after: comparison.given)
                return streams
            }
        }

        private func numbers(_ stream: String, in journald: TestJournald) throws -> [UInt64] {
            let output = try journald.journalctl("--output=cat", "--output-fields=TEST_SEQ", "TEST_STREAM=\(stream)")
            return output.split(separator: UInt8(ascii: "\n")).compactMap {
                UInt64(String(decoding: $0, as: UTF8.self))
            }
        }

        @Test(
            "numbers of another history confirm nothing: what follows is written under a new name",
            arguments: [0, 2]
        )
        func fork(failures: Int) async throws {
            let journald = try TestJournald()
            let name = try #require(TestDelivery.configuration("").streams.parts.first?.name)
            let first = try TestDelivery(journald, NumberedSource(upTo: 50))
            try first.waitForPosition(50)
            let kept = await first.writer.stop(within: .seconds(10))
            let second = try TestDelivery(journald, NumberedSource(upTo: 550), from: kept)
            try second.waitForPosition(550)
            _ = await second.writer.stop(within: .seconds(10))

            let owner = Owner(failures: failures)
            var configuration = TestDelivery.configuration(journald.namespace)
            configuration.given = 50
            let source = NumberedSource(upTo: 600)
            let third = try ConfirmedJournalWriter(
                configuration,
                from: kept,
                source: source,
                onCompared: { try owner.compare($0) }
            )
            try Deadline().wait(for: "position 600; \(third.statistics)") { third.statistics.position == 600 }
            #expect(owner.comparisons.count == failures + 1)
            #expect(owner.comparisons.allSatisfy { $0 == JournalComparison(given: 50, strays: [name: 550]) })
            expectOnce(try numbers(name, in: journald), 1...550)
            expectOnce(try numbers("fork", in: journald), 51...600)

            // journald restarts: the scan knows both names, and the writer goes on under the new one.
            journald.killAtOnce()
            try journald.start()
            source.extend(to: 650)
            third.wake()
            try Deadline().wait(for: "position 650; \(third.statistics)") { third.statistics.position == 650 }
            expectOnce(try numbers("fork", in: journald), 51...650)
            #expect(owner.comparisons.dropFirst(failures + 1).allSatisfy { $0.given >= 600 })
            _ = await third.stop(within: .seconds(10))
        }

        @Test("a writer that resumes between two names finishes the old one first")
        func resumesBetween() async throws {
            let journald = try TestJournald()
            let first = try TestDelivery(journald, NumberedSource(upTo: 50))
            try first.waitForPosition(50)
            _ = await first.writer.stop(within: .seconds(10))
            let name = try #require(TestDelivery.configuration("").streams.parts.first?.name)
            let delivery = try TestDelivery(journald, NumberedSource(upTo: 100)) {
                $0.streams.proceed(as: "later", after: 60)
                $0.given = 60
            }
            try delivery.waitForPosition(100)
            expectOnce(try numbers(name, in: journald), 1...60)
            expectOnce(try numbers("later", in: journald), 61...100)
            #expect(delivery.writer.statistics.repeated == 0)
            _ = await delivery.writer.stop(within: .seconds(10))
        }
    }
}
