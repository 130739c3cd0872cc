// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import TelemetryEvents

/// The accounts of everything ever received: a fold over the ledger.
///
/// `received = accepted + duplicates + rejected` at every position.
package struct IngestAccounts: Equatable, Sendable {
    package private(set) var received: [UInt16: UInt64] = [:]
    package private(set) var accepted: UInt64 = 0
    package private(set) var duplicates: UInt64 = 0
    package private(set) var unknownFields: UInt64 = 0
    package private(set) var altered = AlteredTexts()
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
        altered += receipt.altered
        for reason in rejected.indices { rejected[reason] += receipt.rejected[reason] }
        for result in lines.indices { lines[result] += receipt.lines[result] }
    }

    package static let stateKey: StateKey = "accounts"

    /// In the list of origins, the lines have the numbers above those of origins.
    private static let linesOrigin = UInt64(UInt16.max) + 1
    /// And the altered texts those above the lines'.
    private static let alteredOrigin = linesOrigin + 256

    package var encoded: [UInt8] {
        var words = [accepted, duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        for (result, count) in lines.enumerated() where count > 0 {
            words += [Self.linesOrigin + UInt64(result), count]
        }
        for field in ShapedField.allCases where altered[field] > 0 {
            words += [Self.alteredOrigin + UInt64(field.rawValue), altered[field]]
        }
        for (origin, count) in received.sorted(by: { $0.key < $1.key }) { words += [UInt64(origin), count] }
        return LittleEndianWords.bytes(words)
    }
}

extension IngestAccounts {
    /// Decodes the accounts of a checkpoint; nil for invalid bytes.
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
            } else if origin >= Self.alteredOrigin, let code = UInt8(exactly: origin - Self.alteredOrigin),
                let field = ShapedField(rawValue: code)
            {
                altered[field] = count
            }
        }
    }
}

/// What a row of the ledger records besides its events: duplicates, rejections by reason, the identities of the batch,
/// lines, and the read position of the source.
///
/// With it the accounts are a function of the ledger.
package struct IngestReceipt: Equatable, Sendable {
    /// The version of what follows the batch identities in a receipt with lines or a source.
    private static let linesVersion: UInt64 = 1
    /// The same with the altered texts before the lines.
    private static let alteredVersion: UInt64 = 2

    package var duplicates: UInt64 = 0
    package var unknownFields: UInt64 = 0
    package var altered = AlteredTexts()
    /// By the raw value of `RejectionReason`.
    package var rejected = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    package var batchIdentities: [UInt64] = []
    /// By the raw value of `LineResult`.
    package var lines = [UInt64](repeating: 0, count: LineResult.allCases.count)
    package var position: SourcePosition?

    /// The empty receipt.
    package init() {}

    package var rejectedTotal: UInt64 { rejected.reduce(0, +) }
    package var isEmpty: Bool { self == IngestReceipt() }

    /// Eight bytes each, little-endian: duplicates, unknown fields, the count of reasons and each reason's rejections,
    /// the count of batch identities and these; then, where there are any, a version, the count of fields and each
    /// field's altered texts (version 2), the lines by result, and the source with its position, padded to a multiple of
    /// eight bytes.
    package var encoded: [UInt8] {
        if isEmpty { return [] }
        var words = [duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        words.append(UInt64(batchIdentities.count))
        words += batchIdentities
        guard position != nil || lines.contains(where: { $0 > 0 }) || !altered.isEmpty else {
            return LittleEndianWords.bytes(words)
        }
        words.append(altered.isEmpty ? Self.linesVersion : Self.alteredVersion)
        if !altered.isEmpty {
            words.append(UInt64(ShapedField.allCases.count))
            words += ShapedField.allCases.map { altered[$0] }
        }
        words += lines
        guard let position else { return LittleEndianWords.bytes(words) }
        words += [position.source, UInt64(position.bytes.count)]
        let padding = [UInt8](repeating: 0, count: -position.bytes.count & 7)
        return LittleEndianWords.bytes(words) + position.bytes + padding
    }
}

extension IngestReceipt {
    /// The receipt of lines and of the source's position after them.
    package init(_ counts: LogLineCounts, _ position: SourcePosition? = nil) {
        self.position = position
        lines[LineResult.recognised.rawValue] = counts.recognised
        lines[LineResult.foreign.rawValue] = counts.foreign
        lines[LineResult.unrecognised.rawValue] = counts.unrecognised
    }

    /// Decodes a receipt; nil for invalid bytes.
    package init?(encoded: [UInt8]) {
        self.init()
        if encoded.isEmpty { return }
        guard var words = LittleEndianWords.words(encoded)?[...], words.count >= 4 else { return nil }
        duplicates = words.removeFirst()
        unknownFields = words.removeFirst()
        let reasons = words.removeFirst()
        guard reasons <= UInt64(rejected.count), words.count > Int(reasons) else { return nil }
        for reason in 0..<Int(reasons) { rejected[reason] = words.removeFirst() }
        let identities = words.removeFirst()
        guard identities <= UInt64(words.count) else { return nil }
        batchIdentities = Array(words.prefix(Int(identities)))
        words = words.dropFirst(Int(identities))
        if words.isEmpty { return }
        switch words.removeFirst() {
        case Self.linesVersion: break
        case Self.alteredVersion:
            guard let fields = words.popFirst(), fields <= UInt64(ShapedField.allCases.count),
                words.count >= Int(fields)
            else { return nil }
            for field in ShapedField.allCases.prefix(Int(fields)) { altered[field] = words.removeFirst() }
        default: return nil
        }
        guard words.count >= lines.count else { return nil }
        for result in lines.indices { lines[result] = words.removeFirst() }
        if words.isEmpty { return }
        guard words.count >= 2 else { return nil }
        let source = words.removeFirst()
        let count = words.removeFirst()
        guard count <= UInt64(words.count) * 8, words.count == (Int(count) + 7) / 8 else { return nil }
        let start = encoded.count - words.count * 8
        position = SourcePosition(source: source, bytes: Array(encoded[start..<(start + Int(count))]))
    }
}

/// Encodes 64-bit words in little-endian order.
package enum LittleEndianWords {
    package static func bytes(_ words: [UInt64]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.count * 8)
        for word in words {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return bytes
    }

    package static func words(_ bytes: [UInt8]) -> [UInt64]? {
        guard bytes.count % 8 == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64($1 * 8) }
        }
    }
}
