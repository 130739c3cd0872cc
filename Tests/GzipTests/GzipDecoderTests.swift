// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Gzip

extension OneAtATime {
    @Suite("Gzip bodies")
    struct GzipDecoderTests {
        /// Decodes within limits that only large content reaches.
        static func decode(
            _ body: [UInt8],
            maximumBytes: Int = 64 << 20,
            maximumRatio: Int = 200
        ) throws(GzipError) -> [UInt8] {
            try GzipDecoder.decode(body.span, maximumBytes: maximumBytes, maximumRatio: maximumRatio)
        }

        /// What neither zlib nor a ratio can make small.
        static func noise(_ count: Int) -> [UInt8] {
            var random = SplitMix64(7)
            return random.bytes(count)
        }

        static let text = Array(EventText.scheduled("notif-1").utf8)

        @Test(
            "gzip bodies come out as they went into the system's gzip",
            arguments: [0, 1, 2, 100, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 5_000_000],
            [1, 9]
        )
        func gzipDecoderRoundTrip(size: Int, level: Int) throws {
            let content = Self.noise(size)
            #expect(try Self.decode(Program.gzip(content, level: level)) == content)
        }

        @Test("gzip bodies may have several members, empty ones among them")
        func gzipDecoderMembers() throws {
            let parts = [Self.text, [], Self.noise(100_000), [], [0x0A], Self.text]
            let body = try parts.flatMap { try Program.gzip($0) }
            #expect(try Self.decode(body) == parts.flatMap { $0 })
        }

        @Test("gzip bodies are truncated wherever they are cut")
        func gzipDecoderTruncated() throws {
            let body = try Program.gzip(Self.text)
            for length in 0..<body.count {
                #expect(throws: GzipError.truncated, "\(length) of \(body.count) bytes") {
                    _ = try Self.decode(Array(body[..<length]))
                }
            }
        }

        @Test("gzip bodies are refused or the same with any one bit wrong")
        func flippedBits() throws {
            let body = try Program.gzip(Self.text)
            var refused = 0
            for bit in 0..<body.count * 8 {
                var damaged = body
                damaged[bit / 8] ^= 1 << (bit % 8)
                do throws(GzipError) {
                    #expect(try Self.decode(damaged) == Self.text, "bit \(bit)")
                } catch {
                    refused += 1
                }
            }
            // What means nothing to the content: the header's time, system and level, 48 bits, the bit that hints at text,
            // and what is left of the last byte of the compressed data.
            #expect(refused >= body.count * 8 - (48 + 1 + 7))
        }

        @Test("gzip bodies are refused when they are no gzip or something follows them")
        func gzipDecoderGarbage() throws {
            #expect(throws: GzipError.damaged) { _ = try Self.decode(Self.text) }
            #expect(throws: GzipError.damaged) { _ = try Self.decode(Self.noise(1_000)) }
            #expect(throws: GzipError.truncated) { _ = try Self.decode([]) }
            let body = try Program.gzip(Self.text)
            #expect(throws: GzipError.damaged) { _ = try Self.decode(body + Self.text) }
            #expect(throws: GzipError.self) { _ = try Self.decode(body + [0]) }
            #expect(throws: GzipError.self) { _ = try Self.decode(body + [0x1F]) }
        }

        @Test("gzip bodies may have exactly the largest size and not one byte more")
        func gzipDecoderTooLarge() throws {
            let content = Self.noise(300_000)
            let body = try Program.gzip(content)
            #expect(try Self.decode(body, maximumBytes: content.count) == content)
            #expect(throws: GzipError.tooLarge) { _ = try Self.decode(body, maximumBytes: content.count - 1) }
            #expect(throws: GzipError.tooLarge) { _ = try Self.decode(body, maximumBytes: 0) }
        }

        @Test("gzip bodies are suspicious when they grow too much, unless they stay small")
        func bomb() throws {
            let small = [UInt8](repeating: 0, count: GzipDecoder.unsuspiciousBytes)
            #expect(try Self.decode(Program.gzip(small, level: 9)) == small)

            let body = try Program.gzip([UInt8](repeating: 0, count: 32 << 20), level: 9)
            #expect(body.count < 64 << 10)
            #expect(throws: GzipError.suspiciousRatio) { _ = try Self.decode(body) }
            #expect(throws: GzipError.tooLarge) { _ = try Self.decode(body, maximumBytes: 2 << 20) }
            #expect(try Self.decode(body, maximumRatio: 2_000).count == 32 << 20)
        }

        @Test("gzip bodies are suspicious all the same when they hide their growth in many members")
        func bombOfMembers() throws {
            let member = try Program.gzip([UInt8](repeating: 0, count: 1 << 20), level: 9)
            let body = Array(repeatElement(member, count: 8).joined())
            #expect(throws: GzipError.suspiciousRatio) { _ = try Self.decode(body) }
        }

        @Test("gzip bodies stop where no more memory is granted, before anything is kept beyond it")
        func budget() throws {
            let content = Self.noise(500_000)
            let body = try Program.gzip(content)
            var granted = 0
            #expect(throws: GzipError.outOfMemory) {
                _ = try GzipDecoder.decode(body.span, maximumBytes: 1 << 20, maximumRatio: 200) { bytes in
                    guard granted + bytes <= 200_000 else { return false }
                    granted += bytes
                    return true
                }
            }
            #expect(granted <= 200_000)
            var asked = 0
            let whole = try GzipDecoder.decode(body.span, maximumBytes: 1 << 20, maximumRatio: 200) { bytes in
                asked += bytes
                return true
            }
            #expect(whole == content)
            #expect(asked == content.count)
        }
    }
}
