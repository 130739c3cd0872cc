// SPDX-License-Identifier: Apache-2.0

/// The key of the hashes that identify events and cycles.
///
/// Created once per ledger and stored with it, so that no sender can construct collisions and a rebuild computes the
/// same identities.
public struct IdentityKey: Sendable {
    let first: UInt64
    let second: UInt64

    /// Creates a key from 128 random bits.
    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// The hash for deduplication, over installation, schedule, kind, timestamp, `eventId`, a failure's reason,
    /// whether a content's hash is told and the code of an error of the plugin, or what an event of the background refresh
    /// tells.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func identity(of event: borrowing Event, in bytes: Span<UInt8>) -> UInt64 {
        if event.presence.contains(.originals), let known = OriginalHashes(event, in: bytes).identity {
            return known ^ Self.mask(of: event)
        }
        return identity(of: event, in: bytes, after: scheduleHash(of: event, in: bytes)) ^ Self.mask(of: event)
    }

    /// Returns `identity(of:in:)` and `schedule(of:in:)` at little more than the cost of one.
    public func hashes(of event: borrowing Event, in bytes: Span<UInt8>) -> (identity: UInt64, schedule: UInt64?) {
        let schedule = scheduleHash(of: event, in: bytes)
        let identity = identity(of: event, in: bytes, after: schedule)
        if event.presence.contains(.originals) {
            let originals = OriginalHashes(event, in: bytes)
            let known = event.scheduleId.isEmpty ? nil : originals.schedule ?? schedule.finalized()
            return ((originals.identity ?? identity) ^ Self.mask(of: event), known)
        }
        return (identity ^ Self.mask(of: event), event.scheduleId.isEmpty ? nil : schedule.finalized())
    }

    /// The hashes of an event whose ids are still as they were sent; the identity without a failure's reason and a hash,
    /// which the event keeps itself.
    func originals(of event: borrowing Event, in bytes: Span<UInt8>) -> OriginalHashes {
        let hashes = hashes(of: event, in: bytes)
        return OriginalHashes(identity: hashes.identity ^ Self.mask(of: event), schedule: hashes.schedule)
    }

    /// The identities that an event may have had before failures were told apart by their reasons: one of them is it.
    ///
    /// A mask can be taken off without the event, so that what an older version remembered is still found.
    public static func identitiesWithoutReason(_ identity: UInt64) -> [UInt64] {
        FailureReason.allCases.map { identity ^ $0.identityMask }
    }

    /// The identity that an event that tells a content's hash had before such events were told apart from others of their
    /// moment.
    public static func identityWithoutHash(_ identity: UInt64) -> UInt64 { identity ^ contentHashMask }

    /// A random word.
    private static let contentHashMask: UInt64 = 0x5F1D_83A6_E2C4_097B

    /// What tells events of one moment apart by what else they tell: failures by their reason, and content that was cached
    /// or used from the line that tells its hash; 0 for any other event.
    @inline(__always)
    private static func mask(of event: borrowing Event) -> UInt64 {
        switch event.kind {
        case .prefetchFailure, .prefetchCompleted: event.reason.map(\.identityMask) ?? 0
        case .contentCached, .prefetchUsedForNotification: event.contentHash.isEmpty ? 0 : contentHashMask
        default: 0
        }
    }

    /// The hashes that an earlier version gave an event whose ids it had replaced by pseudonyms before it hashed them; nil
    /// for an event whose ids are as they were sent.
    ///
    /// - Parameter bytes: the bytes that the event was read from.
    public func hashesOfPseudonyms(
        of event: borrowing Event,
        in bytes: Span<UInt8>
    ) -> (identity: UInt64, schedule: UInt64?)? {
        guard event.presence.contains(.originals) else { return nil }
        let schedule = scheduleHash(of: event, in: bytes)
        let identity = identity(of: event, in: bytes, after: schedule) ^ Self.mask(of: event)
        return (identity, event.scheduleId.isEmpty ? nil : schedule.finalized())
    }

    /// The hash of two words, such as an installation and a time.
    public func hash(_ first: UInt64, _ second: UInt64) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(first)
        hash.combine(second)
        return hash.finalized()
    }

    @inline(__always)
    private func identity(of event: borrowing Event, in bytes: Span<UInt8>, after schedule: KeyedHash) -> UInt64 {
        var hash = schedule
        hash.combine(UInt64(event.kind.rawValue))
        hash.combine(UInt64(bitPattern: event.timestamp.microseconds))
        if !event.eventId.isEmpty { hash.combine(bytes, event.eventId) }
        if event.kind == .pluginError, !event.error.isEmpty { hash.combine(bytes, event.error) }
        if event.kind.app == .aiq { hash.combine(event.refreshIdentity) }
        return hash.finalized()
    }

    /// The hash that groups events into a cycle: installation and schedule id, or else notification time.
    ///
    /// Nil for an event with neither.
    public func cycle(of event: Event, in bytes: Span<UInt8>) -> UInt64? {
        if let schedule = schedule(of: event, in: bytes) { return schedule }
        return event.scheduledFor == nil ? nil : scheduleHash(of: event, in: bytes).finalized()
    }

    /// The hash of installation and schedule id; nil for an event without schedule id.
    public func schedule(of event: Event, in bytes: Span<UInt8>) -> UInt64? {
        if event.scheduleId.isEmpty { return nil }
        if event.presence.contains(.originals), let known = OriginalHashes(event, in: bytes).schedule { return known }
        return scheduleHash(of: event, in: bytes).finalized()
    }

    /// The hash that deduplicates batches: of the sender's `Idempotency-Key` and of whose the batch is.
    ///
    /// - Parameters:
    ///   - installation: the one that all events are of that name none; nil where the request says none.
    ///   - source: the file or stream that they come from.
    public func batch(
        idempotencyKey: Span<UInt8>,
        of installation: Pseudonym? = nil,
        from source: Pseudonym? = nil
    ) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(0xB)
        hash.combine(idempotencyKey, 0..<idempotencyKey.count)
        hash.combine(installation, source)
        return hash.finalized()
    }

    /// The same including the body, which detects a key reused for other events.
    public func batch(
        idempotencyKey: Span<UInt8>,
        body: Span<UInt8>,
        of installation: Pseudonym? = nil,
        from source: Pseudonym? = nil
    ) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(0xC)
        hash.combine(idempotencyKey, 0..<idempotencyKey.count)
        hash.combine(body, 0..<body.count)
        hash.combine(installation, source)
        return hash.finalized()
    }

    @inline(__always)
    private func scheduleHash(of event: borrowing Event, in bytes: Span<UInt8>) -> KeyedHash {
        var hash = KeyedHash(self)
        let installation = event.installation
        hash.combine(installation?.high ?? 0)
        hash.combine(installation?.low ?? 0)
        if !event.scheduleId.isEmpty {
            hash.combine(bytes, event.scheduleId)
        } else if let due = event.scheduledFor {
            hash.combine(UInt64(bitPattern: due.microseconds))
        }
        return hash
    }

    /// The hash of a text, never 0.
    func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
        var hash = KeyedHash(self)
        hash.combine(0xD)
        hash.combine(bytes, range)
        return max(hash.finalized(), 1)
    }

    /// The pseudonym of one of several processes on a device.
    ///
    /// - Parameter source: what the device's lines came from, where each source is a device of its own.
    func process(_ process: UInt64, of device: UInt64, in source: Pseudonym?) -> Pseudonym {
        var hash = KeyedHash(self)
        hash.combine(0xE)
        hash.combine(device)
        hash.combine(process)
        if let source { hash.combine(source.low) }
        return hash.pseudonym()
    }

    /// The pseudonym of one of several devices that one source names.
    func device(_ device: Pseudonym, in source: Pseudonym) -> Pseudonym {
        var hash = KeyedHash(self)
        hash.combine(0xF)
        hash.combine(device.high)
        hash.combine(device.low)
        hash.combine(source.low)
        return hash.pseudonym()
    }
}

