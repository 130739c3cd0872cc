// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A page of open cycles in a checkpoint.
enum CyclePage {
    static let prefix = "cycles/"

    static func key(_ number: UInt32) -> String { prefix + sortable(number) }

    static func encode(_ cycles: [Cycle], longLists: [UInt64: [UInt64]], number: UInt32) -> StatePage {
        var value = StateWriter()
        for cycle in cycles {
            let facts = cycle.isLong ? longLists[cycle.key] ?? [] : cycle.factList
            value.append(cycle.key)
            value.append(cycle.base.microseconds)
            value.append(cycle.closesAt)
            value.append(UInt8(cycle.isEnding ? 1 : 0))
            value.append(cycle.counted.scheduled)
            value.append(cycle.counted.executed)
            value.append(cycle.counted.success)
            value.append(cycle.counted.used)
            value.append(cycle.counted.failureNetwork)
            value.append(cycle.counted.failureAuth)
            value.append(cycle.counted.failureSystem)
            value.append(cycle.counted.failureOther)
            value.append(UInt16(clamping: facts.count))
            for fact in facts { value.append(fact) }
        }
        return StatePage(key: key(number), value: value.bytes)
    }

    static func decode(_ page: StatePage) throws(StateError) -> [(Cycle, facts: [UInt64])] {
        var reader = StateReader(page)
        var cycles: [(Cycle, facts: [UInt64])] = []
        while reader.remaining > 0 {
            let key: UInt64 = try reader.integer()
            let base = Timestamp(microseconds: try reader.integer())
            var cycle = Cycle(key: key, base: base, closesAt: try reader.integer())
            cycle.isEnding = try reader.integer() as UInt8 != 0
            cycle.counted.scheduled = try reader.integer()
            cycle.counted.executed = try reader.integer()
            cycle.counted.success = try reader.integer()
            cycle.counted.used = try reader.integer()
            cycle.counted.failureNetwork = try reader.integer()
            cycle.counted.failureAuth = try reader.integer()
            cycle.counted.failureSystem = try reader.integer()
            cycle.counted.failureOther = try reader.integer()
            let count: UInt16 = try reader.integer()
            var facts: [UInt64] = []
            for _ in 0..<count { facts.append(try reader.word()) }
            cycle.isLong = facts.count > Cycle.inlineFacts
            for fact in facts.prefix(Cycle.inlineFacts) { _ = cycle.insert(Fact(rawValue: fact)) }
            cycles.append((cycle, facts))
        }
        return cycles
    }
}
