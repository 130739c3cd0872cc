// SPDX-License-Identifier: Apache-2.0

import LifecycleState

/// The known installations, in pages of 256; a checkpoint writes the pages that changed.
struct RefreshInstallationTable: Sendable {
    private static let prefix = "refresh-installations/"

    private var pages: [[RefreshInstallation]] = []
    private var slots: [UInt64: UInt32] = [:]
    private var isDirty: [Bool] = []
    private var deadlines = PageDeadlines()
    private(set) var count = 0
    /// The slot of the latest lookup, because events of an installation arrive together.
    private var latestSlot = 0
    /// The place of the next installation to evict.
    var nextVictim = 0
    private(set) var factCount = 0
    private(set) var openRuns = 0

    init() {}

    subscript(slot: Int) -> RefreshInstallation { _read { yield pages[slot &>> 8][slot & 0xFF] } }

    mutating func slot(of fingerprint: UInt64) -> Int? {
        if latestSlot < count, self[latestSlot].fingerprint == fingerprint { return latestSlot }
        guard let slot = slots[fingerprint] else { return nil }
        latestSlot = Int(slot)
        return latestSlot
    }

    /// Sets the group that the runs of an installation count in.
    mutating func setGroup(_ group: Int, of slot: Int) {
        guard self[slot].group != group else { return }
        isDirty[slot &>> 8] = true
        pages[slot &>> 8][slot & 0xFF].group = UInt8(clamping: group)
    }

    /// Adds a fact to an installation.
    mutating func insert(
        _ fact: RefreshFact,
        at slot: Int,
        into totals: inout RefreshTotals
    ) -> RefreshEffects.Effect {
        isDirty[slot &>> 8] = true
        let before = self[slot].facts.count
        defer { factCount += self[slot].facts.count - before }
        return pages[slot &>> 8][slot & 0xFF].insert(fact, into: &totals)
    }

    /// Updates when something of an installation is due, after its facts changed.
    mutating func update(_ slot: Int, _ terms: RefreshTerms, arrivedAt second: UInt32) {
        guard self[slot].isTouched else { return }
        beginChange(of: slot)
        pages[slot &>> 8][slot & 0xFF].update(terms, arrivedAt: second)
        endChange(of: slot)
    }

    /// Closes the first runs of an installation before their time; returns how many were open.
    mutating func evictOldest(
        _ slot: Int,
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) -> Int {
        beginChange(of: slot)
        defer { endChange(of: slot) }
        return pages[slot &>> 8][slot & 0xFF].evictOldest(terms, into: &totals, &closed)
    }

    /// Counts and judges what is due; all runs without a time.
    mutating func close(
        _ slot: Int,
        at second: UInt32?,
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) {
        beginChange(of: slot)
        defer { endChange(of: slot) }
        pages[slot &>> 8][slot & 0xFF].close(at: second, terms, into: &totals, &closed)
    }

    /// Closes all runs of an installation before their time; returns how many were open.
    mutating func evict(
        _ slot: Int,
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) -> Int {
        beginChange(of: slot)
        defer { endChange(of: slot) }
        return pages[slot &>> 8][slot & 0xFF].evict(terms, into: &totals, &closed)
    }

    /// Lowers times that a clock ahead has given.
    mutating func limitDue(to second: UInt32, _ terms: RefreshTerms) {
        for slot in 0..<count where self[slot].dueAt != .max {
            beginChange(of: slot)
            pages[slot &>> 8][slot & 0xFF].limitDue(to: second, terms)
            endChange(of: slot)
        }
    }

    private mutating func beginChange(of slot: Int) {
        isDirty[slot &>> 8] = true
        factCount -= self[slot].facts.count
        openRuns -= Int(self[slot].openRuns)
    }

    private mutating func endChange(of slot: Int) {
        factCount += self[slot].facts.count
        openRuns += Int(self[slot].openRuns)
        deadlines.lower(to: self[slot].dueAt, page: slot &>> 8)
    }

    /// Adds an installation and returns its slot.
    mutating func append(_ installation: RefreshInstallation) -> Int {
        let slot = count
        if slot &>> 8 == pages.count {
            pages.append([])
            isDirty.append(true)
            deadlines.appendPage()
        }
        pages[slot &>> 8].append(installation)
        isDirty[slot &>> 8] = true
        count += 1
        slots[installation.fingerprint] = UInt32(slot)
        factCount += installation.facts.count
        openRuns += Int(installation.openRuns)
        deadlines.lower(to: installation.dueAt, page: slot &>> 8)
        latestSlot = slot
        return slot
    }

    /// Puts a new installation in the place of one whose runs are closed.
    mutating func replace(_ slot: Int, by fingerprint: UInt64) {
        slots[self[slot].fingerprint] = nil
        slots[fingerprint] = UInt32(slot)
        beginChange(of: slot)
        pages[slot &>> 8][slot & 0xFF] = RefreshInstallation(fingerprint: fingerprint)
        endChange(of: slot)
        latestSlot = slot
    }

    /// The slots of the first installations with something due, in order. O(pages), plus the installations of pages that
    /// may have one.
    mutating func due(at second: UInt32, limit: Int) -> [Int] {
        var due: [Int] = []
        for page in pages.indices where deadlines.mayBeDue(page: page, at: second) {
            var earliest = UInt32.max
            for (place, installation) in pages[page].enumerated() {
                earliest = min(earliest, installation.dueAt)
                guard installation.dueAt <= second else { continue }
                due.append(page &<< 8 | place)
                if due.count >= limit { return due }
            }
            deadlines.set(earliest, page: page)
        }
        return due
    }

    /// Removes all installations.
    mutating func removeAll() {
        self = RefreshInstallationTable()
    }

    // MARK: Checkpoints

    /// The most bytes that all pages of a checkpoint take.
    var checkpointBytes: Int {
        count * RefreshInstallation.fixedBytes + factCount * RefreshInstallation.factBytes
    }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in pages.indices where isDirty[page] {
            delta.append { [installations = pages[page]] in
                var value = StateWriter()
                value.reserveCapacity(installations.reduce(0) { $0 + $1.encodedBytes })
                for installation in installations { installation.append(to: &value) }
                return StatePage(key: Self.prefix + StatePage.sortable(UInt32(page)), value: value.bytes)
            }
            isDirty[page] = false
        }
    }

    static func holds(_ page: StatePage) -> Bool { page.key.hasPrefix(prefix) }

    /// Restores a page of a checkpoint; pages come in order.
    mutating func restore(_ page: StatePage) throws(StateError) {
        var reader = StateReader(page)
        while reader.remaining > 0 { _ = append(try RefreshInstallation(&reader)) }
        for page in isDirty.indices { isDirty[page] = false }
    }
}