extension FailureReason {
    /// A random word of the reason, which identities in checkpoints depend on.
    fileprivate var identityMask: UInt64 {
        switch self {
        case .network: 0x5E1D_9C3A_7B42_F06D
        case .auth: 0xA83F_61D7_0C95_2EB4
        case .system: 0x3C70_E58B_D91A_46F2
        case .other: 0xD2B6_0749_8EF3_5A1C
        }
    }
}

/// The hashes that an event had before its ids became pseudonyms.
///
/// They are kept with the event, so that it joins the cycle and the duplicates of events that a ledger holds under the
/// ids themselves, as earlier versions stored them. In a record: the identity and the schedule's hash, eight bytes each,
/// little-endian, 0 for an unknown one.
struct OriginalHashes: Equatable {
    /// Nil where only the schedule is known.
    var identity: UInt64?
    var schedule: UInt64?

    init(identity: UInt64?, schedule: UInt64?) {
        self.identity = identity
        self.schedule = schedule
    }

    /// Without hashes where the record's are damaged.
    init(_ event: borrowing Event, in bytes: Span<UInt8>) {
        let range = event.originals
        guard range.count == 16, range.upperBound <= bytes.count else { return }
        identity = bytes.word(at: range.lowerBound)
        schedule = bytes.word(at: range.lowerBound + 8)
        if identity == 0 { identity = nil }
        if schedule == 0 { schedule = nil }
    }
}

