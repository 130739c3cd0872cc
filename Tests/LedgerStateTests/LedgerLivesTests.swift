// SPDX-License-Identifier: Apache-2.0

import Journald
import TestSupport
import Testing

@testable import EventLedger
@testable import LedgerState

@Suite("Names of a ledger's lives in the journal")
struct LedgerLivesTests {
    static func life(_ number: Int64, _ id: String, after: UInt64) -> LedgerLife {
        LedgerLife(
            number: number,
            id: id,
            after: LedgerPosition(batch: 0, sequence: after),
            startedAt: 0,
            reason: .journal,
            acknowledged: .start
        )
    }

    @Test("the entries are named by the lives from the next number's on, and by the one before")
    func names() {
        let lives = [
            Self.life(1, "a", after: 0), Self.life(2, "b", after: 10), Self.life(3, "c", after: 10),
            Self.life(4, "d", after: 30),
        ]
        func names(_ confirmed: UInt64) -> [String] {
            StreamNames(lives, after: confirmed).parts.map { "\($0.name)\($0.after)" }
        }
        #expect(names(0) == ["a0", "b10", "c10", "d30"])
        #expect(names(9) == ["a0", "b10", "c10", "d30"])
        #expect(names(10) == ["b10", "c10", "d30"])
        #expect(names(30) == ["c10", "d30"])
        #expect(names(99) == ["c10", "d30"])
        #expect(StreamNames([lives[0]], after: 5).parts.map(\.name) == ["a"])
    }
}
