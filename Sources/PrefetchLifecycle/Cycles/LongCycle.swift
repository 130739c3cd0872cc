// SPDX-License-Identifier: Apache-2.0

/// The facts of a cycle that has too many to hold them itself, and how much of it has been counted.
struct LongCycle: Sendable {
    private(set) var facts: [UInt64]
    var counted: CountedStages

    init(facts: [UInt64], counted: CountedStages) {
        self.facts = facts
        self.counted = counted
    }

    /// Inserts a fact in its place.
    ///
    /// - Parameter limit: how many facts a cycle may have.
    mutating func insert(_ fact: Fact, limit: Int) -> Cycle.Insertion {
        var end = facts.count
        while end > 0, facts[end - 1] > fact.rawValue { end -= 1 }
        if end > 0, facts[end - 1] == fact.rawValue { return .known }
        guard facts.count < limit else { return .full }
        facts.insert(fact.rawValue, at: end)
        return .inserted
    }

    mutating func removeFact(at index: Int) {
        facts.remove(at: index)
    }

    /// Whether a cycle can hold it itself again.
    var isShort: Bool { facts.count <= Cycle.inlineFacts && PackedStages.fits(counted) }
}
