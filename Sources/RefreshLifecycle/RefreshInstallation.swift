// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import TelemetryEvents

/// What is remembered of one installation: the facts of its latest runs, in order, and what is known from before them.
struct RefreshInstallation: Sendable {
    let fingerprint: UInt64
    private(set) var facts: [RefreshFact] = []
    /// What is known from before the facts.
    private(set) var past = RefreshPast()
    /// The latest event time that is not assumed.
    private(set) var latest = Int64.min
    /// The ledger's clock at the latest arrival, in seconds.
    private(set) var arrivedAt: UInt32 = 0
    /// When the outcome of a run with an end is due to count, in seconds; `.max` for never.
    private(set) var settlesAt = UInt32.max
    /// When a run is due to be judged, in seconds; `.max` for never.
    private(set) var closesAt = UInt32.max
    /// The runs whose outcome is not counted.
    private(set) var openRuns: UInt16 = 0
    /// The place of the group that its runs count in: the one that its events named last.
    var group: UInt8 = 0

    init(fingerprint: UInt64) {
        self.fingerprint = fingerprint
    }

    /// When something is due.
    var dueAt: UInt32 { min(settlesAt, closesAt) }

    /// Whether its facts changed since `update(_:arrivedAt:)`.
    private(set) var isTouched = false

    // MARK: Facts

    /// Adds a fact and counts what it tells of.
    mutating func insert(_ fact: RefreshFact, into totals: inout RefreshTotals) -> RefreshEffects.Effect {
        if !fact.isAssumed { latest = max(latest, fact.time) }
        let place = self.place(of: fact)
        if place > 0, facts[place - 1].tellsTheSame(as: fact) { return .repeated }
        facts.insert(fact, at: place)
        isTouched = true
        guard fact.kind == .started else {
            if count(at: place, into: &totals) > 0 { return .counted }
            if fact.momentKey != nil { return .repeated }
            return fact.isEnd ? isOnlyEnd(at: place) ? .counted : .repeated : .informational
        }
        divideMoments(at: place, into: &totals)
        return .informational
    }

    /// Counts again around a new start, which divides what was one moment before it.
    private mutating func divideMoments(at start: Int, into totals: inout RefreshTotals) {
        let early = facts.places(ofSecondOf: start)
        var places = Array(early)
        // What these were one moment with is left behind.
        if !early.isEmpty {
            places += (early.upperBound..<start).reversed().prefix { facts[$0].kind != .started }
        }
        let end = facts[start].time + RefreshRules.moment
        places += ((start + 1)..<facts.count).prefix { facts[$0].time < end }
        // Summed up by what they tell, because a moment may begin with another fact on one side of the start.
        var divided: [(place: Int, added: Int)] = []
        for place in places where facts[place].momentKey != nil {
            let added = countMoments(at: place)
            if let index = divided.firstIndex(where: { facts[$0.place].momentKey == facts[place].momentKey }) {
                divided[index].added += added
            } else {
                divided.append((place, added))
            }
        }
        for (place, added) in divided where added > 0 {
            for _ in 0..<added { totals.count(facts[place]) }
        }
    }

