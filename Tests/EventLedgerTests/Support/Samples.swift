// SPDX-License-Identifier: Apache-2.0

import EventLedger

/// 2025-11-14 05:48:00 UTC in microseconds.
let sampleTime: Int64 = 1_763_099_280_000_000

extension LedgerBatch {
    /// A batch whose bytes tell its number; events of `bytes` bytes.
    static func sample(_ number: Int, count: UInt32 = 3, bytes: Int = 200, at time: Int64? = nil) -> LedgerBatch {
        LedgerBatch(
            receivedAt: time ?? sampleTime + Int64(number),
            origin: UInt16(truncatingIfNeeded: number % 7),
            count: count,
            receipt: Array("receipt \(number);".utf8),
            events: Array("events \(number);".utf8)
                + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
        )
    }
}

extension EventLedger {
    /// Opens a ledger in a temporary directory at the time of the samples.
    static func sample(
        in directory: TemporaryDirectory,
        durability: LedgerDurability = .process
    ) throws -> EventLedger {
        try EventLedger.open(directory: directory.path, durability: durability, now: sampleTime).ledger
    }
}
