// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PrefetchLifecycle

@Suite("Lines of the cache")
struct CacheLinesTests {
    /// Few different words, so that many places of a line hold the same one.
    private static func filled<Word: FixedWidthInteger & Sendable>(
        _ lines: inout CacheLines<Word>,
        _ random: inout SplitMix64
    ) -> [[Word]] {
        (0..<lines.count).map { line in
            (0..<CacheLines<Word>.wordsPerLine).map { place in
                let word = Word(truncatingIfNeeded: random.next() % 3 &* 0x8100_0000_8100_0001)
                lines[line, place] = word
                return word
            }
        }
    }

    private static func places<Word: FixedWidthInteger>(_ words: [Word], of wanted: Word, under mask: Word) -> UInt32 {
        words.indices.reduce(0) { $0 | (words[$1] & mask == wanted ? 1 << UInt32($1) : 0) }
    }

    private static func check<Word: FixedWidthInteger & Sendable>(_: Word.Type, _ masks: [Word]) {
        var random = SplitMix64(seed: 11)
        for count in [1, 2, 7, 64] {
            var lines = CacheLines<Word>(count: count)
            let words = filled(&lines, &random)
            for line in 0..<count {
                for place in words[line].indices { #expect(lines[line, place] == words[line][place]) }
                for mask in masks {
                    for wanted in [words[line][0] & mask, 0, 1] as [Word] {
                        let expected = places(words[line], of: wanted, under: mask)
                        #expect(lines.places(in: line, of: wanted, under: mask) == expected)
                    }
                }
                for wanted in [words[line][0], 0, 1] as [Word] {
                    let count = words[line].count { $0 == wanted }
                    #expect(lines.count(of: wanted, in: line) == count)
                    #expect(lines.contains(wanted, in: line) == (count > 0))
                }
            }
        }
    }

    @Test("the places of a word in a line, and how many there are, are those that a loop finds")
    func placesAreFound() {
        #expect(CacheLines<UInt64>.wordsPerLine == 8)
        #expect(CacheLines<UInt32>.wordsPerLine == 16)
        Self.check(UInt64.self, [.max, 0xFF00_0000_0000_0000])
        Self.check(UInt32.self, [.max, 0xFF00_0000])
    }

    @Test("a copy holds the same words and changes alone")
    func copiesAreTheirOwn() {
        var random = SplitMix64(seed: 12)
        var lines = CacheLines<UInt64>(count: 5)
        let words = Self.filled(&lines, &random)
        var copy = lines
        copy[3, 4] = 99
        lines[0, 0] = 7
        for line in 0..<5 {
            for place in 0..<8 where (line, place) != (3, 4) { #expect(copy[line, place] == words[line][place]) }
        }
        #expect(copy[3, 4] == 99)
        #expect(lines[3, 4] == words[3][4])
        #expect(lines[0, 0] == 7)
    }

    @Test("loading lines ahead changes nothing, wherever they are")
    func loadingChangesNothing() {
        var random = SplitMix64(seed: 13)
        var lines = CacheLines<UInt64>(count: 4)
        let words = Self.filled(&lines, &random)
        for line in [0, 3, 4, 1_000_000, -1, .max / 64] { lines.address(ofLine: line).load(lines: 3) }
        MemoryAddress().load(lines: 2)
        for line in words.indices { #expect(words[line].indices.allSatisfy { lines[line, $0] == words[line][$0] }) }
        let words32 = [UInt32](repeating: 7, count: 100)
        for place in [0, 99, 100, .max, .min] { words32.span.address(ofElement: place).load() }
        #expect(words32 == [UInt32](repeating: 7, count: 100))
    }

    @Test("an address is that of its line, at a multiple of its size")
    func addressIsThatOfTheLine() {
        let lines = CacheLines<UInt32>(count: 9)
        for line in 0..<9 {
            #expect(lines.address(ofLine: line).isMultiple(of: 64))
            #expect(lines.address(ofLine: line).distance(from: lines.address(ofLine: 0)) == line * 64)
        }
        let cycles = [Int64](repeating: 0, count: 8)
        #expect(cycles.span.address(ofElement: 5).distance(from: cycles.span.address(ofElement: 2)) == 24)
    }

    @Test("lines take less than one line beside themselves")
    func memoryIsThatOfTheLines() {
        for count in [1, 10, 1_000] {
            let bytes = CacheLines<UInt32>(count: count).byteCount
            #expect(bytes >= 64 * count && bytes < 64 * (count + 1))
        }
    }
}

extension MemoryAddress {
    fileprivate func isMultiple(of size: UInt) -> Bool { address.isMultiple(of: size) }
    fileprivate func distance(from other: MemoryAddress) -> Int { Int(address) - Int(other.address) }
}
