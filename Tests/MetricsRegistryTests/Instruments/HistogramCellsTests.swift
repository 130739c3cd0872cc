// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MetricsRegistry

@Suite("Histogram cells")
struct HistogramMemoryTests {
    @Test("only frequent collisions are contention, not those that add up over hours")
    func histogramMemoryContention() {
        let rare = Contention()
        var work: UInt64 = 0
        for _ in 0..<10_000 {
            work += 1_000
            let isFrequent = rare.recordCollision { work }
            #expect(!isFrequent)
        }
        // The same instance later, when threads begin to collide.
        let frequent = (0..<64).filter { _ in
            work += 100
            return rare.recordCollision { work }
        }
        #expect(frequent == [15, 31, 47, 63])
    }

    @Test("the work done is measured at every sixteenth collision only")
    func histogramMemoryPatience() {
        let contention = Contention()
        var measurements = 0
        for _ in 0..<160 {
            _ = contention.recordCollision {
                measurements += 1
                return 0
            }
        }
        #expect(measurements == 10)
    }

    @Test(
        "a histogram is striped over at most eight CPUs, and not with more than 64 buckets",
        arguments: [(1, 1, 1), (16, 2, 2), (64, 64, 8), (65, 64, 1), (257, 64, 1)]
    )
    func histogramMemoryStripes(buckets: Int, processors: Int, expected: Int) {
        #expect(HistogramCells.stripeCount(buckets: buckets, processors: processors) == expected)
    }

    @Test("a histogram series takes the documented number of bytes", arguments: [(15, 640), (63, 1_792), (256, 6_408)])
    func histogramMemoryBytes(bounds: Int, expected: Int) {
        let cells = HistogramCells(count: bounds + 1)
        #expect(cells.bytes == expected)
    }
}
