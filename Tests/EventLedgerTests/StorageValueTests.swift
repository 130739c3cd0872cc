// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPrimitives
import Testing

@testable import EventLedger

@Suite("Names, errors and durations of the ledger")
struct NamesTests {
    @Test(
        "a time is formatted as a basic ISO 8601 stamp for file names",
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

    @Test("the end of a key prefix is the least key after all keys with that prefix")
    func endOfPrefix() {
        #expect(StateKey("ab").endOfPrefix == "ac")
        #expect(StateKey(bytes: [1, 0xFF, 0xFF]).endOfPrefix == StateKey(bytes: [2]))
        #expect(StateKey(bytes: [0xFF, 0xFF]).endOfPrefix == nil)
        #expect(StateKey("").endOfPrefix == nil)
    }

    @Test(
        "SQLite's result codes are classified by what the caller can do",
        arguments: [
            (13, 0, "full"), (10 | 3 << 8, ENOSPC, "full"), (10 | 3 << 8, EDQUOT, "full"),
            (10 | 19 << 8, ENOSPC, "full"), (10 | 3 << 8, EIO, "other"), (10 | 3 << 8, EROFS, "other"),
            (10 | 19 << 8, EIO, "other"), (10 | 4 << 8, EDQUOT, "full"), (10 | 5 << 8, ENOSPC, "full"),
            (10 | 6 << 8, EIO, "other"), (10 | 1 << 8, ENOSPC, "other"), (11, 0, "corrupt"),
            (11 | 3 << 8, ENOSPC, "corrupt"), (26, 0, "corrupt"), (11, EIO, "other"), (26, EIO, "other"),
            (5 | 2 << 8, 0, "busy"), (6, 0, "busy"),
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

    @Test("a failure of SQLite is described with its errno, and without one has none behind it", arguments: [0, EIO])
    func describedErrno(systemError: Int32) {
        let error = LedgerError(code: 10 | 4 << 8, systemError: systemError, message: "disk I/O error")
        let reason = systemError == 0 ? "" : ": Input/output error"
        #expect(error.description == "the ledger failed with code 1034: disk I/O error\(reason)")
    }

    @Test("durations out of range are clamped to whole nanoseconds")
    func durations() {
        #expect(Duration.milliseconds(1500).clampedNanoseconds == 1_500_000_000)
        #expect(Duration.seconds(-1).clampedNanoseconds == 0)
        #expect(Duration.seconds(Int64.max).clampedNanoseconds == UInt64(Int64.max))
    }
}

@Suite("Checksums of the ledger")
struct XXH64Tests {
    /// The vectors of the specification's test program: a buffer filled by a generator, hashed with two seeds.
    @Test(
        "XXH64 gives the values of its specification's test vectors",
        arguments: [
            (0, 0, 0xEF46_DB37_51D8_E999), (1, 0, 0xE934_A84A_DB05_2768), (4, 0, 0x9136_A0DC_A574_57EE),
            (14, 0, 0x8282_DCC4_994E_35C8), (222, 0, 0xB641_AE8C_B691_C174),
            (0, 2_654_435_761, 0xAC75_FDA2_929B_17EF), (1, 2_654_435_761, 0x5014_607643A9B4C3),
            (222, 2_654_435_761, 0x20CB_8AB7_AE10_C14A),
        ] as [(Int, UInt64, UInt64)]
    )
    func vectors(count: Int, seed: UInt64, expected: UInt64) {
        var generator: UInt64 = 2_654_435_761
        let bytes = (0..<count).map { _ in
            let byte = UInt8(truncatingIfNeeded: generator >> 56)
            generator &*= 11_400_714_785_074_694_797
            return byte
        }
        #expect(XXH64.hash(bytes, seed: seed) == expected)
    }

    @Test("XXH64 of zeros differs for every length up to two stripes")
    func lengths() {
        let hashes = (0...64).map { XXH64.hash([UInt8](repeating: 0, count: $0), seed: 0) }
        #expect(Set(hashes).count == 65)
    }
}
