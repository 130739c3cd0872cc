// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Journald

extension OneAtATime {
    @Suite("Sending to a real journald")
    struct JournalSocketTests {
        static let number: JournalField = "TEST_SEQ"

        static func send(_ entries: [UInt8], over socket: borrowing JournalSocket) throws {
            try Deadline().wait(for: "room in the queue") {
                switch socket.send(entries) {
                case .sent: return true
                case .wouldBlock: return false
                case let other: throw TestFailure("a send ended with \(other)")
                }
            }
        }

        /// Reads a value back once an entry with the given number has arrived.
        static func value(of field: JournalField, inEntry entry: UInt64, of journald: TestJournald) throws -> [UInt8]? {
            var value: [UInt8]?
            try Deadline().wait(for: "entry \(entry)") {
                // libsystemd doesn't notice when the directory of a namespace comes; a reader made later does.
                let reader = try JournalReader(journald.location)
                try reader.setDataThreshold(0)
                try reader.setMatches([.equal(number, "\(entry)")])
                guard try reader.next() else { return false }
                value = try reader.value(of: field)
                return true
            }
            return value
        }

        static func buffer() -> JournalEntryBuffer { JournalEntryBuffer(sequenceField: number) }

        @Test(
            "journald stores values byte for byte",
            arguments: [
                "", "plain", "a\nb", "\n", "ends\n", "=", "A=b", "\0zero\0", "Grüße 🚀", "\u{1B}[31m", ".dot", "# hash",
                "\r\n",
            ].map { Array($0.utf8) } + [[0xFF, 0x00, 0xFE, 0x0A, 0x80]]
        )
        func roundTrip(value: [UInt8]) throws {
            let journald = try TestJournald()
            var buffer = Self.buffer()
            try buffer.append(sequence: 1) { $0.append("TEST_VALUE", value) }
            try Self.send(buffer.bytes, over: JournalSocket(path: journald.socketPath))
            #expect(try Self.value(of: "TEST_VALUE", inEntry: 1, of: journald) == value)
        }

        @Test("an entry of 1 MB and one of 6 MB arrive as sealed memory files")
        func large() throws {
            let journald = try TestJournald()
            let socket = try JournalSocket(path: journald.socketPath)
            for (sequence, count) in [(1, 1 << 20), (2, 6 << 20)] as [(UInt64, Int)] {
                let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
                var buffer = Self.buffer()
                try buffer.append(sequence: sequence) { $0.append("TEST_VALUE", value) }
                let result = unsafe socket.sendAsMemoryFile(buffer.bytes.span.bytes)
                #expect(result == .sent)
                #expect(try Self.value(of: "TEST_VALUE", inEntry: sequence, of: journald) == value)
            }
        }

        @Test("an entry larger than any datagram is sent as a memory file")
        func tooLargeForDatagram() throws {
            let journald = try TestJournald()
            let value = [UInt8](repeating: UInt8(ascii: "x"), count: 40 << 20)
            var buffer = JournalEntryBuffer(sequenceField: Self.number, maximumEntryBytes: 64 << 20)
            try buffer.append(sequence: 1) { $0.append("TEST_VALUE", value) }
            try Self.send(buffer.bytes, over: JournalSocket(path: journald.socketPath))
            #expect(try Self.value(of: "TEST_VALUE", inEntry: 1, of: journald)?.count == value.count)
        }

        @Test("journald stores all 64 entries of a datagram in order")
        func batch() throws {
            let journald = try TestJournald()
            let socket = try JournalSocket(path: journald.socketPath)
            var buffer = Self.buffer()
            for sequence in 1...640 as ClosedRange<UInt64> {
                try buffer.append(sequence: sequence) { $0.append(.message, sequence.isMultiple(of: 3) ? "a\nb" : "c") }
            }
            for start in stride(from: 0, to: 640, by: 64) {
                try Self.send(Array(buffer.bytes[buffer.byteRange(of: start..<start + 64)]), over: socket)
            }
            _ = try Self.value(of: .message, inEntry: 640, of: journald)
            #expect(try journald.sequencesOfEveryEntry() == Array(1...640))
        }

        @Test("connecting to a missing socket and to one without a listener fails with different errors")
        func absent() throws {
            let journald = try TestJournald(starting: false)
            #expect(throws: JournalSocketError.connect(path: journald.socketPath, SystemError(code: ENOENT))) {
                _ = try JournalSocket(path: journald.socketPath)
            }
            try journald.start()
            journald.stop()
            #expect(throws: JournalSocketError.connect(path: journald.socketPath, SystemError(code: ECONNREFUSED))) {
                _ = try JournalSocket(path: journald.socketPath)
            }
        }

        @Test("a socket path that is empty or too long is refused")
        func longPath() {
            let path = "/" + String(repeating: "x", count: 107)
            #expect(throws: JournalSocketError.path(path, limit: 107)) { _ = try JournalSocket(path: path) }
            #expect(throws: JournalSocketError.path("", limit: 107)) { _ = try JournalSocket(path: "") }
        }

        @Test("a send to a stalled journald does not block, and succeeds after it resumes")
        func stalled() throws {
            let journald = try TestJournald()
            let socket = try JournalSocket(path: journald.socketPath)
            journald.signal(SIGSTOP)
            var buffer = Self.buffer()
            var sequence: UInt64 = 0
            var result = JournalSendResult.sent
            while result == .sent, sequence < 10_000 {
                sequence += 1
                buffer.removeAll()
                try buffer.append(sequence: sequence) { $0.append(.message, "x") }
                result = socket.send(buffer.bytes)
            }
            #expect(result == .wouldBlock)
            let hasRoom = socket.waitUntilWritable(milliseconds: 0)
            #expect(!hasRoom)
            journald.signal(SIGCONT)
            let gotRoom = socket.waitUntilWritable(milliseconds: 30_000)
            #expect(gotRoom)
            try Self.send(buffer.bytes, over: socket)
            _ = try Self.value(of: .message, inEntry: sequence, of: journald)
            #expect(try journald.sequencesOfEveryEntry() == Array(1...sequence))
        }

        @Test("a send to a journald that ended reports it as absent")
        func broken() throws {
            let journald = try TestJournald()
            let socket = try JournalSocket(path: journald.socketPath)
            journald.killAtOnce()
            var buffer = Self.buffer()
            try buffer.append(sequence: 1) { $0.append(.message, "x") }
            let refused = socket.send(buffer.bytes)
            #expect(refused == .absent(SystemError(code: ECONNREFUSED)))
            try journald.start()
            let disconnected = socket.send(buffer.bytes)
            #expect(disconnected == .absent(SystemError(code: ENOTCONN)))
            try Self.send(buffer.bytes, over: JournalSocket(path: journald.socketPath))
            _ = try Self.value(of: .message, inEntry: 1, of: journald)
        }
    }
}
