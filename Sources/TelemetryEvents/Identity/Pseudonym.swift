// SPDX-License-Identifier: Apache-2.0

/// What stands for an installation everywhere after the decoder: 128 bits of a keyed hash (SPEC 4.7).
public struct Pseudonym: Hashable, Sendable {
    /// The hash's first eight bytes, big-endian.
    public var high: UInt64
    /// The hash's next eight bytes, big-endian.
    public var low: UInt64

    /// Makes a pseudonym from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Appends the pseudonym as 32 hexadecimal digits.
    public func appendHex(to output: inout [UInt8]) {
        output.appendHex(high)
        output.appendHex(low)
    }
}

extension [UInt8] {
    /// Appends a word as 16 hexadecimal digits.
    mutating func appendHex(_ word: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(shift) & 0xF)
            append(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }
}

/// Replaces installation ids and other identifying text by keyed hashes.
///
/// The service's implementation is HMAC-SHA-256 with the key that it created on first start. The same bytes always
/// give the same pseudonym under one key.
public protocol Pseudonymising: Sendable {
    /// The pseudonym of some bytes.
    func pseudonym(of bytes: Span<UInt8>) -> Pseudonym
}

/// Remembers the pseudonyms of the installations seen last, since making one takes longer than decoding an event.
///
/// An open hash table of the ids themselves, half full at most and in bounded memory: it begins anew when it is full.
struct PseudonymCache {
    private struct Slot {
        var hash: UInt64 = 0
        var start = 0
        var count = -1
        var pseudonym = Pseudonym(high: 0, low: 0)
    }

    private static let fewestSlots = 16
    private static let mostSlots = 1_024
    /// How many bytes of ids are held.
    private static let mostBytes = 32 * 1_024
    /// In how many slots an id is looked for, so that ids made to collide cost little more than others.
    private static let probes = 8

    private var slots: [Slot] = []
    private var used = 0
    /// The ids, one after the other.
    private var held: [UInt8] = []
    /// The one asked for last, which is mostly asked for again.
    private var latest = Slot()

    @inline(__always)
    mutating func pseudonym(
        of bytes: Span<UInt8>,
        _ id: Range<Int>,
        _ pseudonyms: any Pseudonymising
    ) -> Pseudonym {
        if latest.count == id.count, isHeld(latest.start, bytes, id) { return latest.pseudonym }
        return otherPseudonym(of: bytes, id, pseudonyms)
    }

    @inline(never)
    private mutating func otherPseudonym(
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
                if slot.hash == hash, slot.count == id.count, isHeld(slot.start, bytes, id) {
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
        let tail = id.count > 8 ? bytes.wordIfThere(at: id.upperBound &- 8) ?? 0 : 0
        let mixed = (bytes.packedHead(id) ^ tail &<< 29 ^ tail &>> 35) &* 0x9E37_79B9_7F4A_7C15
        return mixed &>> 32 | mixed &<< 32
    }

    @inline(__always)
    private func isHeld(_ start: Int, _ bytes: Span<UInt8>, _ id: Range<Int>) -> Bool {
        let known = held.span
        let count = id.count
        var offset = 0
        if count >= 8 {
            while offset < count {
                // The last word reaches back over the one before.
                let place = min(offset, count &- 8)
                guard
                    let word = known.wordIfThere(at: start &+ place),
                    word == bytes.wordIfThere(at: id.lowerBound &+ place)
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
        if used * 2 >= slots.count || held.count + id.count > Self.mostBytes { makeRoom(id.count) }
        let slot = Slot(hash: hash, start: held.count, count: id.count, pseudonym: pseudonym)
        held.append(bytes, id)
        latest = slot
        insert(slot)
    }

    private mutating func makeRoom(_ count: Int) {
        let known = slots
        used = 0
        guard known.count < Self.mostSlots, held.count + count <= Self.mostBytes else {
            slots = Array(repeating: Slot(), count: max(known.count, Self.fewestSlots))
            held.removeAll(keepingCapacity: true)
            return
        }
        slots = Array(repeating: Slot(), count: max(known.count * 2, Self.fewestSlots))
        for slot in known where slot.count >= 0 { insert(slot) }
    }

    /// Takes the first free slot, or where the probes end the first of all.
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
