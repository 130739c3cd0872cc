// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents

/// A page of open cycles in a checkpoint.
struct CyclePage {
    static let prefix = "cycles/"
    /// The typical size of an encoded cycle.
    private static let typicalCycleBytes = 112
    /// The largest size of an encoded cycle with inline facts: 81 bytes, and 8 a fact.
    static let shortCycleBytes = 81 + Cycle.inlineFacts * 8

    private let number: UInt32
    private var value = StateWriter()

    private init(number: UInt32) {
        self.number = number
    }

    static func key(_ number: UInt32) -> String { prefix + StatePage.sortable(number) }

    private var page: StatePage { StatePage(key: Self.key(number), value: value.bytes) }

    static func encode(_ cycles: [Cycle], long: LongCycles, number: UInt32) -> StatePage {
        var page = CyclePage(number: number)
        page.value.reserveCapacity(cycles.count * Self.typicalCycleBytes)
        for cycle in cycles {
            page.append(cycle, long: cycle.flags.contains(.isLong) ? long[cycle.longPlace] : nil)
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
        value.append(cycle.age ?? -1)
        value.append(cycle.flags.rawValue)
        value.append(cycle.group)
        value.append(cycle.started.rawValue)
        value.append(cycle.cached.rawValue)
        value.append(cycle.details.rawValue)
        if let long {
            append(long.counted, long.facts.span)
            value.append(long.droppedRetries)
        } else {
            cycle.withFacts { append(cycle.counted, $0) }
        }
    }

    private mutating func append(_ counted: CountedStages, _ facts: Span<UInt64>) {
        for place in 0..<CountedStages.count { value.append(counted[place]) }
        value.append(UInt16(clamping: facts.count))
        for index in facts.indices { value.append(facts[index]) }
    }

    static func decode(_ page: StatePage, version: UInt8) throws(StateError) -> [(Cycle, LongCycle?)] {
        var reader = StateReader(page)
        var cycles: [(Cycle, LongCycle?)] = []
        cycles.reserveCapacity(CycleTable.pageSize)
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
            // The age of used content; in version 1 the largest ttl.
            let seconds: Int64 = try reader.integer()
            cycle.flags = Cycle.Flags(rawValue: try reader.integer())
            cycle.group = try reader.integer()
            if version < 3 {
                cycle.details = .isTold
            } else {
                cycle.started = EarliestTime(rawValue: try reader.integer())
                cycle.cached = EarliestTime(rawValue: try reader.integer())
                cycle.details = Cycle.Details(rawValue: try reader.integer())
            }
            if cycle.flags.contains(.hasDue) { cycle.due = due }
            var counted = CountedStages()
            for place in 0..<CountedStages.count { counted[place] = try reader.integer() }
            // The bit told of something else before.
            if version < 6 {
                let isShown = cycle.delivered.isKnown && counted.used > 0
                if isShown { cycle.details.insert(.isShownCounted) } else { cycle.details.remove(.isShownCounted) }
            }
            let count: UInt16 = try reader.integer()
            guard version == 1 || cycle.flags.contains(.isLong) else {
                if seconds >= 0 { cycle.age = seconds }
                cycle.counted = counted
                for place in 0..<count {
                    let fact = Fact(rawValue: try reader.word())
                    if place < Cycle.inlineFacts { _ = cycle.insert(fact) }
                }
                cycles.append((cycle, nil))
                continue
            }
            var facts: [UInt64] = []
            for _ in 0..<count { facts.append(try reader.word()) }
            var dropped: UInt16 = 0
            if version == 1 {
                var former = FormerFacts(facts, of: cycle, ttl: seconds >= 0 ? seconds : nil)
                (facts, cycle.age) = (former.takeFacts(), former.age)
                if facts.count > Cycle.inlineFacts { cycle.flags.insert(.isLong) }
            } else {
                if seconds >= 0 { cycle.age = seconds }
                dropped = try reader.integer()
            }
            guard !cycle.flags.contains(.isLong) else {
                var long = LongCycle(facts: facts, counted: counted)
                long.droppedRetries = dropped
                cycles.append((cycle, long))
                continue
            }
            cycle.counted = counted
            for fact in facts.prefix(Cycle.inlineFacts) { _ = cycle.insert(Fact(rawValue: fact)) }
            cycles.append((cycle, nil))
        }
        return cycles
    }
}

