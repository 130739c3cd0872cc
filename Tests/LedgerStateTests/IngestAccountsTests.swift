// SPDX-License-Identifier: Apache-2.0

import RefreshLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import LedgerState
@testable import PrefetchLifecycle

@Suite("The accounts of everything received")
struct IngestAccountsTests {
    static let origins: [UInt16] = EventFormat.allCases.map { EventOrigin(.http, $0).rawValue }

    static func random(_ random: inout SplitMix64, receipts: Int) -> IngestAccounts {
        var accounts = IngestAccounts()
        for _ in 0..<receipts {
            var receipt = IngestReceipt()
            receipt.duplicates = UInt64.random(in: 0...5, using: &random)
            receipt.unknownFields = UInt64.random(in: 0...5, using: &random)
            receipt.lines = receipt.lines.map { _ in UInt64.random(in: 0...5, using: &random) }
            for field in ShapedField.allCases where Bool.random(using: &random) {
                receipt.altered[field] = UInt64.random(in: 0...5, using: &random)
            }
            for reason in receipt.rejected.indices where Bool.random(using: &random) {
                receipt.rejected[reason] = UInt64.random(in: 0...5, using: &random)
            }
            accounts.add(
                receipt,
                accepted: UInt64.random(in: 0...1_000, using: &random),
                origin: origins[Int.random(in: 0..<origins.count, using: &random)]
            )
        }
        return accounts
    }

    @Test("ingest accounts add up: received are accepted, duplicates and rejected ones")
    func ingestAccountsSums() {
        var random = SplitMix64(1)
        for receipts in 0..<100 {
            let accounts = Self.random(&random, receipts: receipts)
            let received = accounts.received.values.reduce(0, +)
            #expect(received == accounts.accepted + accounts.duplicates + accounts.rejected.reduce(0, +))
        }
    }

    @Test("ingest accounts add each receipt to its own origin and reasons")
    func eachPlace() {
        var receipt = IngestReceipt()
        receipt.duplicates = 2
        receipt.unknownFields = 7
        receipt.rejected[4] = 3
        var accounts = IngestAccounts()
        accounts.add(receipt, accepted: 10, origin: Self.origins[0])
        accounts.add(IngestReceipt(), accepted: 1, origin: Self.origins[1])
        accounts.add(IngestReceipt(), accepted: 0, origin: EventOrigin.tick.rawValue)
        #expect(accounts.received == [Self.origins[0]: 15, Self.origins[1]: 1])
        #expect(accounts.accepted == 11)
        #expect(accounts.duplicates == 2)
        #expect(accounts.unknownFields == 7)
        #expect(accounts.rejected.enumerated().allSatisfy { $0.element == ($0.offset == 4 ? 3 : 0) })
    }

    @Test("ingest accounts are read back as they were written, and written the same again")
    func ingestAccountsRoundTrip() {
        var random = SplitMix64(2)
        for receipts in 0..<50 {
            let accounts = Self.random(&random, receipts: receipts)
            let read = IngestAccounts(encoded: accounts.encoded)
            #expect(read == accounts)
            #expect(read?.lines == accounts.lines)
            #expect(read?.altered == accounts.altered)
            #expect(read?.encoded == accounts.encoded)
        }
    }

    @Test("ingest accounts keep what events did, and what is no event of the fold is informational")
    func effectsRoundTrip() {
        var accounts = IngestAccounts()
        accounts.add(IngestReceipt(), accepted: 9, origin: Self.origins[0])
        #expect(accounts.lacksEffects)
        var tally = EffectTally()
        for effect in [AcceptedEffect.counted, .counted, .repeatedStage, .informational, .late] { tally.add(effect) }
        tally.countedAtOnce = 1
        tally.recovered = 3
        accounts.add(tally, RefreshEffects(), of: 9, increments: 6)
        #expect(accounts.effects == [2, 1, 5, 1])
        #expect(accounts.increments == [1, 3, 2])
        #expect(!accounts.lacksEffects)
        let read = IngestAccounts(encoded: accounts.encoded)
        #expect(read == accounts)
        #expect(read?.effects == accounts.effects && read?.increments == accounts.increments)
    }

    @Test("ingest accounts of an older version estimate effects so that everything adds up")
    func estimatedEffects() {
        for (accepted, increments, recovered) in [(9, 6, 0), (9, 20, 0), (9, 6, 4), (9, 0, 0), (9, 4, 6)] {
            var accounts = IngestAccounts()
            accounts.add(IngestReceipt(), accepted: UInt64(accepted), origin: Self.origins[0])
            accounts.estimateEffects(increments: UInt64(increments), recovered: UInt64(recovered), upTo: 7)
            #expect(accounts.effects.reduce(0, +) == UInt64(accepted))
            #expect(accounts.increments.reduce(0, +) == UInt64(increments))
            #expect(accounts.estimatedUpTo == 7)
            #expect(IngestAccounts(encoded: accounts.encoded) == accounts)
        }
    }

    @Test("ingest accounts cut anywhere are no accounts, or ones that lack whole origins")
    func ingestAccountsTruncated() {
        var random = SplitMix64(3)
        let accounts = Self.random(&random, receipts: 20)
        let bytes = accounts.encoded
        for length in 0..<bytes.count {
            guard let read = IngestAccounts(encoded: Array(bytes[..<length])) else { continue }
            #expect(read.accepted == accounts.accepted)
            #expect(read.rejected == accounts.rejected)
            #expect(read.received.count < accounts.received.count)
            #expect(read.received.allSatisfy { accounts.received[$0.key] == $0.value })
        }
        #expect(IngestAccounts(encoded: []) == nil)
    }

