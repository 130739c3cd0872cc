// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// The identities of recent events and batches, in generations of half a deduplication window or longer.
///
/// An identity is remembered for a window at least. It is forgotten only when it is old both by time and by the ledger's
/// order: `AgingClock` says how much time has passed, and an eightieth of the limit, the newest identities, is remembered
/// whatever the clock says. Past the limit the oldest generation, an eighth of the limit, is evicted early and counted.
struct RememberedIdentities: Sendable {
    private let window: Int64
    private var limit: Int
    /// The newest identities that no clock makes old.
    private var keptByOrder: Int
    /// The time by which identities grow old.
    private(set) var clock: AgingClock
    private var generations: [IdentityGeneration]
    private var forgotten: [UInt32] = []
    /// The last generation with identities of a version that did not tell failures of one moment apart by their reasons.
    var lastWithoutReasons: UInt32?
    /// The same where content with a hash was not told apart from content without one.
    var lastWithoutHashes: UInt32?

    init(window: Int64, limit: Int) {
        self.window = window
        self.limit = limit
        keptByOrder = limit / 80
        clock = AgingClock(longestStep: window / 7)
        generations = []
    }

    /// Changes the limit, from the next generation on.
    mutating func limit(to limit: Int) {
        self.limit = max(limit, 1)
        keptByOrder = self.limit / 80
    }

    var count: Int { generations.reduce(0) { $0 + $1.count } }
    var byteCount: Int { generations.reduce(0) { $0 + $1.byteCount } }

    func contains(_ identity: UInt64) -> Bool {
        for generation in generations where generation.contains(identity) { return true }
        return false
    }

    /// Begins to load what `places(of:)` will read, without waiting for it.
    func load(_ identities: Span<UInt64>) {
        let generations = generations.span
        for place in generations.indices { generations[place].load(identities) }
    }

    /// Which of at most 32 identities are remembered, a bit each.
    func places(of identities: Span<UInt64>) -> UInt32 {
        var found: UInt32 = 0
        let generations = generations.span
        for place in generations.indices { found |= generations[place].places(of: identities) }
        return found
    }

    /// Whether identities of an older version are not forgotten yet.
    var remembersEarlierIdentities: Bool {
        guard let lastWithoutHashes, let first = generations.first else { return false }
        return first.number <= lastWithoutHashes
    }

    /// Whether an older version remembered an event with this identity, without the reason of its failure or without
    /// its hash.
    ///
    /// O(1), and nothing to do once those generations are forgotten.
    func containsFormer(_ identity: UInt64) -> Bool {
        guard remembersEarlierIdentities else { return false }
        return isKnown(IdentityKey.identityWithoutHash(identity), upTo: lastWithoutHashes)
            || IdentityKey.identitiesWithoutReason(identity).contains { isKnown($0, upTo: lastWithoutReasons) }
    }

    /// Whether an older version remembered an event with this identity, as it is or as it was then.
    func containsEarlier(_ identity: UInt64) -> Bool {
        remembersEarlierIdentities && (isKnown(identity, upTo: lastWithoutHashes) || containsFormer(identity))
    }

    private func isKnown(_ identity: UInt64, upTo last: UInt32?) -> Bool {
        guard let last else { return false }
        return generations.contains { $0.number <= last && $0.contains(identity) }
    }

    /// Notes that all identities so far may be those of an earlier version.
    mutating func keepEarlierIdentities() {
        lastWithoutReasons = generations.last?.number
        lastWithoutHashes = lastWithoutReasons
    }

    /// Remembers an identity; `advance(to:)` must have opened a generation.
    mutating func insert(_ identity: UInt64) {
        generations[generations.count - 1].insert(identity)
    }

    /// Remembers many identities. What a few of them will read is loaded while those before are entered.
    mutating func insert(_ identities: [UInt64]) {
        let last = generations.count - 1
        var start = 0
        while start < identities.count {
            let end = min(start + EventWindow.size, identities.count)
            if start == 0 { generations[last].load(identities.span.extracting(start..<end)) }
            generations[last].load(identities.span.extracting(end...).extracting(first: EventWindow.size))
            for place in start..<end { generations[last].insert(identities[place]) }
            start = end
        }
    }

