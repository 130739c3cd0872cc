// SPDX-License-Identifier: Apache-2.0

import Glibc
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
            (13, 0, "full"), (10 | 3 << 8, ENOSPC, "full"), (10 | 3 << 8, EDQUOT, "full"),
            (10 | 19 << 8, ENOSPC, "full"), (10 | 3 << 8, EIO, "other"), (10 | 3 << 8, EROFS, "other"),
            (10 | 19 << 8, EIO, "other"), (10 | 4 << 8, EDQUOT, "full"), (10 | 5 << 8, ENOSPC, "full"),
            (10 | 6 << 8, EIO, "other"), (10 | 1 << 8, ENOSPC, "other"), (11, 0, "corrupt"),
            (11 | 3 << 8, ENOSPC, "corrupt"), (26, 0, "corrupt"), (5 | 2 << 8, 0, "busy"), (6, 0, "busy"),
            (8, 0, "other"),
        ] as [(Int32, Int32, String)]
    )
    func codes(code: Int32, systemError: Int32, kind: String) {
        let found =
            switch LedgerError(code: code, systemError: systemError, message: "m") {
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
