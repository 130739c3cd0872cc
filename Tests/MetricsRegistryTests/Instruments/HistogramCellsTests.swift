// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("The memory of histograms")
struct HistogramMemoryTests {
    @Test("collisions count where they are frequent, not where they add up over hours")
    func contention() {
        let rare = Contention()
        var work: UInt64 = 0
        for _ in 0..<10_000 {
            work += 1_000
            let isFrequent = rare.isFrequent { work }
            #expect(!isFrequent)
        }
        // The same one later on, when threads have begun to collide.
        let frequent = (0..<64).filter { _ in
            work += 100
            return rare.isFrequent { work }
        }
        #expect(frequent == [15, 31, 47, 63])
    }

    @Test("what was done is asked for at each sixteenth collision only")
    func patience() {
        let contention = Contention()
        var questions = 0
        for _ in 0..<160 {
            _ = contention.isFrequent {
                questions += 1
                return 0
            }
        }
        #expect(questions == 10)
    }

    @Test(
        "a histogram is divided among eight CPUs at most, and not at all with more than 64 buckets",
        arguments: [(1, 1, 1), (16, 2, 2), (64, 64, 8), (65, 64, 1), (257, 64, 1)]
    )
    func stripes(buckets: Int, processors: Int, expected: Int) {
        #expect(HistogramCells.stripeCount(buckets: buckets, processors: processors) == expected)
    }

    @Test("a series takes the bytes that the documentation tells", arguments: [(15, 640), (63, 1_792), (256, 6_408)])
    func bytes(bounds: Int, expected: Int) {
        let cells = HistogramCells(count: bounds + 1)
        #expect(cells.bytes == expected)
    }
}
