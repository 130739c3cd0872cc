// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Names and texts")
struct NamesTests {
    @Test(
        "a time becomes a name of a file",
        arguments: [
            (0, "19700101T000000Z"), (951_782_399_999_999, "20000228T235959Z"),
            (951_782_400_000_000, "20000229T000000Z"),
            (1_763_099_280_000_000, "20251114T054800Z"), (4_107_542_399_000_000, "21000228T235959Z"),
            (4_107_542_400_000_000, "21000301T000000Z"), (-1, "19700101T000000Z"), (.max, "99991231T235959Z"),
        ] as [(Int64, String)]
    )
    func timestamps(microseconds: Int64, expected: String) {
        #expect(CompactTimestamp(microseconds: microseconds).description == expected)
    }

    @Test("the end of a prefix is the least key after all keys with it")
    func endOfPrefix() {
        #expect(StateKey("ab").endOfPrefix == "ac")
        #expect(StateKey(bytes: [1, 0xFF, 0xFF]).endOfPrefix == StateKey(bytes: [2]))
        #expect(StateKey(bytes: [0xFF, 0xFF]).endOfPrefix == nil)
        #expect(StateKey("").endOfPrefix == nil)
    }

    @Test(
        "SQLite's codes are sorted by what the caller can do",
        arguments: [
            (13, "full"), (10 | 3 << 8, "full"), (10 | 19 << 8, "full"), (10 | 1 << 8, "other"), (11, "corrupt"),
            (11 | 3 << 8, "corrupt"), (26, "corrupt"), (5 | 2 << 8, "busy"), (6, "busy"), (8, "other"),
        ] as [(Int32, String)]
    )
    func codes(code: Int32, kind: String) {
        let found =
            switch LedgerError(code: code, message: "m") {
            case .full: "full"
            case .corrupt: "corrupt"
            case .busy: "busy"
            default: "other"
            }
        #expect(found == kind)
    }

    @Test("durations that don't fit are clamped")
    func durations() {
        #expect(Duration.milliseconds(1500).clampedNanoseconds == 1_500_000_000)
        #expect(Duration.seconds(-1).clampedNanoseconds == 0)
        #expect(Duration.seconds(Int64.max).clampedNanoseconds == UInt64(Int64.max))
    }
}
