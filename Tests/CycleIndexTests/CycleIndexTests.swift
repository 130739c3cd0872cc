// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import PrefetchLifecycle
import TelemetryEvents
import TestSupport
import Testing

@testable import CycleIndex
@testable import EventLedger

@Suite("The index of cycles")
struct CycleIndexTests {
    static let groups = [
        EventGroup.unknown, EventGroup(platform: "ios", appVersion: "2.0.0"),
        EventGroup(platform: "android", appVersion: "2.0.0"), EventGroup(platform: "ios", appVersion: "2.1.0"),
    ]
    static let time = Timestamp(microseconds: 1_700_000_000_000_000)

    /// Cycles of chance over a few devices and schedules.
    struct Fleet {
        private static let stages: [any WritableKeyPath<CycleStages, Timestamp?> & Sendable] = [
            \.scheduled, \.executed, \.success, \.failure, \.used, \.delivered,
        ]

        var random: SplitMix64

        mutating func cycle(_ number: Int) -> (ClosedCycle, CycleName?) {
            let installation = Pseudonym(high: UInt64.random(in: 1...20, using: &random), low: 7)
            var closed = ClosedCycle.unseen(of: installation.fingerprint, at: nil)
            closed.schedule = UInt64.random(in: 1 ... .max, using: &random)
            closed.outcome = CycleOutcome.allCases.randomElement(using: &random) ?? .used
            closed.failureReason = FailureReason.allCases.randomElement(using: &random)
            if Bool.random(using: &random) { closed.failureReason = nil }
            closed.group = Int.random(in: 0..<groups.count, using: &random)
            closed.attempts = Int.random(in: 0...400, using: &random)
            closed.isTimeWarped = Bool.random(using: &random)
            closed.hasAssumedTimes = Bool.random(using: &random)
            if Int.random(in: 0..<5, using: &random) > 0 { closed.notificationTime = after(number) }
            if Bool.random(using: &random) { closed.earliestBegin = after(number) }
            for stage in Self.stages where Bool.random(using: &random) { closed.stages[keyPath: stage] = after(number) }
            for kind in ViolationKind.allCases where Int.random(in: 0..<20, using: &random) == 0 {
                let detail = String(repeating: "é", count: Int.random(in: 0...130, using: &random))
                closed.violations.append(CycleViolation(kind: kind, detail: detail))
            }
            let id = Array("notif-\(Int.random(in: 0..<30, using: &random))".utf8)
            let name = CycleName(installation: installation, scheduleId: id)
            return (closed, Int.random(in: 0..<10, using: &random) == 0 ? nil : name)
        }

        private mutating func after(_ number: Int) -> Timestamp {
            let seconds = Int64(number) * 60 + Int64.random(in: -600...600, using: &random)
            return Timestamp(microseconds: time.microseconds + seconds * 1_000_000 + 1)
        }

        mutating func filter() -> CycleFilter {
            var filter = CycleFilter()
            func sometimes() -> Bool { Int.random(in: 0..<4, using: &random) == 0 }
            func some<Value: Hashable>(_ values: [Value]) -> Set<Value> {
                sometimes() ? Set(values.filter { _ in Bool.random(using: &random) }) : []
            }
            filter.outcomes = some(CycleOutcome.allCases)
            filter.reasons = some(FailureReason.allCases)
            filter.violations = some(ViolationKind.allCases)
            filter.buckets = some(ViolationBucket.allCases)
            filter.platforms = some(["ios", "android", "unknown", "plan9"])
            filter.versions = some(["2.0.0", "2.1.0"])
            if sometimes() { filter.reached = [CycleFilter.Stage.allCases.randomElement(using: &random) ?? .used] }
            if sometimes() { filter.lacking = [CycleFilter.Stage.allCases.randomElement(using: &random) ?? .used] }
            if sometimes() { filter.scheduleId = Array("notif-\(Int.random(in: 0..<40, using: &random))".utf8) }
            if sometimes() {
                filter.installation = Pseudonym(high: UInt64.random(in: 1...25, using: &random), low: 7).fingerprint
            }
            if sometimes() { filter.from = after(Int.random(in: 0..<2_000, using: &random)) }
            if sometimes() { filter.to = after(Int.random(in: 0..<2_000, using: &random)) }
            filter.isWrongOnly = sometimes()
            return filter
        }
    }

