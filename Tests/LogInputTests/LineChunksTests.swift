// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LogInput

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

    @Test("that come out as they went in, wherever the buffer ends", arguments: [16, 17, 31, 64, 1_000])
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

    @Test("an empty input has none, an empty line is one")
    func empty() throws {
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
    func gzip() throws {
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

    @Test("other formats are named with what to do about them")
    func foreign() throws {
        for head: [UInt8] in [[0xFF, 0xFE, 0x5B, 0x00], [0x28, 0xB5, 0x2F, 0xFD, 0], Array("PK\u{3}\u{4}x".utf8)] {
            let error = #expect(throws: InputError.self) { try Self.chunks(head, capacity: 64) }
            #expect(error?.problem.contains("`") == true)
        }
    }

    @Test("what cannot be opened is named with the reason")
    func unopened() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: InputError(input: "/nowhere/at-all", problem: "there is no such file")) {
            _ = try InputFile("/nowhere/at-all")
        }
        let error = #expect(throws: InputError.self) { _ = try InputFile(directory.path) }
        #expect(error?.problem.contains("directory") == true)
    }
}
