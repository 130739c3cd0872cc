// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import TelemetryEvents

/// The open cycles, in dense pages of 256; a checkpoint writes the pages that changed.
///
/// A cycle is indexed by its schedule, and by installation and notification time unless an older cycle has the same.
struct CycleTable: Sendable {
    static let pageSize = 256

    private let dueHashing: DueHashing
    private var pages: [[Cycle]] = []
    private var schedules = SlotIndex()
    private var dues = SlotIndex()
    /// What the cycles of each page keep whose facts do not fit inline.
    private var longCycles: [LongCycles] = []
    private var isDirty: [Bool] = []
    private var deadlines = PageDeadlines()
    private var savedPages = 0
    /// False while checkpoint pages are being restored.
    private var isIndexed = true
    private(set) var count = 0
    /// The facts of all long cycles.
    private var longFacts = 0
    /// The latest cycle that was opened as the only one of its schedule.
    var latestOpened = OpenedCycle()

    init(key: IdentityKey) {
        dueHashing = DueHashing(key)
    }

    subscript(slot: Int) -> Cycle { pages[slot &>> 8][slot & 0xFF] }

    /// The memory of cycles and indexes in bytes, without long cycles.
    var byteCount: Int {
        pages.reduce(0) { $0 + $1.capacity * MemoryLayout<Cycle>.stride } + schedules.byteCount + dues.byteCount
    }

    /// Changes a cycle in place.
    mutating func update<Result>(_ slot: Int, _ body: (inout Cycle) -> Result) -> Result {
        markDirty(slot)
        defer { deadlines.lower(to: self[slot].closesAt, page: slot &>> 8) }
        return body(&pages[slot &>> 8][slot & 0xFF])
    }

    /// Applies an event to a cycle with inline facts.
    mutating func applyInline(
        _ event: borrowing Event,
        at slot: Int,
        _ terms: ClosingTerms,
        into totals: inout LifecycleTotals
    ) -> Cycle.Insertion {
        markDirty(slot)
        defer { deadlines.lower(to: self[slot].closesAt, page: slot &>> 8) }
        return pages[slot &>> 8][slot & 0xFF].apply(event, terms, into: &totals)
    }

    /// Applies an event to a long cycle; false when it is full.
    mutating func applyLong(
        _ event: borrowing Event,
        at slot: Int,
        _ terms: ClosingTerms,
        limit: Int,
        into totals: inout LifecycleTotals
    ) -> Bool {
        var cycle = self[slot]
        let place = cycle.longPlace
        let before = longCycles[slot &>> 8][place].facts.count
        defer { longFacts += longCycles[slot &>> 8][place].facts.count - before }
        guard longCycles[slot &>> 8][place].apply(event, to: &cycle, terms, limit: limit, into: &totals) else {
            return false
        }
        update(slot) { $0 = cycle }
        return true
    }

    /// Notes that the page of a slot has changed, where that is not noted yet.
    @inline(__always)
    private mutating func markDirty(_ slot: Int) {
        if !isDirty[slot &>> 8] { isDirty[slot &>> 8] = true }
    }

    /// Changes the facts of a long cycle in place.
    mutating func updateLongCycle<Result>(_ slot: Int, _ body: (inout LongCycle) -> Result) -> Result {
        markDirty(slot)
        let place = self[slot].longPlace
        let before = longCycles[slot &>> 8][place].facts.count
        defer { longFacts += longCycles[slot &>> 8][place].facts.count - before }
        return body(&longCycles[slot &>> 8][place])
    }

    /// Makes a cycle without inline facts a long one.
    private mutating func addLongCycle(_ slot: Int, _ long: LongCycle) {
        longFacts += long.facts.count
        let place = longCycles[slot &>> 8].add(long)
        update(slot) { $0.longPlace = place }
    }

    private mutating func removeLongCycle(_ slot: Int) -> LongCycle {
        let long = longCycles[slot &>> 8].remove(self[slot].longPlace)
        longFacts -= long.facts.count
        return long
    }

