// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Collector

@Suite("The watch over the writer")
struct WriterWatchTests {
    static let second: UInt64 = 1_000_000_000

    @Test("under load each commit is a proof, and the manager hears of it four times in its time")
    func underLoad() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 0, at: 0)
        var pings: [UInt64] = []
        for second in 1...60 as ClosedRange<UInt64> {
            let step = watch.look(proofs: second * 100, isAsked: false, at: second * Self.second)
            #expect(step != .askForProof)
            if step == .ping { pings.append(second) }
        }
        #expect(pings == [10, 20, 30, 40, 50, 60])
    }

    @Test("where nothing is posted the writer is asked, and its answer is the proof")
    func idle() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        #expect(watch.look(proofs: 5, isAsked: false, at: 9 * Self.second) == .wait)
        #expect(watch.look(proofs: 5, isAsked: false, at: 10 * Self.second) == .askForProof)
        #expect(watch.look(proofs: 5, isAsked: true, at: 11 * Self.second) == .wait)
        #expect(watch.look(proofs: 6, isAsked: false, at: 12 * Self.second) == .ping)
        #expect(watch.look(proofs: 6, isAsked: false, at: 13 * Self.second) == .wait)
        #expect(watch.look(proofs: 6, isAsked: false, at: 22 * Self.second) == .askForProof)
    }

    @Test("a writer that hangs is asked once, and the manager hears nothing until it has answered")
    func hung() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        #expect(watch.look(proofs: 5, isAsked: false, at: 10 * Self.second) == .askForProof)
        for second in 11...1_000 as ClosedRange<UInt64> {
            #expect(watch.look(proofs: 5, isAsked: true, at: second * Self.second) == .wait)
        }
        #expect(watch.look(proofs: 6, isAsked: false, at: 1_001 * Self.second) == .ping)
    }

    @Test("a writer that answers with failures is asked again and again, and the manager hears nothing")
    func failing() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        for second in 10...100 as ClosedRange<UInt64> {
            #expect(watch.look(proofs: 5, isAsked: false, at: second * Self.second) == .askForProof)
        }
    }

    @Test("it looks often enough for any time of the manager's", arguments: [1, 100, 3_000, 30_000, 3_600_000])
    func pauses(milliseconds: Int) {
        let watch = WriterWatch(timeout: .milliseconds(milliseconds), proofs: 0, at: 0)
        #expect((10_000_000...Self.second).contains(watch.pause))
        if milliseconds >= 200 { #expect(watch.pause <= UInt64(milliseconds) * 1_000_000 / 8) }
        _ = WriterWatch(timeout: .seconds(Int64.max), proofs: 0, at: 0)
        _ = WriterWatch(timeout: .seconds(-1), proofs: 0, at: 0)
    }
}
