// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Foundation
import Glibc
import Journald
import TelemetryEvents
import TestSupport
import Testing

@testable import Collector
@testable import LogInput

extension OneAtATime {
    @Suite("Following a real journal")
    struct JournalFollowerTests {
        /// Follows, as the service would, and begins again where it was.
        final class Following {
            private let journald: NamespacedJournald
            private let matches: [JournalMatch]
            private(set) var follower: JournalFollower
            private(set) var lines: [String] = []
            private(set) var notices: [JournalFollower.Notice] = []
            private(set) var skipped = 0
            private(set) var carriers: [LineCarrier] = []
            private var now: Int64 = 1_800_000_000_000_000
            private var monotonic: Int64 = 0

            init(_ journald: NamespacedJournald, _ matches: String..., from position: JournalPosition? = nil) throws {
                self.journald = journald
                self.matches = try JournalMatch.condition(matches)
                follower = JournalFollower(
                    journald.location,
                    matches: self.matches,
                    position: position,
                    pseudonyms: SumPseudonym()
                )
            }

            /// Takes one batch.
            func take() {
                if let batch = follower.next(now: now, monotonic: monotonic, wait: .zero) { add(batch) }
            }

            private func add(_ batch: JournalBatch) {
                lines += String(decoding: batch.lines, as: UTF8.self).split(separator: "\n").map(String.init)
                carriers += batch.carriers
                skipped += batch.skipped
            }

            /// Reads until there is nothing more for the moment.
            func read(after seconds: Double = 0.01) {
                now += Int64(seconds * 1e6)
                monotonic += Int64(seconds * 1e6)
                var silent = 0
                while silent < 3 {
                    guard let batch = follower.next(now: now, monotonic: monotonic, wait: .milliseconds(1)) else {
                        silent += 1
                        continue
                    }
                    add(batch)
                }
                notices += follower.takeNotices()
            }

            /// Reads until these are all lines.
            func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
                await waitUntil("\(expected.count) lines are read", sourceLocation: sourceLocation) {
                    read()
                    return lines.count >= expected.count
                }
                #expect(lines == expected, sourceLocation: sourceLocation)
            }

            func restart() {
                follower = JournalFollower(
                    journald.location,
                    matches: matches,
                    position: follower.position,
                    pseudonyms: SumPseudonym()
                )
            }
        }

