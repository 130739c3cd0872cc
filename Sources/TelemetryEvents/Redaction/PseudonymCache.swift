// SPDX-License-Identifier: Apache-2.0

/// Remembers the pseudonyms of the installations seen last, since a batch mostly comes from one or a few.
struct PseudonymCache {
    private static let slots = 64
    private var ids: [[UInt8]] = []
    private var pseudonyms: [Pseudonym] = []

    mutating func pseudonym(of id: Span<UInt8>, _ pseudonyms: any Pseudonymising) -> Pseudonym {
        if ids.isEmpty {
            ids = Array(repeating: [], count: Self.slots)
            self.pseudonyms = Array(repeating: Pseudonym(high: 0, low: 0), count: Self.slots)
        }
        let tail = id.packedTail(0..<id.count)
        let slot = Int(truncatingIfNeeded: (tail ^ tail >> 29 &* 0x9E37_79B9_7F4A_7C15) >> 3 & UInt64(Self.slots - 1))
        if isEqual(ids[slot], id) { return self.pseudonyms[slot] }
        let pseudonym = pseudonyms.pseudonym(of: id)
        ids[slot].removeAll(keepingCapacity: true)
        ids[slot].append(id, 0..<id.count)
        self.pseudonyms[slot] = pseudonym
        return pseudonym
    }

    private func isEqual(_ known: [UInt8], _ id: Span<UInt8>) -> Bool {
        guard known.count == id.count else { return false }
        for index in known.indices where known[index] != id[index] { return false }
        return true
    }
}