    /// Opens and drops generations after a row of the ledger.
    ///
    /// - Parameter row: the time of the row.
    /// - Returns: how many identities were evicted before their window ended.
    mutating func advance(to row: Timestamp) -> UInt64 {
        let now = clock.advance(to: row)
        guard let current = generations.last else {
            generations = [IdentityGeneration(number: 0, startedAt: now)]
            return 0
        }
        var evicted: UInt64 = 0
        let isFull = count >= limit
        let isPast = now.microseconds - current.startedAt.microseconds >= window / 2
        if current.count >= max(limit / 8, 1) || isPast && current.count >= keptByOrder / 4 {
            generations.append(IdentityGeneration(number: current.number &+ 1, startedAt: now))
        }
        while generations.count > 1 {
            let end = generations[1].startedAt
            let isOld =
                now.microseconds - end.microseconds >= window && count - generations[0].count >= keptByOrder
            guard isOld || (isFull && count >= limit) else { break }
            if !isOld { evicted += UInt64(generations[0].count) }
            forgotten.append(generations.removeFirst().number)
        }
        return evicted
    }

    /// Restores the clock of a checkpoint.
    mutating func restore(_ clock: AgingClock) { self.clock = clock }

    /// The most bytes that the pages of the next checkpoint take.
    var checkpointBytes: Int { generations.reduce(0) { $0 + $1.checkpointBytes } }

    mutating func takeChanges(into delta: inout StateDelta) {
        for generation in forgotten { delta.delete(prefix: IdentityPage.prefix(generation: generation)) }
        forgotten.removeAll()
        for index in generations.indices { generations[index].takeChanges(into: &delta) }
    }

    /// Restores a page of a checkpoint; pages come in key order.
    mutating func restore(_ page: IdentityPage) {
        if generations.last?.number != page.generation {
            generations.append(IdentityGeneration(number: page.generation, startedAt: page.startedAt))
        }
        generations[generations.count - 1].restore(page.identities, page: page.number)
    }
}

/// The time by which identities grow old: that of the ledger's rows, as far as it can be believed.
///
/// A row tells only what the wall clock said, and that may leap. So one step between two rows counts as a seventh of the
/// window at most, forwards and backwards alike: a clock that is wrong by years and right again later ages nothing, since
/// its two steps cancel out, and a week without rows ages identities by a day. Both err towards remembering longer.
struct AgingClock: Hashable, Sendable {
    private let longestStep: Int64
    /// The time to compare the starts of generations with; nil before the first row.
    private(set) var now: Timestamp?
    /// The time of the last row, as it is written there.
    private(set) var row = Timestamp(microseconds: 0)

    init(longestStep: Int64, now: Timestamp? = nil, row: Timestamp = Timestamp(microseconds: 0)) {
        self.longestStep = longestStep
        self.now = now
        self.row = row
    }

    /// Takes the step to the next row; returns the time after it.
    mutating func advance(to next: Timestamp) -> Timestamp {
        let step = min(max(next.microseconds &- row.microseconds, -longestStep), longestStep)
        let time = now.map { Timestamp(microseconds: $0.microseconds &+ step) } ?? next
        now = time
        row = next
        return time
    }

    /// The same clock as a checkpoint saved it.
    func restored(now: Timestamp, row: Timestamp) -> AgingClock {
        AgingClock(longestStep: longestStep, now: now, row: row)
    }
}

/// The identities that arrived within half a window, dropped together.
///
/// They are spread over 64 tables by their high bits, so that growing one table never stalls the writer for long.
struct IdentityGeneration: Sendable {
    static let pageCapacity = 4_096

    let number: UInt32
    let startedAt: Timestamp
    private var tables: [IdentityTable]
    private(set) var count = 0
    /// The identities of the last, partial page of the checkpoint.
    private var lastPage: [UInt64] = []
    /// Full pages that no checkpoint holds yet.
    private var filledPages: [[UInt64]] = []
    private var firstUnsavedPage: UInt32 = 0
    /// False at first, so that a checkpoint holds an empty generation with its start time.
    private var isLastPageSaved = false

    init(number: UInt32, startedAt: Timestamp) {
        self.number = number
        self.startedAt = startedAt
        tables = (0..<64).map { _ in IdentityTable() }
    }

    var byteCount: Int { tables.reduce(0) { $0 + $1.byteCount } }

    func contains(_ identity: UInt64) -> Bool {
        tables[Int(identity >> 58)].contains(identity << 6)
    }

