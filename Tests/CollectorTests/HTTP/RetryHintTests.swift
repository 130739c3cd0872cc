// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Collector

@Suite("The hint when to come again")
struct RetryHintTests {
    @Test(
        "spreads over half as much again, from 1 to 60 seconds",
        arguments: [
            (.zero, 1...3), (.milliseconds(100), 1...3), (.seconds(1), 1...3), (.milliseconds(1_001), 2...4),
            (.seconds(10), 10...15), (.seconds(40), 40...60), (.seconds(60), 40...60), (.seconds(Int64.max), 40...60),
            (.seconds(-5), 1...3),
        ] as [(Duration, ClosedRange<Int>)]
    )
    func spread(duration: Duration, expected: ClosedRange<Int>) {
        var generator = SplitMix64(7)
        let drawn = Set((0..<2_000).map { _ in RetryHint.jittered(duration, using: &generator) })
        #expect(drawn == Set(expected))
    }
}
