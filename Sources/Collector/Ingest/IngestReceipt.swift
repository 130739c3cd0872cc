// SPDX-License-Identifier: Apache-2.0

internal import TelemetryEvents

/// What the ledger keeps of a submission beside its events, so that the accounts of SPEC 4.5 are a function of the
/// ledger: what was a duplicate, what was refused and why, and by which key the batch is known again.
struct IngestReceipt: Equatable, Sendable {
    var duplicates: UInt64 = 0
    var unknownFields: UInt64 = 0
    /// By the raw value of `RejectionReason`.
    var rejected = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    var batchIdentities: [UInt64] = []

    var rejectedTotal: UInt64 { rejected.reduce(0, +) }
    var isEmpty: Bool { self == IngestReceipt() }

    /// Eight bytes each, little-endian: duplicates, unknown fields, the count of reasons and each reason's rejections,
    /// the count of batch identities and these.
    var encoded: [UInt8] {
        if isEmpty { return [] }
        var words = [duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        words.append(UInt64(batchIdentities.count))
        words += batchIdentities
        return LittleEndianWords.bytes(words)
    }
}

extension IngestReceipt {
    /// Reads a receipt back; nil for bytes that are none.
    init?(encoded: [UInt8]) {
        self.init()
        if encoded.isEmpty { return }
        guard var words = LittleEndianWords.words(encoded)?[...], words.count >= 4 else { return nil }
        duplicates = words.removeFirst()
        unknownFields = words.removeFirst()
        let reasons = words.removeFirst()
        guard reasons <= UInt64(rejected.count), words.count > Int(reasons) else { return nil }
        for reason in 0..<Int(reasons) { rejected[reason] = words.removeFirst() }
        guard words.removeFirst() == UInt64(words.count) else { return nil }
        batchIdentities = Array(words)
    }
}

/// Numbers of eight bytes, little-endian.
enum LittleEndianWords {
    static func bytes(_ words: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.count * 8)
        for word in words {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    static func words(_ bytes: [UInt8]) -> [UInt64]? {
        guard bytes.count % 8 == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64($1 * 8) }
        }
    }
}
