// SPDX-License-Identifier: Apache-2.0

/// The pseudonym of an installation outside the decoder: 128 bits of a keyed hash (docs/security.md).
public struct Pseudonym: Hashable, Sendable {
    /// The hash's first eight bytes, big-endian.
    public var high: UInt64
    /// The hash's next eight bytes, big-endian.
    public var low: UInt64

    /// Creates a pseudonym from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The pseudonym of a device that is known only by its source: a file, a connection, a stream.
    ///
    /// Its first half is 0, which that of a named installation is not, so that the two can be told apart.
    ///
    /// - Parameter name: the pseudonym of the source's name.
    public init(deviceOf name: Pseudonym) {
        self.init(high: 0, low: max(name.high ^ name.low, 1))
    }

    /// Whether the device is known only by its source.
    public var isOfSource: Bool { high == 0 && low != 0 }

    /// Appends the pseudonym as 32 hexadecimal digits.
    public func appendHex(to output: inout [UInt8]) {
        output.appendHex(high)
        output.appendHex(low)
    }
}

/// Replaces installation ids and ids that may be personal by keyed hashes.
///
/// The service's implementation is HMAC-SHA-256 with a key created on first start. Under one key, equal bytes always
/// give equal pseudonyms.
public protocol Pseudonymising: Sendable {
    /// The pseudonym of some bytes.
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym
    /// Whether ids and hashes of events stay as they are: on a client, which sends them to a collector that replaces them.
    var keepsIdentifiers: Bool { get }
}

extension Pseudonymising {
    /// They do not.
    public var keepsIdentifiers: Bool { false }

    /// An identifier in the form that it leaves a decoder in: itself if it is plain, else its pseudonym.
    public func shaped(identifier: String) -> String {
        var texts = EventTexts(Array(identifier.utf8))
        let whole = 0..<texts.bytes.count
        if keepsIdentifiers || EventTexts.isPlain(whole, in: texts.bytes.span) { return identifier }
        let pseudonym = texts.pseudonym(of: whole, self)
        return String(decoding: texts.bytes[pseudonym], as: UTF8.self)
    }
}

/// Caches the pseudonyms of recent installations, since computing one takes longer than decoding an event.
///
/// An open-addressing hash table of the ids, at most half full, in bounded memory: it is cleared when full.
struct PseudonymCache {
    private struct Slot {
        var hash: UInt64 = 0
        var start = 0
        var count = -1
        var pseudonym = Pseudonym(high: 0, low: 0)
    }

    private static let minimumSlots = 16
    private static let maximumSlots = 1_024
    /// The maximum size of the stored ids, in bytes.
    private static let maximumBytes = 32 * 1_024
    /// The maximum probe length, so that ids made to collide cost little more than others.
    private static let probes = 8

    private var slots: [Slot] = []
    private var used = 0
    /// The stored ids, concatenated.
    private var ids: [UInt8] = []
    /// The last lookup's slot, which usually matches the next one.
    private var latest = Slot()

    @inline(__always)
    mutating func pseudonym(
        of bytes: Span<UInt8>,
        _ id: Range<Int>,
        _ pseudonyms: any Pseudonymising
    ) -> Pseudonym {
        if latest.count == id.count, matches(latest.start, bytes, id) { return latest.pseudonym }
        return lookUp(of: bytes, id, pseudonyms)
    }

    @inline(never)
    private mutating func lookUp(
        of bytes: Span<UInt8>,
        _ id: Range<Int>,
        _ pseudonyms: any Pseudonymising
    ) -> Pseudonym {
        let hash = Self.hash(of: bytes, id)
        let mask = slots.count - 1
        if mask > 0 {
            var index = Int(truncatingIfNeeded: hash) & mask
            for _ in 0..<Self.probes {
                let slot = slots[index]
                if slot.hash == hash, slot.count == id.count, matches(slot.start, bytes, id) {
                    latest = slot
                    return slot.pseudonym
                }
                if slot.count < 0 { break }
                index = (index + 1) & mask
            }
        }
        let pseudonym = pseudonyms.pseudonym(of: bytes.extracting(id))
        add(bytes, id, hash, pseudonym)
        return pseudonym
    }

    @inline(__always)
    private static func hash(of bytes: Span<UInt8>, _ id: Range<Int>) -> UInt64 {
        let tail = id.count > 8 ? bytes.wordIfInBounds(at: id.upperBound &- 8) ?? 0 : 0
        let mixed = (bytes.packedHead(id) ^ tail &<< 29 ^ tail &>> 35) &* 0x9E37_79B9_7F4A_7C15
        return mixed &>> 32 | mixed &<< 32
    }

    @inline(__always)
    private func matches(_ start: Int, _ bytes: Span<UInt8>, _ id: Range<Int>) -> Bool {
        let known = ids.span
        let count = id.count
        var offset = 0
        if count >= 8 {
            while offset < count {
                // The last word overlaps the one before it.
                let wordStart = min(offset, count &- 8)
                guard
                    let word = known.wordIfInBounds(at: start &+ wordStart),
                    word == bytes.wordIfInBounds(at: id.lowerBound &+ wordStart)
                else { return false }
                offset &+= 8
            }
            return true
        }
        while offset < count {
            guard known.byte(at: start &+ offset) == bytes.byte(at: id.lowerBound &+ offset) else { return false }
            offset &+= 1
        }
        return true
    }

    private mutating func add(_ bytes: Span<UInt8>, _ id: Range<Int>, _ hash: UInt64, _ pseudonym: Pseudonym) {
        if used * 2 >= slots.count || ids.count + id.count > Self.maximumBytes { growOrClear(id.count) }
        let slot = Slot(hash: hash, start: ids.count, count: id.count, pseudonym: pseudonym)
        ids.append(bytes, id)
        latest = slot
        insert(slot)
    }

    private mutating func growOrClear(_ count: Int) {
        let known = slots
        used = 0
        guard known.count < Self.maximumSlots, ids.count + count <= Self.maximumBytes else {
            slots = Array(repeating: Slot(), count: max(known.count, Self.minimumSlots))
            ids.removeAll(keepingCapacity: true)
            return
        }
        slots = Array(repeating: Slot(), count: max(known.count * 2, Self.minimumSlots))
        for slot in known where slot.count >= 0 { insert(slot) }
    }

    /// Uses the first free slot within the probe length, or overwrites the first one.
    private mutating func insert(_ slot: Slot) {
        let mask = slots.count - 1
        let first = Int(truncatingIfNeeded: slot.hash) & mask
        for probe in 0..<Self.probes where slots[(first + probe) & mask].count < 0 {
            slots[(first + probe) & mask] = slot
            used += 1
            return
        }
        slots[first] = slot
    }
}

extension Pseudonym {
    /// 64 bits of the pseudonym, which is a keyed hash already; never 0.
    @inlinable
    public var fingerprint: UInt64 { Swift.max((high ^ low >> 1) &* 0x9E37_79B9_7F4A_7C15, 1) }
}
