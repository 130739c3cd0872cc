// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LedgerState

@Suite("The journal's lag")
struct JournalLagTests {
    static let second: Int64 = 1_000_000

    @Test("is the age of the oldest commit that is not confirmed")
    func oldest() {
        var lag = JournalLag()
        #expect(lag.age(behind: 0, now: startOfTest) == 0)
        lag.committed(10, at: startOfTest)
        lag.committed(20, at: startOfTest + 2 * Self.second)
        lag.committed(30, at: startOfTest + 4 * Self.second)
        let now = startOfTest + 5 * Self.second
        #expect(lag.age(behind: 0, now: now) == 5 * Self.second)
        #expect(lag.age(behind: 9, now: now) == 5 * Self.second)
        #expect(lag.age(behind: 10, now: now) == 3 * Self.second)
        #expect(lag.age(behind: 25, now: now) == 1 * Self.second)
        #expect(lag.age(behind: 30, now: now) == 0)
        lag.committed(31, at: now)
        #expect(lag.age(behind: 30, now: now + Self.second) == Self.second)
    }

    @Test("takes commits of one second for one, at its earliest time")
    func resolution() {
        var lag = JournalLag()
        for step in 0..<100 { lag.committed(UInt64(step) + 1, at: startOfTest + Int64(step) * 10_000) }
        #expect(lag.age(behind: 99, now: startOfTest + Self.second) == Self.second)
        #expect(lag.age(behind: 100, now: startOfTest + Self.second) == 0)
    }

    @Test("is never negative, whatever the clock does")
    func clockSetBack() {
        var lag = JournalLag()
        lag.committed(1, at: startOfTest)
        #expect(lag.age(behind: 0, now: startOfTest - Self.second) == 0)
        lag.committed(2, at: startOfTest - 10 * Self.second)
        #expect(lag.age(behind: 1, now: startOfTest + Self.second) == Self.second)
        #expect(lag.age(behind: 2, now: startOfTest + Self.second) == 0)
    }

    @Test("stays right at its oldest end in memory that has a limit")
    func limit() {
        var lag = JournalLag()
        let commits: Int64 = 100_000
        for step in 1...commits { lag.committed(UInt64(step), at: startOfTest + step * Self.second) }
        let now = startOfTest + commits * Self.second
        #expect(lag.age(behind: 0, now: now) == (commits - 1) * Self.second)
        #expect(lag.age(behind: 4_000, now: now) == (commits - 4_001) * Self.second)
        #expect(lag.age(behind: UInt64(commits) - 1, now: now) > 0)
        #expect(lag.age(behind: UInt64(commits), now: now) == 0)
    }
}
