// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The identities of the events and batches of the last days (SPEC 4.2), in generations of half a window.
///
/// An identity is remembered for one window at least and one and a half at most. Past the limit the oldest generation,
/// which holds an eighth of it, is forgotten early, and that is counted.
struct RememberedIdentities: Sendable {
    private let window: Int64
    private let limit: Int
    private var generations: [IdentityGeneration]
    private var forgotten: [UInt32] = []

    init(window: Int64, limit: Int) {
        self.window = window
        self.limit = limit
        generations = []
    }

    var count: Int { generations.reduce(0) { $0 + $1.count } }
    var byteCount: Int { generations.reduce(0) { $0 + $1.byteCount } }

    func contains(_ identity: UInt64) -> Bool {
        for generation in generations where generation.contains(identity) { return true }
        return false
    }

    /// Remembers an identity that `advance(to:)` has opened a generation for.
    mutating func insert(_ identity: UInt64) {
        generations[generations.count - 1].insert(identity)
    }

    /// Opens and forgets generations by the clock of the ledger; returns how many identities went before their time.
    mutating func advance(to now: Timestamp) -> UInt64 {
        guard let current = generations.last else {
            generations = [IdentityGeneration(number: 0, startedAt: now)]
            return 0
        }
        var evicted: UInt64 = 0
        let isFull = count >= limit
        if current.count >= max(limit / 8, 1) || now.microseconds - current.startedAt.microseconds >= window / 2 {
            generations.append(IdentityGeneration(number: current.number &+ 1, startedAt: now))
        }
        while generations.count > 1 {
            let end = generations[1].startedAt
            let isOld = now.microseconds - end.microseconds >= window
            guard isOld || (isFull && count >= limit) else { break }
            if !isOld { evicted += UInt64(generations[0].count) }
            forgotten.append(generations.removeFirst().number)
        }
        return evicted
    }

    mutating func takeChanges(into delta: inout StateDelta) {
        for generation in forgotten { delta.delete(prefix: IdentityPage.prefix(generation: generation)) }
        forgotten.removeAll()
        for index in generations.indices { generations[index].takeChanges(into: &delta) }
    }

    /// Takes in a page of a checkpoint; pages come in the order of their keys.
    mutating func restore(_ page: IdentityPage) {
        if generations.last?.number != page.generation {
            generations.append(IdentityGeneration(number: page.generation, startedAt: page.startedAt))
        }
        generations[generations.count - 1].restore(page.identities, page: page.number)
    }
}
