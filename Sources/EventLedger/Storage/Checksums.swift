// SPDX-License-Identifier: Apache-2.0

extension LedgerBatch {
    /// The checksum that is stored with the batch: over the receipt, then the events, seeded with the sequence number,
    /// so that a batch in the wrong place is found too.
    func checksum(firstSequence: UInt64) -> Int64 {
        let receiptHash = XXH64.hash(receipt, seed: firstSequence)
        return Int64(bitPattern: XXH64.hash(events, seed: receiptHash))
    }
}

extension StateKey {
    /// The checksum that is stored with a page: over the value, seeded with the key's.
    func checksum(of value: [UInt8]) -> Int64 {
        Int64(bitPattern: XXH64.hash(value, seed: XXH64.hash(bytes, seed: 0)))
    }
}
