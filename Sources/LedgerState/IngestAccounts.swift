// SPDX-License-Identifier: Apache-2.0

package import EventLedger
package import PrefetchLifecycle
package import RefreshLifecycle
package import TelemetryEvents

/// The accounts of everything ever received: a fold over the ledger.
///
/// At every position `received = accepted + duplicates + rejected`, and `accepted` is the sum of `effects`; the
/// `increments` by all causes are the sum of the prefetch's counters.
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
    /// What accepted events did, by the raw value of `AcceptedEffect`.
    package private(set) var effects = [UInt64](repeating: 0, count: AcceptedEffect.allCases.count)
    /// By how much the prefetch's counters grew, by the raw value of `IncrementCause`.
    package private(set) var increments = [UInt64](repeating: 0, count: IncrementCause.allCases.count)
    /// The last batch of an older version, which did not note effects; 0 where every effect was noted.
    package private(set) var estimatedUpTo: UInt64 = 0

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

    /// Adds what the events of a batch did.
    ///
    /// - Parameters:
    ///   - tally: what the fold of the prefetch noted of the events that it could read.
    ///   - refresh: what the fold of the background refresh noted.
    ///   - count: the events of the batch. Verdicts and unreadable events count nothing, so they are informational.
    ///   - grown: by how much the prefetch's counters grew.
    package mutating func add(
        _ tally: EffectTally,
        _ refresh: RefreshEffects,
        of count: UInt64,
        increments grown: UInt64
    ) {
        for effect in AcceptedEffect.allCases { effects[Int(effect.rawValue)] &+= tally[effect] }
        effects[Int(AcceptedEffect.counted.rawValue)] &+= refresh.counted
        effects[Int(AcceptedEffect.repeatedStage.rawValue)] &+= refresh.repeated
        effects[Int(AcceptedEffect.informational.rawValue)] &+= refresh.informational
        let noted = tally.total &+ refresh.total
        effects[Int(AcceptedEffect.informational.rawValue)] &+= count - min(count, noted)
        increments[Int(IncrementCause.event.rawValue)] &+= tally.countedAtOnce
        increments[Int(IncrementCause.clientCounters.rawValue)] &+= tally.recovered
        let rest = grown &- tally.countedAtOnce &- tally.recovered
        increments[Int(IncrementCause.later.rawValue)] &+= rest
    }

    /// Whether an older version saved the accounts, so that nothing is known of effects.
    package var lacksEffects: Bool { accepted > 0 && effects.allSatisfy { $0 == 0 } }

    /// Estimates the effects of all events so far: as many as the lifecycle's counters have grown by, without what client
    /// counters recovered, are counted, and the rest is informational.
    ///
    /// - Parameters:
    ///   - grown: the sum of the lifecycle's counters.
    ///   - recovered: the part of it that was recovered from client counters.
    ///   - batch: the last batch of the events.
    package mutating func estimateEffects(increments grown: UInt64, recovered: UInt64, upTo batch: Int64) {
        let recovered = min(recovered, grown)
        let counted = min(accepted, grown - recovered)
        effects = [UInt64](repeating: 0, count: effects.count)
        effects[Int(AcceptedEffect.counted.rawValue)] = counted
        effects[Int(AcceptedEffect.informational.rawValue)] = accepted - counted
        increments[Int(IncrementCause.event.rawValue)] = counted
        increments[Int(IncrementCause.clientCounters.rawValue)] = recovered
        increments[Int(IncrementCause.later.rawValue)] = grown - recovered - counted
        estimatedUpTo = UInt64(clamping: batch)
    }

    package static let stateKey: StateKey = "accounts"

    // In the list of origins, other counts have numbers above those of origins; older versions skip what they don't know.
    private static let linesOrigin = UInt64(UInt16.max) + 1
    private static let effectsOrigin = linesOrigin + 16
    private static let incrementsOrigin = linesOrigin + 32
    private static let estimateOrigin = linesOrigin + 48
    /// And the altered texts those above the lines'.
    private static let alteredOrigin = linesOrigin + 256

    package var encoded: [UInt8] {
        var words = [accepted, duplicates, unknownFields, UInt64(rejected.count)]
        words += rejected
        for (first, counts) in [
            (Self.linesOrigin, lines), (Self.effectsOrigin, effects), (Self.incrementsOrigin, increments),
            (Self.estimateOrigin, [estimatedUpTo]),
        ] {
            for (index, count) in counts.enumerated() where count > 0 { words += [first + UInt64(index), count] }
        }
        for field in ShapedField.allCases where altered[field] > 0 {
            words += [Self.alteredOrigin + UInt64(field.rawValue), altered[field]]
        }
        for (origin, count) in received.sorted(by: { $0.key < $1.key }) { words += [UInt64(origin), count] }
        return LittleEndianWords.bytes(words)
    }
}

extension IngestAccounts {
    /// No ledger has counted more, so that sums of what was decoded never overflow.
    private static let largestCount: UInt64 = 1 << 60

    /// Decodes the accounts of a checkpoint; nil for invalid bytes.
    package init?(encoded: [UInt8]) {
        self.init()
        guard var words = LittleEndianWords.words(encoded)?[...], words.count >= 4,
            words.allSatisfy({ $0 <= Self.largestCount })
        else { return nil }
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
            } else if let result = Self.index(of: origin, from: Self.linesOrigin, in: lines) {
                lines[result] = count
            } else if let effect = Self.index(of: origin, from: Self.effectsOrigin, in: effects) {
                effects[effect] = count
            } else if let cause = Self.index(of: origin, from: Self.incrementsOrigin, in: increments) {
                increments[cause] = count
            } else if origin == Self.estimateOrigin {
                estimatedUpTo = count
            } else if origin >= Self.alteredOrigin, let code = UInt8(exactly: origin - Self.alteredOrigin),
                let field = ShapedField(rawValue: code)
            {
                altered[field] = count
            }
        }
    }

    private static func index(of origin: UInt64, from first: UInt64, in counts: [UInt64]) -> Int? {
        origin >= first && origin - first < UInt64(counts.count) ? Int(origin - first) : nil
    }
}

/// What made a counter of the lifecycle grow: a label of `dnp_telemetry_lifecycle_increments_total`. Raw values are
/// stored in the ledger.
package enum IncrementCause: Int, CaseIterable, Sendable {
    /// An event when it was accepted, by one.
    case event = 0
    /// The counters that a client sent, where events were lost on the way.
    case clientCounters = 1
    /// Anything else: what an event counts beside its own stage, and what counts when an attempt or a cycle ends.
    case later = 2

    /// The label value.
    package var name: StaticString {
        switch self {
        case .event: "event"
        case .clientCounters: "client_counters"
        case .later: "later"
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

    /// No row counts more: it has at most `LedgerBatch.maximumBytes`, and so had what it was decoded from.
    private static let largestCount = UInt64(UInt32.max)

    /// Decodes a receipt; nil for invalid bytes.
    package init?(encoded: [UInt8]) {
        self.init(anyCounts: encoded)
        let counts = [duplicates, unknownFields] + rejected + lines + ShapedField.allCases.map { altered[$0] }
        guard counts.allSatisfy({ $0 <= Self.largestCount }) else { return nil }
    }

    private init?(anyCounts encoded: [UInt8]) {
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
