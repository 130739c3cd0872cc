// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LedgerTools

@Suite("The numbers that a journal holds")
struct JournalCensusTests {
    private func census(_ numbers: [UInt64]) -> JournalCensus {
        var census = JournalCensus()
        for number in numbers { census.note(number) }
        return census
    }

    @Test("may begin late, when older entries were vacuumed")
    func vacuumed() {
        #expect(census(Array(100...200)).missing(upTo: 200) == [])
        #expect(census([]).missing(upTo: 200) == [])
    }

    @Test("miss what lies between them and what should follow them")
    func missing() {
        #expect(census([3, 4, 7, 9]).missing(upTo: 12) == [5...6, 8...8, 10...12])
        #expect(census([3, 4, 7, 9]).missing(upTo: 6) == [5...6])
        #expect(census([3, 4, 7, 9]).missing(upTo: 3) == [])
        #expect(census([9, 3, 7, 4]).missing(upTo: 9) == [5...6, 8...8])
    }

    @Test("are repeated once however often they come")
    func repeated() {
        let census = census([1, 2, 2, 3, 2, 5, 4, 5])
        #expect(census.repetitions == [2...2, 5...5])
        #expect(census.entries == 8)
        #expect(census.missing(upTo: 5) == [])
    }
}
