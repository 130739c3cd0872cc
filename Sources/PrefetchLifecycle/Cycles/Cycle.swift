// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// An open cycle: its facts in their order, and how much of them has been counted. 80 bytes.
struct Cycle: Sendable {
    static let inlineFacts = 6

    let key: UInt64
    /// What the facts' times are relative to.
    let base: Timestamp
    /// When the cycle closes, in seconds since 1970 by the ledger's clock.
    var closesAt: UInt32
    /// Whether it has been delivered or summed up, so that it closes after the grace period.
    var isEnding = false
    /// Whether its facts stand in a list of their own because they are too many.
    var isLong = false
    var counted = CountedStages()
    private(set) var factCount: UInt8 = 0
    private var facts: InlineArray<6, UInt64> = [0, 0, 0, 0, 0, 0]

    init(key: UInt64, base: Timestamp, closesAt: UInt32) {
        self.key = key
        self.base = base
        self.closesAt = closesAt
    }

    enum Insertion {
        case inserted
        case known
        case full
    }

    mutating func insert(_ fact: Fact) -> Insertion {
        var place = Int(factCount)
        while place > 0, facts[place - 1] >= fact.rawValue {
            if facts[place - 1] == fact.rawValue { return .known }
            place -= 1
        }
        guard factCount < Self.inlineFacts else { return .full }
        for index in stride(from: Int(factCount), to: place, by: -1) { facts[index] = facts[index - 1] }
        facts[place] = fact.rawValue
        factCount += 1
        return .inserted
    }

    /// The facts, for a checkpoint or for a list that outgrows the cycle.
    var factList: [UInt64] { (0..<Int(factCount)).map { facts[$0] } }

    /// Counts what its facts tell beyond what was counted before.
    mutating func count(into totals: inout LifecycleTotals) {
        let facts = facts
        counted.count(StageCounts(facts.span.extracting(first: Int(factCount)), isClosing: false), into: &totals)
    }
}

/// How often each stage of a cycle has been counted; a counter cannot be taken back.
struct CountedStages: Hashable, Sendable {
    var scheduled: UInt16 = 0
    var executed: UInt16 = 0
    var success: UInt16 = 0
    var used: UInt8 = 0
    var failureNetwork: UInt8 = 0
    var failureAuth: UInt8 = 0
    var failureSystem: UInt8 = 0
    var failureOther: UInt8 = 0
}