    @Test("ingest accounts of any words are accounts or none")
    func ingestAccountsAnyWords() {
        var random = SplitMix64(4)
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                random.next() >> UInt64.random(in: 0...63, using: &random)
            }
            guard let accounts = IngestAccounts(encoded: LittleEndianWords.bytes(words)) else { continue }
            #expect(IngestAccounts(encoded: accounts.encoded) == accounts)
        }
    }

    @Test("ingest accounts and receipts with counts whose sums would overflow are none", arguments: 0..<3)
    func impossibleCounts(place: Int) {
        var words: [UInt64] = [1, 2, 3, 0, 0, 0]
        #expect(IngestAccounts(encoded: LittleEndianWords.bytes(words)) != nil)
        words[place] = .max
        #expect(IngestAccounts(encoded: LittleEndianWords.bytes(words)) == nil)
        words = [1, 2, 1, 3, 0]
        #expect(IngestReceipt(encoded: LittleEndianWords.bytes(words)) != nil)
        words[[0, 1, 3][place]] = 1 << 32
        #expect(IngestReceipt(encoded: LittleEndianWords.bytes(words)) == nil)
    }
}

@Suite("The origin of events")
struct EventOriginTests {
    @Test("the origin of events is stored as one number and read back")
    func eventOriginRoundTrip() {
        #expect(Set(EventOrigin.allCases).count == EventOrigin.allCases.count)
        for source in EventSource.allCases {
            for format in EventFormat.allCases {
                let origin = EventOrigin(source, format)
                #expect(EventOrigin(rawValue: origin.rawValue) == origin)
                #expect((origin.rawValue == EventOrigin.tick.rawValue) == (origin == .tick))
            }
        }
        #expect(EventOrigin(rawValue: 0) == .tick, "the ticks of older ledgers")
        #expect(EventOrigin(rawValue: .max) == nil)
    }
}

@Suite("The receipt of a submission")
struct IngestReceiptTests {
    static func random(_ random: inout SplitMix64) -> IngestReceipt {
        var receipt = IngestReceipt()
        receipt.duplicates = random.next() >> (32 + random.next() % 32)
        receipt.unknownFields = random.next() >> (32 + random.next() % 32)
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

    @Test("an ingest receipt is read back as it was written")
    func ingestReceiptRoundTrip() {
        var random = SplitMix64(1)
        for _ in 0..<200 {
            let receipt = Self.random(&random)
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test(
        "an ingest receipt of altered texts is read back with and without lines and a position, and not when it is cut"
    )
    func ingestReceiptAltered() {
        var random = SplitMix64(4)
        for _ in 0..<200 {
            var receipt = Self.random(&random)
            receipt.altered[.eventId] = 1
            for field in ShapedField.allCases { receipt.altered[field] += UInt64.random(in: 0...5, using: &random) }
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
        var receipt = IngestReceipt()
        receipt.altered[.deviceModel] = 3
        #expect(!receipt.isEmpty)
        let bytes = receipt.encoded
        #expect(IngestReceipt(encoded: bytes) == receipt)
        let plain = bytes.count - (2 + ShapedField.allCases.count + receipt.lines.count) * 8
        for length in 1..<bytes.count where length != plain {
            #expect(IngestReceipt(encoded: Array(bytes[..<length])) == nil, "\(length) of \(bytes.count) bytes")
        }
    }

    @Test("an ingest receipt takes no bytes when there is nothing to tell")
    func ingestReceiptEmpty() {
        #expect(IngestReceipt().isEmpty)
        #expect(IngestReceipt().encoded.isEmpty)
        #expect(IngestReceipt(encoded: []) == IngestReceipt())
    }

    @Test("an ingest receipt is not empty when it tells anything")
    func notEmpty() {
        for member in [\IngestReceipt.duplicates, \.unknownFields, \.rejected[0], \.rejected[12]] {
            var receipt = IngestReceipt()
            receipt[keyPath: member] = 1
            #expect(!receipt.isEmpty)
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test("an ingest receipt of a batch identity alone is not empty")
    func identityAlone() {
        var receipt = IngestReceipt()
        receipt.batchIdentities = [0]
        #expect(!receipt.isEmpty)
        #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
    }

    @Test("an ingest receipt cut anywhere but between its parts is no receipt, except for nothing at all")
    func ingestReceiptTruncated() {
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

    @Test("an ingest receipt of an older version with fewer reasons is read")
    func fewerReasons() {
        let words: [UInt64] = [5, 6, 2, 7, 8, 1, 99]
        let receipt = IngestReceipt(encoded: LittleEndianWords.bytes(words))
        #expect(receipt?.duplicates == 5)
        #expect(receipt?.unknownFields == 6)
        #expect(receipt?.rejectedTotal == 15)
        #expect(receipt?.batchIdentities == [99])
    }

    @Test("an ingest receipt of any words is a receipt or none")
    func ingestReceiptAnyWords() {
        var random = SplitMix64(3)
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                random.next() >> UInt64.random(in: 0...63, using: &random)
            }
            guard let receipt = IngestReceipt(encoded: LittleEndianWords.bytes(words)) else { continue }
            #expect(IngestReceipt(encoded: receipt.encoded) == receipt)
        }
    }

    @Test("an ingest receipt has its numbers in eight bytes each, the lowest first")
    func littleEndian() {
        #expect(LittleEndianWords.bytes([0x0102_0304_0506_0708]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(LittleEndianWords.words([8, 7, 6, 5, 4, 3, 2, 1]) == [0x0102_0304_0506_0708])
        #expect(LittleEndianWords.words([1, 2, 3]) == nil)
    }
}
