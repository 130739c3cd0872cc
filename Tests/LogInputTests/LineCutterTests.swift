// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LogInput

@Suite("Lines as they are cut out of what is read")
struct LineCutterTests {
    static func cut(_ pieces: [[UInt8]], ends: Bool = true) -> [UInt8] {
        var cutter = LineCutter()
        var lines: [UInt8] = []
        for piece in pieces { cutter.cut(piece, into: &lines) }
        if ends { cutter.finish(into: &lines) }
        return lines
    }

    @Test("are the same however they come")
    func pieces() {
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

    @Test("of a gap of NUL bytes end there, and the gap is gone")
    func gaps() {
        #expect(
            String(decoding: Self.cut([Array("one\n\0\0\0two\nth\0\0ree\n\0".utf8)]), as: UTF8.self)
                == "one\ntwo\nth\nree\n"
        )
    }

    @Test("that are too long are handed on once, still too long, in bounded memory")
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