    /// Begins to load what a search for at most 32 identities, or inserting them, will read.
    func load(_ identities: Span<UInt64>) {
        assert(identities.count <= 32)
        var addresses = InlineArray<32, MemoryAddress>(repeating: MemoryAddress())
        for place in identities.indices {
            addresses[place] = tables[Int(identities[place] >> 58)].address(of: identities[place] << 6)
        }
        for place in identities.indices { addresses[place].load(lines: IdentityTable.linesRead) }
    }

    /// Which of at most 32 identities it has, a bit each.
    ///
    /// Whether each may be behind its lines is known before the first is compared, so that its branches are predicted.
    func places(of identities: Span<UInt64>) -> UInt32 {
        assert(identities.count <= 32)
        var behind: UInt32 = 0
        for place in identities.indices {
            let mayBeBehind = tables[Int(identities[place] >> 58)].mayBeBehind(identities[place] << 6)
            behind |= (mayBeBehind ? 1 : 0) &<< UInt32(place)
        }
        var found: UInt32 = 0
        for place in identities.indices {
            let mayBeBehind = behind &>> UInt32(place) & 1 != 0
            let table = Int(identities[place] >> 58)
            let isFound = tables[table].contains(identities[place] << 6, mayBeBehind: mayBeBehind)
            found |= (isFound ? 1 : 0) &<< UInt32(place)
        }
        return found
    }

    mutating func insert(_ identity: UInt64) {
        guard tables[Int(identity >> 58)].insert(identity << 6) else { return }
        count += 1
        lastPage.append(identity)
        isLastPageSaved = false
        if lastPage.count == Self.pageCapacity {
            filledPages.append(lastPage)
            lastPage.removeAll(keepingCapacity: true)
            isLastPageSaved = true
        }
    }

    /// The full pages that no checkpoint holds yet, and the last page.
    var checkpointBytes: Int {
        (filledPages.count * Self.pageCapacity + lastPage.count + 1) * MemoryLayout<UInt64>.size
    }

    /// The pages that changed since the last call.
    mutating func takeChanges(into delta: inout StateDelta) {
        for page in filledPages {
            let held = IdentityPage(page, of: self, number: firstUnsavedPage)
            delta.append { held.encoded }
            firstUnsavedPage += 1
        }
        filledPages.removeAll()
        if !isLastPageSaved {
            let held = IdentityPage(lastPage, of: self, number: firstUnsavedPage)
            delta.append { held.encoded }
            isLastPageSaved = true
        }
    }

    /// Restores a page of a checkpoint; pages come in order.
    mutating func restore(_ identities: [UInt64], page: UInt32) {
        for identity in identities where tables[Int(identity >> 58)].insert(identity << 6) { count += 1 }
        isLastPageSaved = true
        if identities.count < Self.pageCapacity {
            lastPage = identities
            firstUnsavedPage = page
        } else {
            firstUnsavedPage = page + 1
        }
    }
}

/// A checkpoint page of identities: the start of their generation, then eight bytes each.
struct IdentityPage: Sendable {
    static let prefix = "identities/"

    var generation: UInt32
    var number: UInt32
    var startedAt: Timestamp
    var identities: [UInt64]

    static func prefix(generation: UInt32) -> String { "\(prefix)\(StatePage.sortable(generation))/" }

    init(_ identities: [UInt64], of generation: IdentityGeneration, number: UInt32) {
        self.generation = generation.number
        self.number = number
        startedAt = generation.startedAt
        self.identities = identities
    }

    var encoded: StatePage {
        var value = StateWriter()
        value.append(UInt64(bitPattern: startedAt.microseconds))
        value.append(words: identities)
        return StatePage(key: Self.prefix(generation: generation) + StatePage.sortable(number), value: value.bytes)
    }

    init(_ page: StatePage) throws(StateError) {
        let parts = page.key.dropFirst(Self.prefix.count).split(separator: "/")
        guard parts.count == 2, let generation = UInt32(parts[0], radix: 16), let number = UInt32(parts[1], radix: 16)
        else { throw StateError(key: page.key, problem: "a key that names no generation and page") }
        var reader = StateReader(page)
        self.generation = generation
        self.number = number
        startedAt = Timestamp(microseconds: Int64(bitPattern: try reader.word()))
        identities = []
        identities.reserveCapacity(reader.remaining / 8)
        while reader.remaining > 0 { identities.append(try reader.word()) }
    }
}