/// The facts of a cycle as version 1 of the checkpoint has them.
///
/// | bits | what |
/// | --- | --- |
/// | 63-22 | microseconds since the base, plus 2^41; from stage 16 on a hash or an age |
/// | 21-16 | stage |
/// | 15-0 | detail, of a submission the seconds to its earliest begin |
///
/// Hashes and the `ttl` had no times; they get those of the stages that they are told with.
private struct FormerFacts {
    private static let unknownLead = Int16.min
    private static let success: UInt64 = 3

    private var facts: [UInt64] = []
    /// The largest age of used content, in seconds.
    private(set) var age: Int64?

    init(_ words: [UInt64], of cycle: Cycle, ttl: Int64?) {
        let base = cycle.base
        let baseValue = Fact(.scheduled, at: base, base: base).value
        func times(of stage: UInt64) -> [UInt64] { words.filter { $0 >> 16 & 0x3F == stage }.map { $0 >> 22 } }
        let firstSuccess = times(of: Self.success).first
        for word in words {
            let (stage, value) = (word >> 16 & 0x3F, word >> 22)
            let detail = UInt16(truncatingIfNeeded: word)
            let hash = UInt16(truncatingIfNeeded: value)
            switch stage {
            case 1:
                let time = Fact(.scheduled, value: value).time(base: base)
                let begin = Self.begin(Int16(bitPattern: detail), at: time, window: cycle.window.time(base: base))
                facts.append(Fact(.scheduled, detail: begin?.rawValue ?? 0, value: value).rawValue)
            case Self.success:
                let told = value == firstSuccess ? ttl : nil
                let isTimed = Fact.Detail(rawValue: detail).contains(.timed)
                facts.append(Fact(.success, detail: Fact.success(ttl: told, isTimed: isTimed), value: value).rawValue)
            case 4:
                let known = Fact.Detail(rawValue: detail)
                let final = known.contains(.willRetry) ? known : known.union(.final)
                facts.append(Fact(.failure, detail: final.rawValue, value: value).rawValue)
            case 16:
                append(.scheduleHashScheduled, hash, at: times(of: 1).first ?? baseValue)
            case 17:
                append(.scheduleHashExecuted, hash, at: times(of: 2).last ?? baseValue)
            case 18:
                append(.contentHashCached, hash, at: times(of: Self.success).last ?? baseValue)
            case 19:
                let used = cycle.used.time(base: base).map { Fact(.used, at: $0, base: base).value }
                append(.contentHashUsed, hash, at: used ?? baseValue)
            case 20: age = max(age ?? 0, Int64(value))
            default:
                guard let same = Fact.Stage(rawValue: UInt8(stage)) else { continue }
                facts.append(Fact(same, detail: detail, value: value).rawValue)
            }
        }
        if let ttl, firstSuccess == nil {
            let first = words.filter { $0 >> 16 & 0x3F < 16 }.map { $0 >> 22 }.min() ?? baseValue
            append(.ttl, CodedTTL(ttl).rawValue, at: min(first, baseValue))
        }
    }

    private mutating func append(_ stage: Fact.Stage, _ detail: UInt16, at value: UInt64) {
        facts.append(Fact(stage, detail: detail, value: value).rawValue)
    }

    /// The begin of a submission, whose lead was kept in whole seconds and at most nine hours.
    private static func begin(_ lead: Int16, at time: Timestamp, window: Timestamp?) -> SubmittedBegin? {
        guard lead != unknownLead else { return nil }
        let earliest = time.microseconds + Int64(lead) * 1_000_000
        if lead.magnitude >= UInt16(Int16.max) { return window.map { SubmittedBegin($0, at: time) } }
        if let window, window.microseconds >= earliest, window.microseconds - earliest < 1_000_000 {
            return SubmittedBegin(window, at: time)
        }
        let second = Timestamp(microseconds: earliest).wholeSeconds
        return SubmittedBegin(Timestamp(seconds: earliest == second * 1_000_000 ? second : second + 1), at: time)
    }

    /// The facts in event order.
    mutating func takeFacts() -> [UInt64] {
        defer { facts = [] }
        return facts.sorted()
    }
}
