// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The open cycles, in pages of 256 without gaps: a page is what a checkpoint writes when something in it changed.
struct CycleTable: Sendable {
    static let pageSize = 256

    private var pages: [[Cycle]] = []
    private var index = CycleIndex()
    /// The facts of the few cycles that have more than a cycle holds inline, by their key.
    private var longLists: [UInt64: [UInt64]] = [:]
    private var isDirty: [Bool] = []
    private var savedPages = 0
    private(set) var count = 0

    private func cycle(at slot: Int) -> Cycle { pages[slot / Self.pageSize][slot % Self.pageSize] }

    func slot(of key: UInt64) -> Int? {
        index.slot(of: key) { pages[$0 / Self.pageSize][$0 % Self.pageSize].key }
    }

    mutating func open(_ cycle: Cycle) -> Int {
        let slot = count
        if slot / Self.pageSize == pages.count {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(Self.pageSize)
            if isDirty.count < pages.count { isDirty.append(true) }
        }
        pages[slot / Self.pageSize].append(cycle)
        index.insert(slot, key: cycle.key) { [pages] in pages[$0 / Self.pageSize][$0 % Self.pageSize].key }
        count += 1
        isDirty[slot / Self.pageSize] = true
        return slot
    }

    /// Changes a cycle in its place.
    mutating func update(_ slot: Int, _ body: (inout Cycle) -> Void) {
        body(&pages[slot / Self.pageSize][slot % Self.pageSize])
        isDirty[slot / Self.pageSize] = true
    }

    func base(at slot: Int) -> Timestamp { cycle(at: slot).base }

    /// Adds a fact to a cycle and counts what it tells; false when the cycle has as many facts as it may.
    mutating func add(_ fact: Fact, at slot: Int, limit: Int, into totals: inout LifecycleTotals) -> Bool {
        let page = slot / Self.pageSize
        let place = slot % Self.pageSize
        let key = pages[page][place].key
        if !pages[page][place].isLong {
            switch pages[page][place].insert(fact) {
            case .known: return true
            case .inserted:
                pages[page][place].count(into: &totals)
                isDirty[page] = true
                return true
            case .full:
                pages[page][place].isLong = true
                longLists[key] = pages[page][place].factList
            }
        }
        guard var facts = longLists.removeValue(forKey: key) else { return true }
        defer { longLists[key] = facts }
        let position = facts.firstIndex { $0 >= fact.rawValue } ?? facts.count
        if position < facts.count, facts[position] == fact.rawValue { return true }
        guard facts.count < limit else { return false }
        facts.insert(fact.rawValue, at: position)
        pages[page][place].counted.count(StageCounts(facts.span, isClosing: false), into: &totals)
        isDirty[page] = true
        return true
    }

    func isAnyDue(at seconds: UInt32) -> Bool {
        pages.contains { page in page.contains { $0.closesAt <= seconds } }
    }

    /// Closes every cycle whose time has come, counting what was held back.
    mutating func closeDue(at seconds: UInt32, into totals: inout LifecycleTotals) {
        var slot = 0
        while slot < count {
            if cycle(at: slot).closesAt <= seconds {
                close(slot, into: &totals)
            } else {
                slot += 1
            }
        }
    }

    /// Closes one cycle to make room; the cycles take turns.
    mutating func evict(into totals: inout LifecycleTotals) {
        guard count > 0 else { return }
        closeEarly(Int(totals.evictedCycles % UInt64(count)), into: &totals)
    }

    /// Closes a cycle that can take no more facts, as an eviction.
    mutating func closeEarly(_ slot: Int, into totals: inout LifecycleTotals) {
        close(slot, into: &totals)
        totals.evictedCycles += 1
    }

    private mutating func close(_ slot: Int, into totals: inout LifecycleTotals) {
        let closing = cycle(at: slot)
        let facts = closing.isLong ? longLists.removeValue(forKey: closing.key) ?? [] : closing.factList
        var counted = closing.counted
        counted.count(StageCounts(facts.span, isClosing: true), into: &totals)

        index.remove(key: closing.key, slot: slot) { [pages] in pages[$0 / Self.pageSize][$0 % Self.pageSize].key }
        let last = count - 1
        if slot != last {
            let moved = cycle(at: last)
            pages[slot / Self.pageSize][slot % Self.pageSize] = moved
            index.move(key: moved.key, from: last, to: slot)
            isDirty[slot / Self.pageSize] = true
        }
        pages[last / Self.pageSize].removeLast()
        isDirty[last / Self.pageSize] = true
        if pages[last / Self.pageSize].isEmpty { pages.removeLast() }
        count = last
    }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in pages.indices where isDirty[page] {
            delta.upserts.append(CyclePage.encode(pages[page], longLists: longLists, number: UInt32(page)))
        }
        for page in pages.count..<max(pages.count, savedPages) {
            delta.deletedPrefixes.append(CyclePage.key(UInt32(page)))
        }
        savedPages = pages.count
        isDirty = Array(repeating: false, count: pages.count)
    }

    /// Takes in a page of a checkpoint; pages come in their order.
    mutating func restore(_ page: StatePage) throws(StateError) {
        for (cycle, facts) in try CyclePage.decode(page) {
            _ = open(cycle)
            if cycle.isLong { longLists[cycle.key] = facts }
        }
        savedPages = pages.count
        isDirty = Array(repeating: false, count: pages.count)
    }
}
