// SPDX-License-Identifier: Apache-2.0

/// The long cycles of a page, each in a place of its own that becomes free with it.
struct LongCycles: Sendable {
    private var cycles: [LongCycle] = []
    private var free: [UInt8] = []

    subscript(place: Int) -> LongCycle {
        _read { yield cycles[place] }
        _modify { yield &cycles[place] }
    }

    /// Adds a cycle; returns its place, which is below the number of cycles of a page.
    mutating func add(_ cycle: LongCycle) -> Int {
        guard let place = free.popLast() else {
            cycles.append(cycle)
            return cycles.count - 1
        }
        cycles[Int(place)] = cycle
        return Int(place)
    }

    mutating func remove(_ place: Int) -> LongCycle {
        free.append(UInt8(place))
        defer { cycles[place] = LongCycle(facts: [], counted: CountedStages()) }
        return cycles[place]
    }
}

/// The facts of a cycle that do not fit inline, and what has been counted of it.
struct LongCycle: Sendable {
    private(set) var facts: [UInt64]
    var counted: CountedStages
    /// The retries among facts that are no longer kept.
    var droppedRetries: UInt16 = 0
    /// Whether repetitions were looked for since the last change, so that a full cycle is looked through once.
    private var hasNoRepetitions = false

    /// Room for as many facts as most cycles come to.
    private static let usualFacts = 6

    init(facts: [UInt64], counted: CountedStages) {
        self.facts = facts
        self.counted = counted
    }

    /// The inline facts of a cycle.
    init(_ cycle: Cycle) {
        var facts: [UInt64] = []
        facts.reserveCapacity(Self.usualFacts)
        cycle.withFacts { inline in
            for place in inline.indices { facts.append(inline[place]) }
        }
        self.init(facts: facts, counted: cycle.counted)
    }

    /// Inserts a fact in order.
    ///
    /// - Parameter limit: the most facts of a cycle. Where that many are kept, those that tell nothing new are dropped.
    mutating func insert(_ fact: Fact, limit: Int) -> Cycle.Insertion {
        var end = facts.count
        while end > 0, facts[end - 1] > fact.rawValue { end -= 1 }
        if end > 0, facts[end - 1] == fact.rawValue { return .known }
        guard facts.count < limit else {
            guard !hasNoRepetitions else { return .full }
            dropRepetitions()
            hasNoRepetitions = facts.count >= limit
            return insert(fact, limit: limit)
        }
        facts.insert(fact.rawValue, at: end)
        hasNoRepetitions = false
        return .inserted
    }

    mutating func replaceFacts(_ facts: [UInt64]) {
        self.facts = facts
        hasNoRepetitions = false
    }

    /// Whether the facts fit inline again.
    var isShort: Bool {
        facts.count <= Cycle.inlineFacts && droppedRetries == 0 && PackedStages.fits(counted)
    }

    /// Drops facts of an attempt that say the same as one before them and one behind them, so that a thousand lines of one
    /// failure are two facts.
    ///
    /// A fact in the middle could only matter for two executions that arrive later, one before and one behind it.
    private mutating func dropRepetitions() {
        var kept: [UInt64] = []
        kept.reserveCapacity(facts.count)
        /// The place in `kept` of the latest repetition, by what is repeated.
        var latest: [UInt64: Int] = [:]
        var firsts: Set<UInt64> = []
        /// What the latest hash or `ttl` of each stage tells.
        var values: [Fact.Stage: UInt64] = [:]
        var submissions: UInt64 = 0
        for word in facts {
            let fact = Fact(rawValue: word)
            var meaning = fact.meaning
            switch fact.stage {
            case .executed:
                latest = [:]
                firsts = []
                kept.append(word)
                continue
            case .scheduled: submissions += 1
            // A miss behind another submission is another miss.
            case .missed: meaning |= submissions << 22
            // One that follows another value is held against other facts than the same value before.
            case .some(let stage) where stage.isHeldAgainstOthers:
                if let value = values[stage], value != meaning {
                    latest[value] = nil
                    firsts.remove(value)
                }
                values[stage] = meaning
            default: break
            }
            if firsts.insert(meaning).inserted {
                kept.append(word)
            } else if let place = latest[meaning] {
                if fact.stage == .failure, fact.detail.contains(.willRetry), droppedRetries < .max {
                    droppedRetries += 1
                }
                kept[place] = 0
                latest[meaning] = kept.count
                kept.append(word)
            } else {
                latest[meaning] = kept.count
                kept.append(word)
            }
        }
        facts = kept.filter { $0 != 0 }
    }
}

extension Fact.Stage {
    fileprivate var isHeldAgainstOthers: Bool {
        switch self {
        case .success, .scheduleHashScheduled, .scheduleHashExecuted, .contentHashCached, .contentHashUsed, .ttl: true
        default: false
        }
    }
}