extension EventTexts {
    mutating func append(_ originals: OriginalHashes) -> Event.Text {
        append(littleEndian: originals.identity ?? 0, originals.schedule ?? 0)
    }
}

/// SipHash-1-3 over 64-bit words (Aumasson and Bernstein, "SipHash: a fast short-input PRF"), with one compression and
/// three finalisation rounds, as is usual for hash tables.
private struct KeyedHash {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var words: UInt64 = 0

    @inline(__always)
    init(_ key: IdentityKey) {
        v0 = key.first ^ 0x736f_6d65_7073_6575
        v1 = key.second ^ 0x646f_7261_6e64_6f6d
        v2 = key.first ^ 0x6c79_6765_6e65_7261
        v3 = key.second ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func combine(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
        words &+= 1
    }

    /// Combines whose a batch is, where that is known.
    mutating func combine(_ installation: Pseudonym?, _ source: Pseudonym?) {
        for (role, id) in [(1 as UInt64, installation), (2, source)] {
            guard let id else { continue }
            combine(role)
            combine(id.high)
            combine(id.low)
        }
    }

    /// Combines the length and the bytes of a text.
    @inline(__always)
    mutating func combine(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        combine(UInt64(range.count))
        var index = range.lowerBound
        while range.upperBound &- index >= 8 {
            combine(bytes.word(at: index))
            index &+= 8
        }
        if index < range.upperBound { combine(bytes.packedHead(index..<range.upperBound)) }
    }

    @inline(__always)
    func finalized() -> UInt64 {
        var hash = self
        hash.combine(words << 56)
        hash.v2 ^= 0xff
        hash.round()
        hash.round()
        hash.round()
        return hash.v0 ^ hash.v1 ^ hash.v2 ^ hash.v3
    }

    /// 128 bits of the hash.
    consuming func pseudonym() -> Pseudonym {
        let high = finalized()
        combine(high)
        return Pseudonym(high: high, low: finalized())
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v2 &+= v3
        v1 = v1 << 13 | v1 >> 51
        v3 = v3 << 16 | v3 >> 48
        v1 ^= v0
        v3 ^= v2
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v1
        v0 &+= v3
        v1 = v1 << 17 | v1 >> 47
        v3 = v3 << 21 | v3 >> 43
        v1 ^= v2
        v3 ^= v0
        v2 = v2 << 32 | v2 >> 32
    }
}

/// A key is never part of a log or a dump.
extension IdentityKey: CustomStringConvertible, CustomReflectable {
    /// Always `IdentityKey`.
    public var description: String { "IdentityKey" }
    /// Shows no members.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