        @Test(
            "the journal follower begins with what is logged from now on, takes what matches, and goes on behind it after a restart"
        )
        func matching() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app", "+", "SYSLOG_IDENTIFIER=other")
            following.read()
            try journald.log("one", "two\nthree")
            try journald.log("foreign", identifier: "nobody")
            try journald.log("four", identifier: "other")
            await following.expect(["one", "two", "three", "four"])
            #expect(Set(following.carriers.map(\.stream)).count == 2)
            #expect(following.carriers.allSatisfy { abs($0.writtenAt.microseconds - LedgerTime.now) < 60_000_000 })
            try journald.log("five")
            following.restart()
            await following.expect(["one", "two", "three", "four", "five"])
            #expect(following.notices == [])
        }

        @Test("the journal follower begins at the first entry of a journal that was empty")
        func journalFollowerEmpty() async throws {
            let journald = try NamespacedJournald()
            await waitUntil("journald answers") { (try? journald.journalctl("--sync")) != nil }
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            following.restart()
            following.read()
            try journald.log("first")
            await following.expect(["first"])
        }

        @Test("the journal follower passes over what collectors wrote, whatever the matches")
        func ownEntries() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "TEST_RUN=1")
            following.read()
            try journald.log([Array("told by a field".utf8)], [("TEST_RUN", "1"), ("DNP_LEDGER", "any")])
            try journald.log([Array("told by the name".utf8)], identifier: "dnp-telemetry", [("TEST_RUN", "1")])
            try journald.log([Array("a marker".utf8)], identifier: "dnp-telemetry-sync", [("TEST_RUN", "1")])
            try journald.log([Array("of the app".utf8)], identifier: "dnp-telemetry-app", [("TEST_RUN", "1")])
            await following.expect(["of the app"])
            #expect(following.skipped == 3)
        }

        @Test("the journal follower moves its position while nothing matches, and reads nothing again from there")
        func rareMatches() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            try journald.log("one")
            await following.expect(["one"])
            let matched = following.follower.position
            for _ in 0..<3 { try journald.log("of another", identifier: "other") }
            following.read()
            #expect(following.follower.position == matched)
            following.read(after: 61)
            let noted = following.follower.position
            #expect(noted != matched)
            following.read(after: 61)
            #expect(following.follower.position == noted, "nothing was logged since")
            try journald.log("two")
            await following.expect(["one", "two"])
            following.restart()
            try journald.log("three")
            await following.expect(["one", "two", "three"])
            #expect(following.notices == [])
        }

        @Test("the journal follower follows through rotations, and through a vacuum of what it has read")
        func rotations() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            var expected: [String] = []
            for round in 0..<4 {
                try journald.log("\(round)-a")
                if round == 2 { following.read() }
                try journald.journalctl("--rotate")
                try journald.log("\(round)-b")
                expected += ["\(round)-a", "\(round)-b"]
                await following.expect(expected)
                try journald.journalctl("--rotate")
                try journald.journalctl("--vacuum-files=1")
                following.read()
                await waitUntil("the files are open again, and nothing is behind") {
                    following.read()
                    return following.follower.hasReadAll
                }
            }
            try journald.log("last")
            await following.expect(expected + ["last"])
            #expect(following.notices == [])
        }

        @Test(
            "the journal follower tells when entries were deleted before they were read, once, and goes on with what is left"
        )
        func journalFollowerVacuumed() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            try journald.log("read")
            await following.expect(["read"])
            try journald.log("lost")
            try journald.journalctl("--rotate")
            try journald.log("left")
            try journald.journalctl("--vacuum-files=1")
            following.restart()
            await following.expect(["read", "left"])
            following.restart()
            try journald.log("next")
            await following.expect(["read", "left", "next"])
            #expect(following.notices == [.gap])
        }

        @Test("an entry of any bytes and any size is bounded")
        func journalFollowerHostile() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            let noise = (0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }.filter { $0 != 0x0A }
            try journald.log([noise, [], [UInt8](repeating: 0x61, count: 5 << 20), Array("last".utf8)])
            await waitUntil("all is read") {
                following.read()
                return following.lines.last == "last"
            }
            #expect(following.lines.count == 3)
            #expect(following.lines.map(\.utf8.count).max() ?? 0 <= JournalBatch.longestMessage)
            #expect(following.notices == [])
        }

        @Test("10,000 entries are read once each, in their order, through restarts in between")
        func many() async throws {
            let journald = try NamespacedJournald()
            try journald.log("before")
            let following = try Following(journald, "SYSLOG_IDENTIFIER=app")
            following.read()
            let all = (0..<10_000).map { "entry \($0)" }
            for start in stride(from: 0, to: all.count, by: 2_500) {
                try journald.log(all[start..<start + 2_500].map { Array($0.utf8) })
                following.take()
                following.restart()
            }
            await following.expect(all)
            #expect(following.notices == [])
        }
    }
}

/// The wall clock.
enum LedgerTime {
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e6) }
}

@Suite("Entries of the journal as lines")
struct JournalBatchTests {
    private static let start = JournalPosition(cursor: nil, realtime: 1)