    /// What a filter means, without masks and summaries.
    private static func matches(_ cycle: IndexedCycle, _ filter: CycleFilter) -> Bool {
        let verdict = cycle.verdict
        let kinds = Set(verdict.violations.map(\.kind))
        let stages: [CycleFilter.Stage: Timestamp?] = [
            .scheduled: verdict.stages.scheduled, .executed: verdict.stages.executed, .success: verdict.stages.success,
            .failure: verdict.stages.failure, .used: verdict.stages.used, .delivered: verdict.stages.delivered,
        ]
        let time = verdict.notificationTime ?? cycle.closedAt
        return (filter.outcomes.isEmpty || filter.outcomes.contains(verdict.outcome))
            && (filter.reasons.isEmpty || verdict.failureReason.map { filter.reasons.contains($0) } ?? false)
            && (filter.violations.isEmpty || !filter.violations.isDisjoint(with: kinds))
            && (filter.buckets.isEmpty || !filter.buckets.isDisjoint(with: kinds.map(\.bucket)))
            && (filter.platforms.isEmpty || filter.platforms.contains(cycle.group.platform))
            && (filter.versions.isEmpty || filter.versions.contains(cycle.group.appVersion))
            && filter.reached.allSatisfy { stages[$0] != .some(nil) }
            && filter.lacking.allSatisfy { stages[$0] == .some(nil) }
            && (filter.scheduleId == nil || cycle.name?.scheduleId == filter.scheduleId)
            && (filter.installation == nil || verdict.installation == filter.installation)
            && (filter.from.map { time >= $0 } ?? true) && (filter.to.map { time <= $0 } ?? true)
            && (!filter.isWrongOnly || !kinds.isEmpty || verdict.outcome != .used)
    }

    private static func all(_ view: CycleView, _ filter: CycleFilter, limit: Int, _ reader: LedgerReader) throws
        -> [IndexedCycle]
    {
        var cycles: [IndexedCycle] = []
        var before: UInt64?
        repeat {
            let page = try view.page(filter, before: before, limit: limit, reader)
            #expect(page.cycles.count <= limit)
            cycles += page.cycles
            before = page.next
        } while before != nil
        return cycles
    }

    @Test(
        "the index of cycles gives what a filter means, page by page, saved, loaded and pruned",
        arguments: 1...3 as ClosedRange<UInt64>
    )
    func filters(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: 1).ledger
        defer { try? ledger.close() }
        var fleet = Fleet(random: SplitMix64(seed))
        var index = CycleIndex(at: .start, since: 0, limit: 1_000)
        var expected: [IndexedCycle] = []
        for number in 1...2_000 {
            let (closed, name) = fleet.cycle(number)
            let closedAt = Timestamp(microseconds: Self.time.microseconds + Int64(number) * 60_000_000)
            let position = LedgerPosition(batch: 0, sequence: 0)
            index.add([(closed, name)], closedAt: closedAt, groups: Self.groups, at: position)
            expected.append(
                IndexedCycle(
                    number: UInt64(number),
                    closedAt: closedAt,
                    verdict: closed,
                    name: name,
                    group: Self.groups[closed.group]
                )
            )
            guard fleet.random.next() % 97 == 0 else { continue }
            try ledger.checkpoint(projection: CycleIndex.name, at: position, changes: index.changes, now: 1)
            index.saved()
            if fleet.random.next() % 3 == 0 { index = try #require(try CycleIndex(ledger.reader, limit: 1_000)) }
        }
        let view = index.view
        #expect((1_000..<1_256).contains(view.count))
        let kept = Array(expected.suffix(view.count).reversed())
        let everything = try Self.all(view, CycleFilter(), limit: 200, ledger.reader)
        #expect(everything.map(Shown.init) == kept.map(Shown.init))
        #expect(try view.cycle(view.oldest, ledger.reader).map(Shown.init) == kept.last.map(Shown.init))
        #expect(try view.cycle(view.oldest - 1, ledger.reader) == nil)
        #expect(try view.cycle(view.newest + 1, ledger.reader) == nil)
        var matched = 0
        for _ in 0..<150 {
            let filter = fleet.filter()
            let wanted = kept.filter { Self.matches($0, filter) }
            let found = try Self.all(view, filter, limit: Int.random(in: 1...50, using: &fleet.random), ledger.reader)
            try #require(found.map(\.number) == wanted.map(\.number), "\(filter)")
            matched += found.count
        }
        #expect(matched > 1_000)
        let pages = try pages(ledger.reader)
        #expect(pages <= 1_256 / CycleSegment.capacity + 1, "pruned segments are deleted")
    }

