// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import LedgerState

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

    @Test("add up: received are accepted, duplicates and rejected ones")
    func sums() {
        var random = SplitMix64(1)
        for receipts in 0..<100 {
            let accounts = Self.random(&random, receipts: receipts)
            let received = accounts.received.values.reduce(0, +)
            #expect(received == accounts.accepted + accounts.duplicates + accounts.rejected.reduce(0, +))
        }
    }

    @Test("add each receipt to its own origin and reasons")
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

    @Test("are read back as they were written, and written the same again")
    func roundTrip() {
        var random = SplitMix64(2)
        for receipts in 0..<50 {
            let accounts = Self.random(&random, receipts: receipts)
            let read = IngestAccounts(encoded: accounts.encoded)
            #expect(read == accounts)
            #expect(read?.lines == accounts.lines)
            #expect(read?.encoded == accounts.encoded)
        }
    }

    @Test("cut anywhere are no accounts, or ones that lack whole origins")
    func truncated() {
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

    @Test("of any words are accounts or none")
    func anyWords() {
        var random = SplitMix64(4)
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                Bool.random(using: &random) ? random.next() : UInt64.random(in: 0...20, using: &random)
            }
            guard let accounts = IngestAccounts(encoded: LittleEndianWords.bytes(words)) else { continue }
            #expect(IngestAccounts(encoded: accounts.encoded) == accounts)
        }
    }
}

@Suite("The origin of events")
struct EventOriginTests {
    @Test("is stored as one number and read back")
    func roundTrip() {
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