    /// Calls `body` with the facts of a cycle.
    @inline(__always)
    func withFacts<Result>(at slot: Int, _ body: (Span<UInt64>) -> Result) -> Result {
        if self[slot].flags.contains(.isLong) {
            return body(longCycles[slot &>> 8][self[slot].longPlace].facts.span)
        }
        return pages[slot &>> 8][slot & 0xFF].withFacts(body)
    }
}

extension CycleTable {
    /// What has been counted of a cycle.
    func counted(at slot: Int) -> CountedStages {
        guard self[slot].flags.contains(.isLong) else { return self[slot].counted }
        return longCycles[slot &>> 8][self[slot].longPlace].counted
    }

    /// Moves the facts of a cycle into a `LongCycle`, unless they are in one.
    mutating func lengthen(_ slot: Int) {
        guard !self[slot].flags.contains(.isLong) else { return }
        let long = LongCycle(self[slot])
        update(slot) { _ = $0.flags.insert(.isLong) }
        addLongCycle(slot, long)
    }

    /// Adds a fact that no stage counts; drops it where the cycle is full.
    mutating func add(_ fact: Fact, at slot: Int, limit: Int) {
        if !self[slot].flags.contains(.isLong) {
            guard update(slot, { $0.insert(fact) }) == .full else { return }
            lengthen(slot)
        }
        updateLongCycle(slot) { _ = $0.insert(fact, limit: limit) }
    }

    /// Keeps these facts, in event order, instead of its own.
    mutating func replaceFacts(at slot: Int, _ facts: [UInt64]) {
        guard !self[slot].flags.contains(.isLong) else {
            return updateLongCycle(slot) { $0.replaceFacts(facts) }
        }
        update(slot) { cycle in
            cycle.removeFacts()
            for fact in facts { _ = cycle.insert(Fact(rawValue: fact)) }
        }
    }

    /// The retries among facts of a cycle that are no longer kept.
    func droppedRetries(at slot: Int) -> UInt16 {
        self[slot].flags.contains(.isLong) ? longCycles[slot &>> 8][self[slot].longPlace].droppedRetries : 0
    }
}

extension CycleTable {
    /// The next cycle with the schedule that is searched for.
    func next(_ search: inout SlotSearch) -> Int? {
        while let slot = schedules.next(&search) {
            if self[slot].schedule == search.hash { return slot }
        }
        return nil
    }

    /// Whether there is a cycle with a schedule.
    func has(schedule: UInt64) -> Bool {
        var search = SlotSearch(schedule)
        return next(&search) != nil
    }

    /// What `candidate(schedule:)` will read.
    @inline(__always)
    func address(ofSchedule schedule: UInt64) -> MemoryAddress { schedules.address(of: schedule) }

    /// What a lookup by installation and notification time will read.
    @inline(__always)
    func address(ofInstallation installation: UInt64, due: Timestamp) -> MemoryAddress {
        dues.address(of: dueHashing.hash(installation, due))
    }

    /// What finding and changing a cycle will read: two lines.
    @inline(__always)
    func address(ofCycle slot: Int) -> MemoryAddress {
        let page = pages[slot &>> 8]
        return page.span.address(ofElement: slot & 0xFF)
    }

    /// A slot whose cycle may have a schedule, if any has.
    @inline(__always)
    func candidate(schedule: UInt64) -> Int? { schedules.candidate(schedule) }

    /// Whether a cycle has a schedule, and a notification time as well.
    @inline(__always)
    func isWhole(_ slot: Int, schedule: UInt64) -> Bool {
        self[slot].schedule == schedule && self[slot].half == nil
    }

    /// The one cycle with a schedule; nil where there is none, or may be another.
    @inline(__always)
    func onlySlot(schedule: UInt64) -> Int? {
        guard let slot = schedules.onlyCandidate(schedule), self[slot].schedule == schedule else { return nil }
        return slot
    }

    /// Whether a slot holds the cycle with this schedule and this notification time.
    @inline(__always)
    func isExact(_ slot: Int, _ address: CycleAddress) -> Bool {
        guard slot < count, let due = address.due, address.schedule != 0 else { return false }
        return self[slot].schedule == address.schedule && self[slot].due == due
    }

