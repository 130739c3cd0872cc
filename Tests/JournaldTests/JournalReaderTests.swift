// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Reading a real journal")
    struct JournalReaderTests {
        static let number: JournalField = "TEST_SEQ"

        /// A journal with numbered entries, those divisible by three of another kind.
        static func journal(_ numbers: ClosedRange<UInt64>, in journald: TestJournald) throws {
            let socket = try JournalSocket(path: journald.socketPath)
            var buffer = JournalEntryBuffer(sequenceField: number)
            for sequence in numbers {
                buffer.removeAll()
                try buffer.append(sequence: sequence) { entry in
                    entry.append("TEST_KIND", sequence.isMultiple(of: 3) ? "third" : "other")
                    entry.append(.message, "entry \(sequence)")
                }
                try JournalSocketTests.send(buffer.bytes, over: socket)
            }
            _ = try JournalSocketTests.value(of: .message, inEntry: numbers.upperBound, of: journald)
        }

        static func numbers(_ reader: JournalReader) throws -> [UInt64] {
            var numbers: [UInt64] = []
            while try reader.next() {
                if let number = try reader.number(of: number) { numbers.append(number) }
            }
            return numbers
        }

        @Test("journal entries are read from the head, from the tail and from a cursor")
        func positions() throws {
            let journald = try TestJournald()
            try Self.journal(1...20, in: journald)
            let reader = try JournalReader(journald.location)
            #expect(try Self.numbers(reader) == Array(1...20))
            let end = try reader.cursor()
            #expect(try reader.next() == false)
            #expect(try reader.previous())
            #expect(try reader.number(of: Self.number) == 19)
            try reader.seekToTail()
            #expect(try reader.previous())
            #expect(try reader.number(of: Self.number) == 20)
            try reader.seekToTail()
            #expect(try reader.next() == false)
            try Self.journal(21...22, in: journald)
            #expect(try Self.numbers(reader) == [21, 22])
            #expect(try reader.seek(cursor: end))
            #expect(try Self.numbers(reader) == [21, 22])
            #expect(try reader.realtimeMicroseconds() > 1_600_000_000_000_000)
            try reader.seekToHead()
            #expect(try Self.numbers(reader) == Array(1...22))
        }

        @Test("seeking to an invalid cursor or to that of a missing entry returns false")
        func lostCursors() throws {
            let journald = try TestJournald()
            try Self.journal(1...3, in: journald)
            let reader = try JournalReader(journald.location)
            #expect(try reader.seek(cursor: "nonsense") == false)
            #expect(try Self.numbers(reader) == [1, 2, 3])
            let cursor = try reader.cursor()
            let other = try TestJournald()
            try Self.journal(1...2, in: other)
            #expect(try JournalReader(other.location).seek(cursor: cursor) == false)
        }

        @Test("conditions select journal entries")
        func matches() throws {
            let journald = try TestJournald()
            try Self.journal(1...9, in: journald)
            let reader = try JournalReader(journald.location)
            try reader.setMatches([.equal("TEST_KIND", "third")])
            try reader.seekToHead()
            #expect(try Self.numbers(reader) == [3, 6, 9])
            try reader.setMatches([
                .equal("TEST_KIND", "third"), .equal(Self.number, "6"), .or, .equal(Self.number, "7"),
            ])
            try reader.seekToHead()
            #expect(try Self.numbers(reader) == [6, 7])
            try reader.setMatches([
                .equal(Self.number, "3"), .equal(Self.number, "4"), .and, .equal("TEST_KIND", "third"),
            ])
            try reader.seekToHead()
            #expect(try Self.numbers(reader) == [3])
            try reader.setMatches([])
            try reader.seekToHead()
            #expect(try Self.numbers(reader).count == 9)
        }

        @Test("field values are read as bytes and as numbers, and missing ones as nil")
        func values() throws {
            let journald = try TestJournald()
            try Self.journal(7...7, in: journald)
            let reader = try JournalReader(journald.location)
            try reader.setMatches([.equal(Self.number, "7")])
            #expect(try reader.next())
            #expect(try reader.value(of: .message) == Array("entry 7".utf8))
            #expect(try reader.value(of: "TEST_MISSING") == nil)
            #expect(try reader.number(of: .message) == nil)
            #expect(try reader.withValue(of: .message) { $0.byteCount } == 7)
            #expect(try reader.hasValue(Array("7".utf8), of: Self.number))
            #expect(try reader.hasValue(Array("70".utf8), of: Self.number) == false)
        }

        @Test("decimal field values are parsed exactly or not at all")
        func decimals() {
            let cases: [(String, UInt64?)] = [
                ("0", 0), ("18446744073709551615", .max), ("18446744073709551616", nil), ("99999999999999999999", nil),
                ("", nil), ("-1", nil), ("1 ", nil), ("007", 7), ("000000000000000000001", nil), ("1a", nil),
            ]
            for (text, expected) in cases {
                let bytes = Array(text.utf8)
                #expect(unsafe UInt64(decimal: bytes.span.bytes) == expected, "\(text)")
            }
        }

        @Test("a wait for the journal ends when an entry is appended")
        func waiting() throws {
            let journald = try TestJournald()
            try Self.journal(1...1, in: journald)
            let reader = try JournalReader(journald.location)
            _ = try reader.wait(timeout: .zero)
            #expect(try Self.numbers(reader) == [1])
            try Self.journal(2...2, in: journald)
            try Deadline().wait(for: "a change") { try reader.wait(timeout: .seconds(10)) != .none }
            #expect(try Self.numbers(reader) == [2])
        }

        @Test("a reopened journal continues after the last entry read")
        func reopening() throws {
            let journald = try TestJournald()
            try Self.journal(1...10, in: journald)
            let reader = try JournalReader(journald.location)
            try reader.setMatches([.equal("TEST_KIND", "third")])
            try reader.seekToHead()
            #expect(try reader.next())
            try reader.reopen()
            #expect(reader.reopenings == 1)
            #expect(try Self.numbers(reader) == [6, 9])
            try reader.reopen()
            #expect(try Self.numbers(reader) == [])
            try Self.journal(11...12, in: journald)
            #expect(try Self.numbers(reader) == [12])
        }

        @Test("a reader follows the journal over rotated and vacuumed files")
        func vacuum() throws {
            let journald = try TestJournald()
            try Self.journal(1...10, in: journald)
            let reader = try JournalReader(journald.location)
            _ = try reader.descriptor()
            #expect(try reader.next())
            while try reader.number(of: Self.number) != 2 { #expect(try reader.next()) }
            _ = try journald.journalctl("--rotate")
            try Self.journal(11...20, in: journald)
            _ = try journald.journalctl("--rotate", "--vacuum-files=1")
            try Self.journal(21...22, in: journald)
            try reader.process()
            let rest = try Self.numbers(reader)
            #expect(rest.suffix(2) == [21, 22])
            #expect(rest == rest.sorted() && Set(rest).count == rest.count)
            #expect(!rest.contains(1) && !rest.contains(2))
        }

        @Test("a reader without permission fails instead of showing an empty journal")
        func permission() async throws {
            let journald = try TestJournald()
            try Self.journal(1...1, in: journald)
            unsafe setenv("JOURNALD_TESTS_NAMESPACE", journald.namespace, 1)
            await #expect(processExitsWith: .exitCode(42)) {
                guard let name = unsafe getenv("JOURNALD_TESTS_NAMESPACE") else { exit(1) }
                let namespace = unsafe String(cString: name)
                guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else { exit(2) }
                do {
                    _ = try JournalReader(.namespace(namespace))
                    exit(3)
                } catch JournalReaderError.permission(let path, user: 65_534) where path.hasSuffix("system.journal") {
                    exit(42)
                } catch {
                    exit(4)
                }
            }
        }

        @Test("a missing journal directory is an error")
        func missing() {
            #expect(throws: JournalReaderError.open(.directory("/nonexistent"), SystemError(code: ENOENT))) {
                _ = try JournalReader(.directory("/nonexistent"))
            }
        }
    }
}
