// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Sets of sequence numbers")
struct SequenceRangesTests {
    @Test("numbers that touch become one range, in any order", arguments: 0..<20)
    func merging(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var ranges = SequenceRanges()
        for number in (1...200 as ClosedRange<UInt64>).shuffled(using: &random) {
            #expect(!ranges.contains(number))
            ranges.insert(number...number)
            #expect(ranges.contains(number))
        }
        #expect(ranges.rangeCount == 1)
        #expect(ranges.first == 1...200)
    }

    @Test("it holds the same numbers as a plain set", arguments: 0..<50)
    func model(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var ranges = SequenceRanges()
        var model: Set<UInt64> = []
        for _ in 0..<120 {
            switch UInt64.random(in: 0..<8, using: &random) {
            case 0:
                let number = UInt64.random(in: 0...60, using: &random)
                let upper = ranges.removePrefix(reaching: number)
                var expected: UInt64?
                while let lowest = model.min(), lowest <= number {
                    var run = lowest
                    while model.remove(run) != nil { run += 1 }
                    expected = run - 1
                }
                #expect(upper == expected)
            default:
                let lower = UInt64.random(in: 0...100, using: &random)
                let upper = lower + UInt64.random(in: 0...5, using: &random)
                ranges.insert(lower...upper)
                model.formUnion(lower...upper)
            }
            #expect((0...110).filter { ranges.contains($0) } == model.sorted())
            #expect(ranges.count(in: 20...80) == UInt64(model.filter { (20...80).contains($0) }.count))
            #expect(ranges.isEmpty == model.isEmpty)
            #expect(ranges.last == model.max())
        }
    }

    @Test("the ends of the numbers are no trouble")
    func ends() {
        var ranges = SequenceRanges()
        ranges.insert(0...0)
        ranges.insert(.max ... .max)
        ranges.insert(1...1)
        #expect(ranges.rangeCount == 2)
        #expect(ranges.contains(.max))
        #expect(ranges.count(in: 0...UInt64.max - 1) == 2)
    }

    @Test("it doesn't grow without limit")
    func bounded() {
        var ranges = SequenceRanges()
        for index in 0..<UInt64(SequenceRanges.maximumRanges) { ranges.insert(index * 2 + 1...index * 2 + 1) }
        let beyond = UInt64(SequenceRanges.maximumRanges) * 2 + 1
        let isTaken = ranges.insert(beyond...beyond)
        #expect(!isTaken)
        #expect(ranges.rangeCount == SequenceRanges.maximumRanges)
        let inserted = ranges.insert(2...2)
        #expect(inserted, "a number that joins two ranges needs no room")
        #expect(ranges.rangeCount == SequenceRanges.maximumRanges - 1)
    }

    @Test("many ranges taken from the front leave no trace")
    func draining() {
        var ranges = SequenceRanges()
        for index in 1...5_000 as ClosedRange<UInt64> { ranges.insert(index * 2...index * 2) }
        for index in 1...5_000 as ClosedRange<UInt64> {
            let upper = ranges.removePrefix(reaching: index * 2)
            #expect(upper == index * 2)
            #expect(!ranges.contains(index * 2))
        }
        #expect(ranges == SequenceRanges())
    }
}