    @Test("each journal entry is its lines, with its own time and stream")
    func journalBatchLines() {
        var batch = JournalBatch(at: Self.start)
        batch.take(Array("one".utf8), writtenAt: 10, stream: 1)
        batch.skip()
        batch.take(Array("two\nthree\r\n".utf8), writtenAt: 20, stream: 2)
        batch.take([], writtenAt: 30, stream: 2)
        batch.take(Array("a\0b".utf8), writtenAt: 40, stream: 2)
        #expect(String(decoding: batch.lines, as: UTF8.self) == "one\ntwo\nthree\r\na\0b\n")
        #expect(batch.carriers.map(\.end) == [4, 15, 15, 19])
        #expect(batch.carriers.map(\.writtenAt.microseconds) == [10, 20, 30, 40])
        #expect(batch.carriers.map(\.stream) == [1, 2, 2, 2])
        #expect(batch.entries == 4)
        #expect(batch.skipped == 1)
    }

    @Test("a journal batch is full of many entries, and of a long one whose rest is passed over")
    func journalBatchBounded() {
        var batch = JournalBatch(at: Self.start)
        for _ in 0..<JournalBatch.maximumEntries {
            #expect(!batch.isFull)
            batch.skip()
        }
        #expect(batch.isFull)
        let long = [UInt8](repeating: 0x61, count: 3 << 20)
        let shorter = [UInt8](repeating: 0x62, count: 1_023) + [0x0A]
        batch = JournalBatch(at: Self.start)
        batch.take(long, writtenAt: 1, stream: 1)
        let held = batch.lines.count
        #expect(held == LineCutter.longestLine + 1)
        batch.take([[UInt8]](repeating: shorter, count: 3 << 10).flatMap { $0 }, writtenAt: 1, stream: 1)
        let all = batch.lines.count
        #expect(all == held + JournalBatch.longestMessage)
        let isFull = batch.isFull
        #expect(isFull)
    }

    @Test("an entry's time is the one the kernel knew, unless that cannot be")
    func times() {
        #expect(JournalBatch.time(realtime: 1_000, source: nil) == 1_000)
        #expect(JournalBatch.time(realtime: 1_000, source: 900) == 900)
        #expect(JournalBatch.time(realtime: 1_000, source: 1_001) == 1_000)
        #expect(JournalBatch.time(realtime: 100_000_000_000, source: 1) == 100_000_000_000)
        #expect(JournalBatch.time(realtime: .max, source: .max) == .max)
    }

    @Test("a position is read back as it was, and nothing else is")
    func position() {
        for cursor in [nil, "s=1;i=2"] {
            let position = JournalPosition(cursor: cursor, realtime: 1_763_185_000_000_000)
            let bytes = position.encoded(with: [1, 2, 3])
            #expect(JournalPosition.decode(bytes)?.position == position)
            #expect(JournalPosition.decode(bytes)?.state == [1, 2, 3])
            for count in bytes.indices { #expect(JournalPosition.decode(Array(bytes[..<count])) == nil) }
            #expect(JournalPosition.decode([2] + bytes.dropFirst()) == nil)
        }
        var random = SplitMix64(6)
        for _ in 0..<10_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random)
            }
            _ = JournalPosition.decode(bytes)
        }
    }
}

@Suite("Whether a start fails for the followed journal")
struct JournalRefusalTests {
    @Test("a start fails for the followed journal only where it may not be read")
    func reasons() {
        for code in [EACCES, EPERM] {
            #expect(JournalReaderError.open(.machine, SystemError(code: code)).isRefusal)
        }
        #expect(JournalReaderError.permission(path: "/var/log/journal", user: 1).isRefusal)
        for code in [EIO, EMFILE, ENOMEM, ENOENT] {
            #expect(!JournalReaderError.open(.machine, SystemError(code: code)).isRefusal)
        }
        #expect(!JournalReaderError.unreadable(attempts: 2, SystemError(code: EIO)).isRefusal)
    }

    @Test("a journal that cannot be opened at the start is none")
    func journalRefusalAbsent() throws {
        let location = JournalLocation.directory(try TemporaryDirectory().file("absent"))
        #expect(throws: JournalReaderError.self) { _ = try JournalReader(location, scope: [.localOnly]) }
        #expect(FollowedJournal.refusal(location) == nil)
    }
}
