// SPDX-License-Identifier: Apache-2.0

package import EventLedger
internal import TelemetryEvents

/// The accounts of everything that was ever received (SPEC 4.5): a fold over the ledger like the lifecycle's.
///
/// `received = accepted + duplicates + rejected` at every position.
package struct IngestAccounts: Equatable, Sendable {
    package private(set) var received: [UInt16: UInt64] = [:]
    package private(set) var accepted: UInt64 = 0
    package private(set) var duplicates: UInt64 = 0
    package private(set) var unknownFields: UInt64 = 0
    /// By the raw value of `RejectionReason`.
    package private(set) var rejected = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    /// By the raw value of `LineResult`.
    package private(set) var lines = [UInt64](repeating: 0, count: LineResult.allCases.count)

    /// The accounts of an empty ledger.
    package init() {}

    package mutating func add(_ receipt: IngestReceipt, accepted count: UInt64, origin: UInt16) {
        let all = count + receipt.duplicates + receipt.rejectedTotal
        if all > 0 { received[origin, default: 0] += all }
        accepted += count
        duplicates += receipt.duplicates
        unknownFields += receipt.unknownFields
        for reason in rejected.indices { rejected[reason] += receipt.rejected[reason] }
        for result in lines.indices { lines[result] += receipt.lines[result] }
    }

    package static let stateKey: StateKey = "accounts"

    /// In the list of origins, the lines stand behind the numbers that an origin can have.
    private static let linesOrigin = UInt64(UInt16.max) + 1

    package var encoded: [UInt8] {
        var words = [accepted, duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        for (result, count) in lines.enumerated() where count > 0 {
            words += [Self.linesOrigin + UInt64(result), count]
        }
        for (origin, count) in received.sorted(by: { $0.key < $1.key }) { words += [UInt64(origin), count] }
        return LittleEndianWords.bytes(words)
    }
}

extension IngestAccounts {
    /// Reads the accounts of a checkpoint back; nil for bytes that are none.
    package init?(encoded: [UInt8]) {
        self.init()
        guard var words = LittleEndianWords.words(encoded)?[...], words.count >= 4 else { return nil }
        accepted = words.removeFirst()
        duplicates = words.removeFirst()
        unknownFields = words.removeFirst()
        let reasons = words.removeFirst()
        guard reasons <= UInt64(rejected.count), words.count >= Int(reasons) else { return nil }
        for reason in 0..<Int(reasons) { rejected[reason] = words.removeFirst() }
        guard words.count % 2 == 0 else { return nil }
        while words.count >= 2 {
            let origin = words.removeFirst()
            let count = words.removeFirst()
            if let origin = UInt16(exactly: origin) {
                received[origin] = count
            } else if origin - Self.linesOrigin < UInt64(lines.count) {
                lines[Int(origin - Self.linesOrigin)] = count
            }
        }
    }
}
