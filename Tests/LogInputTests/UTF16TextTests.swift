// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import LogInput

extension OneAtATime {
    @Suite("Logs in UTF-16")
    struct UTF16TextTests {
        static let lines = ["[DNP-FETCH] Fetch success (status=200)", "ä → 😀 and more", "", "DNP-FETCH: Task expired"]

        enum Encoding: CaseIterable {
            case littleEndian, bigEndian

            func bytes(_ text: String) -> [UInt8] {
                text.utf16.flatMap { unit in
                    let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
                    return self == .littleEndian ? bytes : bytes.reversed()
                }
            }
        }

        @Test(
            "a log in UTF-16 is read with its mark or without, wherever the buffer ends",
            arguments: Encoding.allCases
        )
        func utf16IsRead(encoding: Encoding) throws {
            let text = Self.lines.joined(separator: "\r\n") + "\r\n"
            for mark in ["", "\u{FEFF}"] {
                for capacity in [64, 100, 1_000] {
                    let lines = try LineChunksTests.chunks(encoding.bytes(mark + text), capacity: capacity).flatMap(
                        \.self
                    )
                    #expect(lines == Self.lines.map { $0 + "\r" })
                }
            }
        }

        @Test("a long log in UTF-16 comes out whole", arguments: Encoding.allCases)
        func longUTF16(encoding: Encoding) throws {
            let expected = (0..<20_000).map { "[DNP-FETCH] line \($0) 😀" }
            let bytes = encoding.bytes("\u{FEFF}" + expected.joined(separator: "\n"))
            #expect(try LineChunksTests.chunks(bytes, capacity: 1 << 16).flatMap(\.self) == expected)
        }

        @Test("two stray bytes that look like a mark are none")
        func strayBytes() throws {
            for stray: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF]] {
                let text = Array("[DNP-FETCH] Task expired\nnext line\n".utf8)
                let lines = try LineChunksTests.chunks(stray + text, capacity: 1_000).flatMap(\.self)
                #expect(lines.last == "next line" && lines.count == 2)
                #expect(lines.first?.hasSuffix("[DNP-FETCH] Task expired") == true)
            }
        }

        @Test("a text with some zeros, a short one and an unpaired surrogate stop nothing")
        func oddTexts() throws {
            let gaps = Array("line 1\n\0\0\0\0line 2\n".utf8)
            #expect(try LineChunksTests.chunks(gaps, capacity: 100).flatMap(\.self).count == 2)
            #expect(try LineChunksTests.chunks([0xFF, 0xFE], capacity: 100).flatMap(\.self) == [])
            #expect(try LineChunksTests.chunks([0xFF, 0xFE, 0x5B, 0], capacity: 100).flatMap(\.self) == ["["])
            let high: [UInt8] = [0x00, 0xD8]
            let low: [UInt8] = [0x00, 0xDC]
            let ascii = Encoding.littleEndian.bytes("abcdefgh")
            let unpaired = [0xFF, 0xFE] + ascii + high + ascii + low + ascii + [0x64]
            let expected = "abcdefgh\u{FFFD}abcdefgh\u{FFFD}abcdefgh"
            #expect(try LineChunksTests.chunks(unpaired, capacity: 100).flatMap(\.self) == [expected])
        }

        @Test("the array of Apple's log is lines, an array of events a document")
        func appleArrayIsNoDocument() {
            func begins(_ text: String) -> Bool { JSONDocuments.begins(Array(text.utf8)[...], isWhole: true) }
            #expect(!begins(#"[{"traceID":1,"eventMessage":"x"}]"#))
            #expect(!begins("[{\n  \"traceID\" : 1,\n"))
            #expect(begins(#"[{"event":"prefetch_success"}]"#))
        }
    }
}