    private func pages(_ reader: LedgerReader) throws -> Int {
        var pages = 0
        try reader.loadState(CycleIndex.name, keyPrefix: StateKey(CycleSegment.prefix)) { _, _ in pages += 1 }
        return pages
    }

    @Test("the index of cycles with a damaged page is not loaded, and no bytes stop the process")
    func damaged() throws {
        var fleet = Fleet(random: SplitMix64(9))
        var index = CycleIndex(at: .start, since: 0)
        for number in 1...300 {
            index.add([fleet.cycle(number)], closedAt: Self.time, groups: Self.groups, at: .start)
        }
        let page = index.view.firstPage
        for _ in 0..<2_000 {
            var bytes = page
            for _ in 0...Int.random(in: 0...3, using: &fleet.random) {
                bytes[Int.random(in: 0..<bytes.count, using: &fleet.random)] = UInt8.random(
                    in: 0...255,
                    using: &fleet.random
                )
            }
            if fleet.random.next() % 3 == 0 { bytes.removeLast(Int.random(in: 0...bytes.count, using: &fleet.random)) }
            guard let open = OpenSegment(bytes) else { continue }
            for offset in CycleRecord.offsets(of: open.bytes, from: OpenSegment.headerBytes) {
                _ = CycleRecord.read(open.bytes, at: offset)
                _ = CycleRecord.scheduleId(open.bytes, at: offset)
            }
        }
        let directory = try TemporaryDirectory()
        let ledger = try EventLedger.open(directory: directory.path, durability: .process, now: 1).ledger
        defer { try? ledger.close() }
        var changes = index.changes
        changes.put("open", [1, 2, 3])
        try ledger.checkpoint(projection: CycleIndex.name, at: .start, changes: changes, now: 1)
        #expect(try CycleIndex(ledger.reader) == nil)
    }

    /// What is compared of a cycle.
    struct Shown: Equatable {
        let text: String

        init(_ cycle: IndexedCycle) {
            var cycle = cycle
            cycle.verdict.attempts = min(cycle.verdict.attempts, 255)
            cycle.verdict.violations = cycle.verdict.violations.map {
                CycleViolation(kind: $0.kind, detail: String($0.detail.prefix(127)))
            }
            text = "\(cycle)"
        }
    }
}

extension CycleIndex {
    /// Adds cycles whose events named something.
    fileprivate mutating func add(
        _ cycles: [(ClosedCycle, CycleName?)],
        closedAt: Timestamp,
        groups: [EventGroup],
        at position: LedgerPosition
    ) {
        for (closed, name) in cycles {
            if let name, let schedule = closed.schedule { remember(name, of: schedule) }
            add([closed], closedAt: closedAt, groups: groups, at: position, halvings: 0)
        }
    }
}