    /// Behind the last fact that a new one does not precede; events mostly arrive in order.
    private func place(of fact: RefreshFact) -> Int {
        guard let last = facts.last, RefreshFact.precedes(fact, last) else { return facts.count }
        var (low, high) = (0, facts.count)
        while low < high {
            let middle = (low + high) / 2
            if RefreshFact.precedes(fact, facts[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Whether the run of an end has no other one, and no outcome yet.
    private func isOnlyEnd(at place: Int) -> Bool {
        // No run with times goes on behind a gap that is longer than it reaches.
        var first = place
        while first > 0, facts[first].time - facts[first - 1].time <= RefreshRules.reach { first -= 1 }
        var cursor = RefreshRunCursor(from: first)
        while let run = cursor.nextRun(in: facts), run.first <= place {
            if run.end?.place == place { return run.ends == 1 && !run.isOutcomeCounted }
        }
        return false
    }

    /// Counts the moments around a new fact that tell the same as it.
    private mutating func count(at place: Int, into totals: inout RefreshTotals) -> Int {
        let added = max(countMoments(at: place), 0)
        for _ in 0..<added { totals.count(facts[place]) }
        return added
    }

    /// Finds the moments around a fact that tell the same as it, and lets the first fact of each stand for it.
    ///
    /// A line and an analytics event of one moment are a pair. Each is paired with the earliest one of the other sort that
    /// still waits for its partner, which gives as many pairs as there can be. Another fact never makes the moments fewer,
    /// so that counting at once gives the same in every order of arrival.
    ///
    /// - Returns: how many more they are than those that were counted.
    private mutating func countMoments(at place: Int) -> Int {
        guard let chain = facts.momentChain(around: place) else { return 0 }
        var added = 0
        // The first that may wait. Those that do are all of one sort: the others were paired when they were reached.
        var waiting = chain.startIndex
        for position in chain.indices where chain.has(facts, chain[position]) {
            let index = chain[position]
            while waiting < position, !isWaiting(chain[waiting], for: index, in: chain) { waiting += 1 }
            let isPaired = waiting < position && facts[index].isOfOneMoment(with: facts[chain[waiting]])
            if isPaired { waiting += 1 } else { added += 1 }
            if facts[index].has(RefreshFact.counted) { added -= 1 }
            facts[index].set(RefreshFact.counted, !isPaired)
        }
        return added
    }

    /// Whether a fact that stands for its moment is less than a moment before another one.
    private func isWaiting(_ place: Int, for later: Int, in chain: MomentChain) -> Bool {
        chain.has(facts, place) && facts[place].has(RefreshFact.counted)
            && facts[later].time - facts[place].time < RefreshRules.moment
    }

    // MARK: Closing

    /// Updates when something is due, and how many runs are open.
    mutating func update(_ terms: RefreshTerms, arrivedAt second: UInt32) {
        isTouched = false
        arrivedAt = second
        if update(terms), settlesAt == .max { settlesAt = second &+ terms.settlingSeconds }
    }

    /// - Returns: whether a run with an end is not counted.
    @discardableResult
    private mutating func update(_ terms: RefreshTerms) -> Bool {
        var cursor = RefreshRunCursor()
        var (open, closing, isEnding) = (0, UInt32.max, false)
        while let run = cursor.nextRun(in: facts) {
            if !run.isOutcomeCounted {
                open += 1
                if run.end != nil { isEnding = true }
            }
            if !run.isJudged { closing = min(closing, terms.closing(of: run, arrivedAt: arrivedAt)) }
        }
        openRuns = UInt16(clamping: open)
        closesAt = closing
        return isEnding
    }

    /// Lowers times that a clock ahead has given.
    mutating func limitDue(to second: UInt32, _ terms: RefreshTerms) {
        if arrivedAt > second { arrivedAt = second }
        if settlesAt != .max { settlesAt = min(settlesAt, second &+ terms.settlingSeconds) }
        update(terms)
    }

    /// Counts and judges what is due.
    ///
    /// - Parameters:
    ///   - second: the ledger's clock; nil at the end of the input.
    ///   - closed: gets the judged runs.
    mutating func close(
        at second: UInt32?,
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) {
        let known = max(latest, second.map { Int64($0) * 1_000_000 } ?? .min)
        var before = past
        var cursor = RefreshRunCursor()
        while let run = cursor.nextRun(in: facts) {
            let isClosing = second.map { terms.closing(of: run, arrivedAt: arrivedAt) <= $0 } ?? true
            let isSettling = run.end != nil && (second.map { settlesAt <= $0 } ?? true)
            if !run.isOutcomeCounted, isSettling || isClosing { countOutcome(of: run, into: &totals) }
            if !run.isJudged, isClosing {
                let verdict = RefreshVerdict(run, after: before, known: known)
                totals.count(verdict)
                markJudged(run)
                closed.add(run, verdict, after: before, of: fingerprint)
            }
            before.add(run)
        }
        if second.map({ settlesAt <= $0 }) ?? true { settlesAt = .max }
        update(terms)
        prune(terms)
    }

    private mutating func markJudged(_ run: RefreshRun) {
        for place in run.first..<run.endPlace where run.has(facts[place], at: place) {
            facts[place].set(RefreshFact.judged)
        }
        for place in run.claimed.places where run.claimed.contains(place) { facts[place].set(RefreshFact.judged) }
    }

    private mutating func countOutcome(of run: RefreshRun, into totals: inout RefreshTotals) {
        totals.count(run.outcome)
        if let duration = run.duration { totals.duration.observe(duration) }
        let place = run.end?.place ?? run.first
        facts[place].set(RefreshFact.outcomeCounted)
    }

    /// Forgets judged runs that are older than what is kept, up to the first run that is not judged; always keeps the last.
    private mutating func prune(_ terms: RefreshTerms) {
        guard latest != .min, let first = facts.first else { return }
        let limit = latest - Int64(terms.keptSeconds) * 1_000_000
        guard first.time < limit else { return }
        forget { $0.isJudged && $0.latest < limit }
    }

    /// Forgets runs from the first on, and the schedules before and among them.
    private mutating func forget(while isForgotten: (RefreshRun) -> Bool) {
        var cursor = RefreshRunCursor()
        var forgotten = 0
        while let run = cursor.nextRun(in: facts), isForgotten(run), let next = run.nextBegin {
            // A fact that the run claims from the next one would be taken for one of that run.
            guard run.claimed.isEmpty else { break }
            past.add(run)
            forgotten = facts[run.endPlace...].firstIndex { $0.time >= next } ?? run.endPlace
        }
        facts.removeFirst(forgotten)
    }

    /// Closes the first half of the runs before their time, to make room.
    ///
    /// - Returns: how many were open.
    mutating func evictOldest(
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) -> Int {
        let half = facts.count / 2
        var (before, evicted, forgotten) = (past, 0, 0)
        var cursor = RefreshRunCursor()
        while let run = cursor.nextRun(in: facts), run.nextBegin != nil, run.endPlace <= half {
            if !run.isOutcomeCounted { countOutcome(of: run, into: &totals) }
            if !run.isJudged {
                evicted += 1
                let verdict = RefreshVerdict(run, after: before, known: latest)
                totals.count(verdict)
                closed.add(run, verdict, after: before, of: fingerprint)
                markJudged(run)
            }
            before.add(run)
            // A fact that a run claims from the next one would be taken for one of that run.
            guard run.claimed.isEmpty else { continue }
            past = before
            forgotten = run.endPlace
        }
        guard forgotten > 0 else { return evict(terms, into: &totals, &closed) }
        facts.removeFirst(forgotten)
        isTouched = true
        return evicted
    }

    /// Closes all runs before their time.
    ///
    /// - Returns: how many were open.
    mutating func evict(
        _ terms: RefreshTerms,
        into totals: inout RefreshTotals,
        _ closed: inout ClosedRuns
    ) -> Int {
        let open = Int(openRuns)
        close(at: nil, terms, into: &totals, &closed)
        var cursor = RefreshRunCursor()
        while let run = cursor.nextRun(in: facts) { past.add(run) }
        facts.removeAll(keepingCapacity: true)
        (settlesAt, closesAt, openRuns, isTouched) = (.max, .max, 0, false)
        return open
    }
}

/// When runs count and close by the ledger's clock.
struct RefreshTerms: Sendable {
    var settlingSeconds: UInt32
    var graceSeconds: UInt32
    var keptSeconds: UInt32
    var factLimit: Int

    init(_ limits: RefreshLifecycleLimits) {
        settlingSeconds = UInt32(clamping: limits.settlingSeconds)
        graceSeconds = UInt32(clamping: limits.closingGraceSeconds)
        keptSeconds = UInt32(clamping: limits.keptSeconds)
        factLimit = min(max(limits.factsPerInstallation, 16), Int(UInt16.max))
    }

    /// When a run closes: a grace period after the latest arrival, so that late events still join it. One that has told of
    /// no schedule for the next run stays open for as long as that may take.
    func closing(of run: RefreshRun, arrivedAt: UInt32) -> UInt32 {
        let grace = arrivedAt &+ graceSeconds
        guard run.isToldByLines, let end = run.end, run.scheduledAt == nil, !run.isNextLaunched else { return grace }
        let wait = RefreshRules.schedulingLimit / 1_000_000
        let open = UInt32(clamping: end.time / 1_000_000 + wait + Int64(graceSeconds))
        return max(grace, min(open, grace &+ UInt32(clamping: wait)))
    }
}

// MARK: Checkpoints

extension RefreshPast {
    private static let deniedFlag: UInt8 = 1
    private static let toldToADayFlag: UInt8 = 2

    fileprivate var flags: UInt8 {
        get { (isDenied ? Self.deniedFlag : 0) | (isToldToADay ? Self.toldToADayFlag : 0) }
        set {
            isDenied = newValue & Self.deniedFlag != 0
            isToldToADay = newValue & Self.toldToADayFlag != 0
        }
    }
}

extension RefreshInstallation {
    /// The size of an encoded installation without its facts.
    static let fixedBytes = 8 + 3 * 8 + 1 + 8 + 3 * 4 + 2 + 1 + 4
    /// The size of an encoded fact.
    static let factBytes = 16

    var encodedBytes: Int { Self.fixedBytes + facts.count * Self.factBytes }

    func append(to writer: inout StateWriter) {
        writer.append(fingerprint)
        writer.append(past.succeededAt)
        writer.append(past.notifiedAt)
        writer.append(past.toldNotifiedAt)
        writer.append(past.flags)
        writer.append(latest)
        writer.append(arrivedAt)
        writer.append(settlesAt)
        writer.append(closesAt)
        writer.append(openRuns)
        writer.append(group)
        writer.append(UInt32(facts.count))
        for fact in facts {
            writer.append(fact.time)
            writer.append(fact.word)
        }
    }

    init(_ reader: inout StateReader) throws(StateError) {
        fingerprint = try reader.word()
        past.succeededAt = try reader.integer()
        past.notifiedAt = try reader.integer()
        past.toldNotifiedAt = try reader.integer()
        past.flags = try reader.integer()
        latest = try reader.integer()
        arrivedAt = try reader.integer()
        settlesAt = try reader.integer()
        closesAt = try reader.integer()
        openRuns = try reader.integer()
        group = try reader.integer()
        let count: UInt32 = try reader.integer()
        facts.reserveCapacity(min(Int(count), reader.remaining / Self.factBytes))
        for _ in 0..<count {
            let time: Int64 = try reader.integer()
            facts.append(RefreshFact(time: time, word: try reader.word()))
        }
        // Checkpoints before this order have facts of one time in another one.
        facts.sort(by: RefreshFact.precedes)
    }
}
