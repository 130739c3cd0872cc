// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Journald

@Suite("Pauses")
struct BackoffTests {
    let backoff = Backoff(first: 100, longest: 1_000)

    @Test("a pause doubles up to its limit")
    func doubling() {
        #expect((1...6).map { backoff.pause(failures: $0, random: 0) } == [100, 200, 400, 800, 1_000, 1_000])
    }

    @Test("chance takes up to a quarter off")
    func jitter() {
        #expect(backoff.pause(failures: 3, random: .max) == 301)
        #expect(backoff.pause(failures: 3, random: .max / 2) == 351)
    }

    @Test("any number of failures gives a pause", arguments: [Int.min, 0, 63, 64, 65, Int.max])
    func extremes(failures: Int) {
        #expect((75...1_000).contains(backoff.pause(failures: failures, random: .max)))
        let huge = Backoff(first: .max, longest: .max)
        #expect(huge.pause(failures: failures, random: 0) == .max)
    }
}
