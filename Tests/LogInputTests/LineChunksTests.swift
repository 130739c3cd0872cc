// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LogInput

extension OneAtATime {
    @Suite("Inputs are cut into whole lines")
    struct LineChunksTests {
        /// The lines that come out of a file, without their ends, chunk by chunk.
        static func chunks(_ content: [UInt8], capacity: Int) throws -> [[String]] {
            let directory = try TemporaryDirectory()
            let path = directory.file("input")
            try Files.write(content, to: path)
            var chunks = LineChunks(try InputBytes(InputFile(path)), capacity: capacity)
            var pieces: [[UInt8]] = []
            while try chunks.next({ span in pieces.append(span.indices.map { span[$0] }) }) {}
            return pieces.map { piece in
                #expect(piece.last == UInt8(ascii: "\n"))
                return piece.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    .map { String(decoding: $0, as: UTF8.self) }
            }
        }

        @Test(
            "lines come out of an input as they went in, wherever the buffer ends",
            arguments: [16, 17, 31, 64, 1_000]
        )
        func wholeLines(capacity: Int) throws {
            var random = SplitMix64(UInt64(capacity))
            let lines = (0..<300).map { number in
                String("\(number)".prefix(3)) + String(repeating: "x", count: Int(random.next() % 10))
            }
            for end in ["", "\n"] {
                let content = Array((lines.joined(separator: "\n") + end).utf8)
                #expect(try Self.chunks(content, capacity: capacity).flatMap(\.self) == lines)
            }
        }

        @Test("an empty input has no line, an empty line is one")
        func lineChunksEmpty() throws {
            #expect(try Self.chunks([], capacity: 64) == [])
            #expect(try Self.chunks(Array("\n".utf8), capacity: 64) == [[""]])
            #expect(try Self.chunks(Array("\n\na".utf8), capacity: 64) == [["", "", "a"]])
        }

        @Test("a line that is longer than the buffer is one line, cut", arguments: [16, 17, 100, 1_000])
        func longLines(length: Int) throws {
            let long = String(repeating: "y", count: length)
            for end in ["\nz\n", "\nz"] {
                let lines = try Self.chunks(Array("a\n\(long)\(end)".utf8), capacity: 16).flatMap(\.self)
                #expect(lines == ["a", String(repeating: "y", count: 7), "z"])
            }
            #expect(try Self.chunks(Array(long.utf8), capacity: 16).flatMap(\.self) == ["yyyyyyy"])
        }

        @Test("gzip is decompressed on the way, also of several members")
        func lineChunksGzip() throws {
            let lines = (0..<200_000).map { "line \($0)" }
            let half = lines.count / 2
            let first = try Program.gzip(Array((lines[..<half].joined(separator: "\n") + "\n").utf8))
            let second = try Program.gzip(Array(lines[half...].joined(separator: "\n").utf8))
            #expect(try Self.chunks(first + second, capacity: 1 << 16).flatMap(\.self) == lines)
            #expect(try Self.chunks(Program.gzip([]), capacity: 64) == [])
        }

        @Test("damaged and truncated gzip is an error in words")
        func damagedGzip() throws {
            let whole = try Program.gzip(Array(String(repeating: "abcdefgh", count: 10_000).utf8))
            #expect(throws: InputError.self) { try Self.chunks(Array(whole.dropLast(9)), capacity: 64) }
            var damaged = whole
            damaged[whole.count / 2] ^= 0xFF
            #expect(throws: InputError.self) { try Self.chunks(damaged, capacity: 64) }
            #expect(throws: InputError.self) { try Self.chunks(whole + [1, 2, 3], capacity: 64) }
        }

        @Test("an input in another format is named with a remedy")
        func lineChunksForeign() throws {
            for head: [UInt8] in [[0x28, 0xB5, 0x2F, 0xFD, 0], Array("PK\u{3}\u{4}x".utf8)] {
                let error = #expect(throws: InputError.self) { try Self.chunks(head, capacity: 64) }
                #expect(error?.problem.contains("`") == true)
            }
        }