    /// The indexed cycle with this installation and notification time.
    func slot(installation: UInt64, due: Timestamp) -> Int? {
        dues.slot(dueHashing.hash(installation, due)) { slot in
            let cycle = self[slot]
            return cycle.installation == installation && cycle.due == due
        }
    }

    /// Increases whenever a lookup by schedule may find another cycle.
    var scheduleChanges: UInt64 { schedules.changes }
    /// Increases whenever a lookup by installation and notification time may find another cycle.
    var timedChanges: UInt64 { dues.changes }

    private mutating func index(_ slot: Int, schedule: UInt64) {
        if !schedules.hasRoom(for: schedule) {
            schedules.grow(for: schedule) { [pages] in pages[$0 &>> 8][$0 & 0xFF].schedule }
        }
        schedules.insert(slot, schedule)
    }

    private mutating func indexDue(_ slot: Int) {
        let hash = self[slot].dueHash(dueHashing)
        if !dues.hasRoom(for: hash) {
            dues.grow(for: hash) { [pages, dueHashing] in pages[$0 &>> 8][$0 & 0xFF].dueHash(dueHashing) }
        }
        dues.insert(slot, hash)
    }

    /// Opens a cycle; its notification time is indexed unless another cycle of the installation has the same.
    mutating func open(_ address: CycleAddress, base: Timestamp) -> Int {
        let slot = append(Cycle(schedule: address.schedule, installation: address.installation, base: base))
        if address.schedule != 0 { index(slot, schedule: address.schedule) }
        if let due = address.due { learn(due: due, at: slot, isFree: timedSlot(of: address) == nil) }
        return slot
    }

    private mutating func append(_ cycle: Cycle) -> Int {
        let slot = count
        if slot &>> 8 == pages.count {
            pages.append([])
            pages[pages.count - 1].reserveCapacity(Self.pageSize)
            longCycles.append(LongCycles())
            deadlines.appendPage()
            if isDirty.count < pages.count { isDirty.append(true) }
        }
        pages[slot &>> 8].append(cycle)
        deadlines.lower(to: cycle.closesAt, page: slot &>> 8)
        markDirty(slot)
        count += 1
        return slot
    }

    /// Lowers closing times that a clock ahead has given to the latest ones that the clock gives now.
    mutating func limitClosing(_ terms: ClosingTerms) {
        for slot in 0..<count {
            let end = self[slot].closing(terms)
            if self[slot].closesAt > end { update(slot) { $0.closesAt = end } }
        }
    }

    /// Sets the notification time of a cycle that had none.
    mutating func learn(due: Timestamp, at slot: Int) {
        learn(due: due, at: slot, isFree: self.slot(installation: self[slot].installation, due: due) == nil)
    }

    /// - Parameter isFree: whether no other cycle of its installation has this notification time.
    private mutating func learn(due: Timestamp, at slot: Int, isFree: Bool) {
        update(slot) { cycle in
            cycle.due = due
            if isFree { cycle.flags.insert(.ownsDue) }
        }
        if isFree { indexDue(slot) }
    }

    /// Forgets the notification time of a cycle.
    mutating func forgetDue(at slot: Int) {
        if self[slot].flags.contains(.ownsDue) { dues.remove(slot, self[slot].dueHash(dueHashing)) }
        update(slot) { $0.flags.subtract([.hasDue, .ownsDue]) }
    }

    /// Sets the schedule of a cycle that had none.
    mutating func learn(schedule: UInt64, at slot: Int) {
        update(slot) { $0.schedule = schedule }
        index(slot, schedule: schedule)
    }

    /// Removes a cycle; the last one moves into its slot.
    mutating func remove(_ slot: Int) {
        let cycle = self[slot]
        if cycle.schedule != 0 { schedules.remove(slot, cycle.schedule) }
        if cycle.flags.contains(.ownsDue) { dues.remove(slot, cycle.dueHash(dueHashing)) }
        if cycle.flags.contains(.isLong) { _ = removeLongCycle(slot) }
        let last = count - 1
        if slot != last {
            let moved = self[last]
            let long = moved.flags.contains(.isLong) ? removeLongCycle(last) : nil
            update(slot) { $0 = moved }
            if moved.schedule != 0 { schedules.move(moved.schedule, from: last, to: slot) }
            if moved.flags.contains(.ownsDue) { dues.move(moved.dueHash(dueHashing), from: last, to: slot) }
            if let long { addLongCycle(slot, long) }
        }
        pages[last &>> 8].removeLast()
        isDirty[last &>> 8] = true
        if pages[last &>> 8].isEmpty {
            pages.removeLast()
            longCycles.removeLast()
            deadlines.removeLastPage()
        }
        count = last
    }

