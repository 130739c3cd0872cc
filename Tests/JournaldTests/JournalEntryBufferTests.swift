// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Encoding of journal entries")
struct JournalEntryBufferTests {
    static let name: JournalField = "NAME"

    static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("values of every type are encoded as text")
    func values() throws {
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) { entry in
            entry.append("A", "text")
            entry.append("B", "static" as StaticString)
            entry.append("C", Array("bytes".utf8))
            entry.append("D", Int64.min)
            entry.append("E", UInt64.max)
            entry.append("F", UInt8(0))
            entry.append("G") { $0.append(contentsOf: "written".utf8) }
            entry.append("H", "")
        }
        #expect(
            Self.text(buffer.bytes) == """
                A=text
                B=static
                C=bytes
                D=-9223372036854775808
                E=18446744073709551615
                F=0
                G=written
                H=


                """
        )
    }

    @Test("a field appended several times is encoded several times, in that order")
    func severalTimes() throws {
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) { entry in
            for value in ["first", "second", "first"] { entry.append(Self.name, value) }
        }
        #expect(Self.text(buffer.bytes) == "NAME=first\nNAME=second\nNAME=first\n\n")
    }

    @Test("a value with a newline is encoded with its length", arguments: ["\n", "a\nb", "\n\n", "last\n"])
    func newlines(value: String) throws {
        let length = UInt8(value.utf8.count)
        let expected = Array("NAME\n".utf8) + [length, 0, 0, 0, 0, 0, 0, 0] + Array(value.utf8) + Array("\n\n".utf8)
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) { $0.append(Self.name, value) }
        #expect(buffer.bytes == expected)
        buffer.removeAll()
        try buffer.append(sequence: 1) { $0.append(Self.name) { $0.append(contentsOf: value.utf8) } }
        #expect(buffer.bytes == expected)
        buffer.removeAll()
        try buffer.append(sequence: 1) { $0.append(Self.name, Array(value.utf8)) }
        #expect(buffer.bytes == expected)
    }

    @Test("the length of an encoded value is little endian")
    func longLength() throws {
        let value = [UInt8](repeating: UInt8(ascii: "\n"), count: 0x01_02_03)
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) { $0.append(Self.name, value) }
        #expect(Array(buffer.bytes[5..<13]) == [3, 2, 1, 0, 0, 0, 0, 0])
        #expect(Array(buffer.bytes[13...]) == value + Array("\n\n".utf8))
    }

    @Test("an encoded entry starts with the constant fields and its number")
    func constant() throws {
        var buffer = JournalEntryBuffer(
            constant: [("STREAM", "s"), (.syslogIdentifier, "id")],
            sequenceField: "SEQ"
        )
        try buffer.append(sequence: 41) { $0.append(.message, "x") }
        try buffer.append(sequence: 42) { $0.append(.message, "y") }
        let first = "STREAM=s\nSYSLOG_IDENTIFIER=id\nSEQ=41\nMESSAGE=x\n"
        let second = "STREAM=s\nSYSLOG_IDENTIFIER=id\nSEQ=42\nMESSAGE=y\n"
        #expect(Self.text(buffer.bytes) == first + "\n" + second + "\n")
        #expect(Self.text(buffer.bytes[buffer.byteRange(of: 0..<1)]) == first)
        #expect(Self.text(buffer.bytes[buffer.byteRange(of: 1..<2)]) == second)
        #expect(Self.text(buffer.bytes[buffer.byteRange(of: 0..<2)]) == first + "\n" + second)
        #expect(buffer.byteRange(of: 1..<1).isEmpty)
        #expect(buffer.count == 2)
        #expect(buffer.lastSequence == 42)
        #expect(buffer.sequence(at: 0) == 41)
    }

    @Test("a refused entry leaves the buffer unchanged")
    func refusals() throws {
        var buffer = JournalEntryBuffer(constant: [("STREAM", "s")], maximumEntryBytes: 1_000, maximumBytes: 100)
        try buffer.append(sequence: 5) { $0.append(.message, "x") }
        let before = buffer.bytes
        #expect(throws: JournalEntryError.empty(sequence: 6)) { try buffer.append(sequence: 6) { _ in } }
        #expect(throws: JournalEntryError.notAscending(sequence: 5, previous: 5)) {
            try buffer.append(sequence: 5) { $0.append(.message, "x") }
        }
        #expect(throws: JournalEntryError.tooLarge(sequence: 6, limit: 1_000)) {
            try buffer.append(sequence: 6) { $0.append(.message, String(repeating: "x", count: 1_000)) }
        }
        #expect(throws: JournalEntryError.tooManyFields(sequence: 6, limit: 960)) {
            try buffer.append(sequence: 6) { entry in
                for _ in 0..<961 { entry.append("A", "") }
            }
        }
        #expect(buffer.bytes == before)
        #expect(buffer.count == 1)
        #expect(!buffer.isFull)
        try buffer.append(sequence: 6) { $0.append(.message, String(repeating: "x", count: 100)) }
        #expect(buffer.isFull)
    }

    @Test("a writing closure that removes earlier bytes is an error and empties the buffer")
    func overwritten() throws {
        var buffer = JournalEntryBuffer()
        try buffer.append(sequence: 1) { $0.append(.message, "x") }
        #expect(throws: JournalEntryError.overwritten(sequence: 2)) {
            try buffer.append(sequence: 2) { $0.append(.message) { $0.removeAll() } }
        }
        #expect(buffer.isEmpty)
        #expect(buffer.bytes.isEmpty)
    }

    @Test("an emptied entry buffer keeps its memory")
    func reuse() throws {
        var buffer = JournalEntryBuffer()
        for round in 0..<3 {
            for number in 1...100 as ClosedRange<UInt64> {
                try buffer.append(sequence: number) { $0.append(.message, "entry") }
            }
            let capacity = buffer.bytes.capacity
            buffer.removeAll()
            #expect(buffer.bytes.capacity == capacity, "round \(round)")
        }
    }
}