        @Test("an input that cannot be opened is named with the reason")
        func unopened() throws {
            let directory = try TemporaryDirectory()
            #expect(throws: InputError(input: "/nowhere/at-all", problem: "there is no such file")) {
                _ = try InputFile("/nowhere/at-all")
            }
            let error = #expect(throws: InputError.self) { _ = try InputFile(directory.path) }
            #expect(error?.problem.contains("directory") == true)
        }
    }
}

@Suite("JSON documents are told from lines")
struct JSONDocumentsTests {
    static func begins(_ text: String, isWhole: Bool = false) -> Bool {
        JSONDocuments.begins(Array(text.utf8)[...], isWhole: isWhole)
    }

    @Test(
        "a JSON document is recognised by how it begins",
        arguments: [
            "[{\"event\":1}]", " \n[\n  {\n", "[]", "\u{FEFF}[{", "{\n  \"event\": \"x\",\n",
            "{ \"events\": [\n{\"a\":1},\n",
            "{\"events\":[{\"event\":\"a\"}]}\n", "{\"sentAt\":\"t\", \"events\" : [ {} ] }\n{}\n",
            "{\"event\":\n\"x\"}",
        ]
    )
    func documents(text: String) {
        #expect(Self.begins(text))
    }

    @Test(
        "a bracket or a brace alone makes no JSON document",
        arguments: [
            "", " ", "[DNP-FETCH] Starting fetch", "[2025-11-15] x", "[ 12.34] kernel",
            "{\"event\":\"a\"}\n{\"event\":\"b\"}\n",
            "{\"traceID\":1,\"eventMess\n{\"traceID\":2}\n", "{DNP}\n", "{\"event\":\"events\"}\n{}", "x", "{", "[",
            "{\"a\":\"\\\"events\\\":[\"}\n",
        ]
    )
    func jsonDocumentsLines(text: String) {
        #expect(!Self.begins(text))
    }

    @Test("a single object is read as a document when it is all there is")
    func single() {
        #expect(Self.begins("{\"event\":\"a\"}", isWhole: true))
        #expect(!Self.begins("{\"event\":\"a\"}", isWhole: false))
    }
}

@Suite("Lines as they are cut out of what is read")
struct LineCutterTests {
    static func cut(_ pieces: [[UInt8]], ends: Bool = true) -> [UInt8] {
        var cutter = LineCutter()
        var lines: [UInt8] = []
        for piece in pieces { cutter.cut(piece, into: &lines) }
        if ends { cutter.finish(into: &lines) }
        return lines
    }

    @Test("cut lines are the same however their bytes arrive")
    func lineCutterPieces() {
        var random = SplitMix64(1)
        for _ in 0..<200 {
            let bytes: [UInt8] = [10, 0, 65, 66, 67]
            let text: [UInt8] = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                bytes[Int.random(in: 0..<bytes.count, using: &random)]
            }
            var pieces: [[UInt8]] = []
            var rest = text[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(Self.cut(pieces) == Self.cut([text]))
        }
    }

    @Test("a gap of NUL bytes ends a line and is dropped")
    func gaps() {
        #expect(
            String(decoding: Self.cut([Array("one\n\0\0\0two\nth\0\0ree\n\0".utf8)]), as: UTF8.self)
                == "one\ntwo\nth\nree\n"
        )
    }

    @Test("a line over the limit is handed on once, still too long, in bounded memory")
    func tooLong() {
        var cutter = LineCutter()
        var lines: [UInt8] = []
        for _ in 0..<100 {
            cutter.cut([UInt8](repeating: 65, count: 10_000), into: &lines)
            #expect(cutter.held.count <= LineCutter.longestLine)
        }
        cutter.cut(Array("rest\nnext\n".utf8), into: &lines)
        #expect(lines.split(separator: UInt8(ascii: "\n")).map(\.count) == [LineCutter.longestLine, 4])
    }
}
