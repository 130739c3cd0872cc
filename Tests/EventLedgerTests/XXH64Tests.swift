// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EventLedger

@Suite("Checksums")
struct XXH64Tests {
    /// The vectors of the specification's test program: a buffer filled by a generator, hashed with two seeds.
    @Test(
        "the hash is the one of the specification",
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

    @Test("every length up to two stripes hashes differently")
    func lengths() {
        let hashes = (0...64).map { XXH64.hash([UInt8](repeating: 0, count: $0), seed: 0) }
        #expect(Set(hashes).count == 65)
    }
}
