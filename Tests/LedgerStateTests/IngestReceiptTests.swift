// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState

@Suite("The receipt of a submission")
struct IngestReceiptTests {
    static func random(_ random: inout SplitMix64) -> IngestReceipt {
        var receipt = IngestReceipt()
        receipt.duplicates = random.next() >> (random.next() % 64)
        receipt.unknownFields = random.next() >> (random.next() % 64)
        for reason in receipt.rejected.indices { receipt.rejected[reason] = UInt64.random(in: 0...9, using: &random) }
        receipt.batchIdentities = (0..<Int.random(in: 0...3, using: &random)).map { _ in random.next() }
        if Bool.random(using: &random) {
            receipt.lines = receipt.lines.map { _ in UInt64.random(in: 0...9, using: &random) }
        }
        if Bool.random(using: &random) {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...9, using: &random)
            }
            receipt.position = SourcePosition(source: random.next(), bytes: bytes)
        }
        return receipt
    }

    @Test("is read back as it was written")
    func roundTrip() {
        var random = SplitMix64(1)
        for _ in 0..<200 {
            let receipt = Self.random(&random)
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test("takes no bytes when there is nothing to tell")
    func empty() {
        #expect(IngestReceipt().isEmpty)
        #expect(IngestReceipt().encoded.isEmpty)
        #expect(IngestReceipt(encoded: []) == IngestReceipt())
    }

    @Test("is not empty when it tells anything")
    func notEmpty() {
        for member in [\IngestReceipt.duplicates, \.unknownFields, \.rejected[0], \.rejected[12]] {
            var receipt = IngestReceipt()
            receipt[keyPath: member] = 1
            #expect(!receipt.isEmpty)
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test("of a batch identity alone is not empty")
    func identityAlone() {
        var receipt = IngestReceipt()
        receipt.batchIdentities = [0]
        #expect(!receipt.isEmpty)
        #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
    }

    @Test("cut anywhere but between its parts is no receipt, except for nothing at all")
    func truncated() {
        var random = SplitMix64(2)
        var receipt = Self.random(&random)
        receipt.batchIdentities = [1, 2]
        receipt.lines = [1, 2, 3]
        receipt.position = SourcePosition(source: 7, bytes: [1, 2, 3, 4, 5, 6, 7, 8, 9])
        let bytes = receipt.encoded
        var short = receipt
        short.position = nil
        let withoutPosition = short.encoded.count
        short.lines = [0, 0, 0]
        let withoutLines = short.encoded.count
        for length in 1..<bytes.count where length != withoutPosition && length != withoutLines {
            #expect(IngestReceipt(encoded: Array(bytes[..<length])) == nil, "\(length) of \(bytes.count) bytes")
        }
        #expect(IngestReceipt(encoded: Array(bytes[..<withoutLines])) == short, "as rows before lines were told")
        #expect(IngestReceipt(encoded: bytes + [0]) == nil)
        #expect(IngestReceipt(encoded: bytes + [UInt8](repeating: 0, count: 8)) == nil)
    }

    @Test("of an older version with fewer reasons is read")
    func fewerReasons() {
        let words: [UInt64] = [5, 6, 2, 7, 8, 1, 99]
        let receipt = IngestReceipt(encoded: LittleEndianWords.bytes(words))
        #expect(receipt?.duplicates == 5)
        #expect(receipt?.unknownFields == 6)
        #expect(receipt?.rejectedTotal == 15)
        #expect(receipt?.batchIdentities == [99])
    }

    @Test("of any words is a receipt or none")
    func anyWords() {
        var random = SplitMix64(3)
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                Bool.random(using: &random) ? random.next() : UInt64.random(in: 0...20, using: &random)
            }
            guard let receipt = IngestReceipt(encoded: LittleEndianWords.bytes(words)) else { continue }
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test("has its numbers in eight bytes each, the lowest first")
    func littleEndian() {
        #expect(LittleEndianWords.bytes([0x0102_0304_0506_0708]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(LittleEndianWords.words([8, 7, 6, 5, 4, 3, 2, 1]) == [0x0102_0304_0506_0708])
        #expect(LittleEndianWords.words([1, 2, 3]) == nil)
    }
}
