// SPDX-License-Identifier: Apache-2.0

package import TelemetryEvents

/// What the ledger keeps of a submission beside its events, so that the accounts of SPEC 4.5 are a function of the
/// ledger: what was a duplicate, what was refused and why, by which key the batch is known again, what lines a log had,
/// and how far its source has been read with it.
package struct IngestReceipt: Equatable, Sendable {
    /// What follows the batch identities in a row that tells of lines or of a source.
    private static let linesVersion: UInt64 = 1

    package var duplicates: UInt64 = 0
    package var unknownFields: UInt64 = 0
    /// By the raw value of `RejectionReason`.
    package var rejected = [UInt64](repeating: 0, count: RejectionReason.allCases.count)
    package var batchIdentities: [UInt64] = []
    /// By the raw value of `LineResult`.
    package var lines = [UInt64](repeating: 0, count: LineResult.allCases.count)
    package var position: SourcePosition?

    /// The receipt of a submission of which nothing but its events is kept.
    package init() {}

    package var rejectedTotal: UInt64 { rejected.reduce(0, +) }
    package var isEmpty: Bool { self == IngestReceipt() }

    /// Eight bytes each, little-endian: duplicates, unknown fields, the count of reasons and each reason's rejections,
    /// the count of batch identities and these; then, where there are any, a version, the lines by result, and the
    /// source with its position, whose bytes are filled up to eight.
    package var encoded: [UInt8] {
        if isEmpty { return [] }
        var words = [duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        words.append(UInt64(batchIdentities.count))
        words += batchIdentities
        guard position != nil || lines.contains(where: { $0 > 0 }) else { return LittleEndianWords.bytes(words) }
        words.append(Self.linesVersion)
        words += lines
        guard let position else { return LittleEndianWords.bytes(words) }
        words += [position.source, UInt64(position.bytes.count)]
        let padding = [UInt8](repeating: 0, count: -position.bytes.count & 7)
        return LittleEndianWords.bytes(words) + position.bytes + padding
    }
}

extension IngestReceipt {
    /// The receipt of lines, and of how far they were read.
    package init(_ counts: LogLineCounts, _ position: SourcePosition? = nil) {
        self.position = position
        lines[LineResult.recognised.rawValue] = counts.recognised
        lines[LineResult.foreign.rawValue] = counts.foreign
        lines[LineResult.unrecognised.rawValue] = counts.unrecognised
    }

    /// Reads a receipt back; nil for bytes that are none.
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
        guard words.removeFirst() == Self.linesVersion, words.count >= lines.count else { return nil }
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