    /// Removes all cycles.
    mutating func removeAll() {
        pages = []
        latestOpened = OpenedCycle()
        schedules = SlotIndex()
        dues = SlotIndex()
        longCycles = []
        longFacts = 0
        deadlines = PageDeadlines()
        count = 0
    }

    /// The slots of the first cycles that are due to close, in order. O(pages), plus the cycles of pages that may have one.
    mutating func due(at second: UInt32, limit: Int) -> [Int] {
        var due: [Int] = []
        for page in pages.indices where deadlines.mayBeDue(page: page, at: second) {
            var earliest = UInt32.max
            for (place, cycle) in pages[page].enumerated() {
                earliest = min(earliest, cycle.closesAt)
                guard cycle.closesAt <= second else { continue }
                due.append(page &<< 8 | place)
                if due.count >= limit { return due }
            }
            deadlines.set(earliest, page: page)
        }
        return due
    }
}

/// The hash of an installation and a notification time, for an index that lives as long as the process.
///
/// Two multiplications under a secret take a twentieth of the time of `IdentityKey.hash(_:_:)`, which identifies what is
/// stored. Without the secret no sender can make many cycles collide.
private struct DueHashing: Sendable {
    private let first: UInt64
    private let second: UInt64

    init(_ key: IdentityKey) {
        first = key.hash(0x64_7565, 1)
        second = key.hash(0x64_7565, 2)
    }

    @inline(__always)
    func hash(_ installation: UInt64, _ due: Timestamp) -> UInt64 {
        let mixed = Self.fold(installation ^ first, UInt64(bitPattern: due.microseconds) ^ second)
        return Self.fold(mixed ^ second, first | 1)
    }

    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

extension Cycle {
    @inline(__always)
    fileprivate func dueHash(_ hashing: DueHashing) -> UInt64 {
        hashing.hash(installation, due ?? Timestamp(microseconds: 0))
    }
}

extension CycleTable {
    /// The most bytes that all pages of a checkpoint take.
    var checkpointBytes: Int { count * CyclePage.shortCycleBytes + longFacts * MemoryLayout<UInt64>.size }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in pages.indices where isDirty[page] {
            delta.append { [cycles = pages[page], long = longCycles[page]] in
                CyclePage.encode(cycles, long: long, number: UInt32(page))
            }
        }
        for page in pages.count..<max(pages.count, savedPages) {
            delta.delete(prefix: CyclePage.key(UInt32(page)))
        }
        savedPages = pages.count
        isDirty = Array(repeating: false, count: pages.count)
    }

    /// Indexes all restored cycles at once, in indexes with room for those that the rest of the ledger opens; before the
    /// first lookup.
    mutating func rebuildIndexes() {
        guard !isIndexed else { return }
        isIndexed = true
        latestOpened = OpenedCycle()
        schedules = SlotIndex(slots: count + count / 2)
        dues = SlotIndex(slots: count + count / 2)
        for slot in 0..<count {
            let cycle = self[slot]
            if cycle.schedule != 0 { index(slot, schedule: cycle.schedule) }
            if cycle.flags.contains(.ownsDue) { indexDue(slot) }
        }
    }

    /// Restores a page of a checkpoint; pages come in key order.
    ///
    /// - Parameter version: the version of the layout; pages of an older one are written anew.
    mutating func restore(_ page: StatePage, version: UInt8) throws(StateError) {
        for (cycle, long) in try CyclePage.decode(page, version: version) {
            let slot = append(cycle)
            if let long { addLongCycle(slot, long) }
        }
        isIndexed = false
        savedPages = pages.count
        isDirty = Array(repeating: version != LifecycleFold.stateVersion, count: pages.count)
    }
}
