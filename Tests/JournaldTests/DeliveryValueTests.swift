// SPDX-License-Identifier: Apache-2.0

import SystemPrimitives
import Testing

@testable import Journald

@Suite("Sets of sequence numbers")
struct SequenceRangesTests {
    @Test("adjacent numbers merge into one range, in any order of insertion", arguments: 0..<20)
    func merging(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var ranges = SequenceRanges()
        for number in (1...200 as ClosedRange<UInt64>).shuffled(using: &random) {
            #expect(!ranges.contains(number))
            ranges.insert(number...number)
            #expect(ranges.contains(number))
        }
        #expect(ranges.rangeCount == 1)
        #expect(ranges.first == 1...200)
    }

    @Test("a set of sequence ranges equals a plain set of numbers", arguments: 0..<50)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
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

    @Test("sequence ranges work at 0 and at the greatest number")
    func ends() {
        var ranges = SequenceRanges()
        ranges.insert(0...0)
        ranges.insert(.max ... .max)
        ranges.insert(1...1)
        #expect(ranges.rangeCount == 2)
        #expect(ranges.contains(.max))
        #expect(ranges.count(in: 0...UInt64.max - 1) == 2)
    }

    @Test("a set of sequence ranges refuses more ranges than its limit")
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

    @Test("removing many ranges from the front leaves an empty set")
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

@Suite("Bytes in flight")
struct DatagramLogTests {
    @Test("a datagram counts as in flight until its last entry is confirmed")
    func release() {
        var log = DatagramLog()
        log.append(last: 10, bytes: 100)
        log.append(last: 20, bytes: 200)
        log.release(upTo: 9)
        #expect(log.bytes == 300)
        log.release(upTo: 10)
        #expect(log.bytes == 200)
        log.release(upTo: 25)
        #expect(log.bytes == 0)
    }

    @Test("bytes in flight return to zero after many datagrams")
    func many() {
        var log = DatagramLog()
        for last in 1...5_000 as ClosedRange<UInt64> { log.append(last: last, bytes: 3) }
        for last in 1...5_000 as ClosedRange<UInt64> {
            log.release(upTo: last)
            #expect(log.bytes == 3 * (5_000 - Int(last)))
        }
    }
}

@Suite("Backoff")
struct BackoffTests {
    let backoff = Backoff(first: 100, longest: 1_000)

    @Test("a backoff pause doubles up to its limit")
    func doubling() {
        #expect((1...6).map { backoff.pause(failures: $0, random: 0) } == [100, 200, 400, 800, 1_000, 1_000])
    }

    @Test("jitter shortens a backoff pause by up to a quarter")
    func jitter() {
        #expect(backoff.pause(failures: 3, random: .max) == 301)
        #expect(backoff.pause(failures: 3, random: .max / 2) == 351)
    }

    @Test("any number of failures gives a valid backoff pause", arguments: [Int.min, 0, 63, 64, 65, Int.max])
    func extremes(failures: Int) {
        #expect((75...1_000).contains(backoff.pause(failures: failures, random: .max)))
        let huge = Backoff(first: .max, longest: .max)
        #expect(huge.pause(failures: failures, random: 0) == .max)
    }
}
