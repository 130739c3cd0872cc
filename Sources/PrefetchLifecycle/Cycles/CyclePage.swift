// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A page of open cycles in a checkpoint.
struct CyclePage {
    static let prefix = "cycles/"
    /// The bytes of a cycle, about.
    private static let usualBytes = 112

    private let number: UInt32
    private var value = StateWriter()

    private init(number: UInt32) {
        self.number = number
    }

    static func key(_ number: UInt32) -> String { prefix + sortable(number) }

    private var page: StatePage { StatePage(key: Self.key(number), value: value.bytes) }

    static func encode(_ cycles: [Cycle], long: [Int: LongCycle], number: UInt32) -> StatePage {
        var page = CyclePage(number: number)
        page.value.reserveCapacity(cycles.count * Self.usualBytes)
        for (place, cycle) in cycles.enumerated() {
            page.append(cycle, long: cycle.flags.contains(.isLong) ? long[place] : nil)
        }
        return page.page
    }

    private mutating func append(_ cycle: Cycle, long: LongCycle?) {
        value.append(cycle.schedule)
        value.append(cycle.installation)
        value.append(cycle.base.microseconds)
        value.append(cycle.due?.microseconds ?? 0)
        value.append(cycle.closesAt)
        value.append(cycle.used.rawValue)
        value.append(cycle.delivered.rawValue)
        value.append(cycle.window.rawValue)
        value.append(cycle.ttl ?? -1)
        value.append(cycle.flags.rawValue)
        value.append(cycle.group)
        let counted = long?.counted ?? cycle.counted
        let facts = long?.facts ?? cycle.factList
        for count in CountedStages.members { value.append(counted[keyPath: count]) }
        value.append(UInt16(clamping: facts.count))
        for fact in facts { value.append(fact) }
    }

    static func decode(_ page: StatePage) throws(StateError) -> [(Cycle, LongCycle?)] {
        var reader = StateReader(page)
        var cycles: [(Cycle, LongCycle?)] = []
        while reader.remaining > 0 {
            let schedule: UInt64 = try reader.integer()
            let installation: UInt64 = try reader.integer()
            let base = Timestamp(microseconds: try reader.integer())
            var cycle = Cycle(schedule: schedule, installation: installation, base: base)
            let due = Timestamp(microseconds: try reader.integer())
            cycle.closesAt = try reader.integer()
            cycle.used = EarliestTime(rawValue: try reader.integer())
            cycle.delivered = EarliestTime(rawValue: try reader.integer())
            cycle.window = EarliestTime(rawValue: try reader.integer())
            let ttl: Int64 = try reader.integer()
            if ttl >= 0 { cycle.ttl = ttl }
            cycle.flags = Cycle.Flags(rawValue: try reader.integer())
            cycle.group = try reader.integer()
            if cycle.flags.contains(.hasDue) { cycle.due = due }
            var counted = CountedStages()
            for count in CountedStages.members { counted[keyPath: count] = try reader.integer() }
            let count: UInt16 = try reader.integer()
            var facts: [UInt64] = []
            for _ in 0..<count { facts.append(try reader.word()) }
            guard !cycle.flags.contains(.isLong) else {
                cycles.append((cycle, LongCycle(facts: facts, counted: counted)))
                continue
            }
            cycle.counted = counted
            for fact in facts.prefix(Cycle.inlineFacts) { _ = cycle.insert(Fact(rawValue: fact)) }
            cycles.append((cycle, nil))
        }
        return cycles
    }
}
