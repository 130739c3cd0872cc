// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import TestSupport
import Testing

@testable import PrefetchLifecycle

/// Which orders give the same counts, where client counters are among the events.
///
/// A snapshot includes everything until its time, so earlier events may arrive before it, after it, twice or never, in any
/// order. Only a later event that overtakes the snapshot hides a loss, until the next snapshot; nothing counts twice. A
/// failure may count under another reason, because a late failure cannot be distinguished from a lost one.
@Suite("Random histories with client counters")
struct ClientHistoryTests {
    /// scheduled, executed, success, used, and the failures by reason or all of them.
    static func counts(_ totals: LifecycleTotals, namesReasons: Bool) -> [UInt64] {
        let failures = FailureReason.allCases.map { totals.failure($0) }
        let stages = [totals.scheduled, totals.executed, totals.success, totals.used]
        return stages + (namesReasons ? failures : [failures.reduce(0, +)])
    }

    static func counts(_ truth: [UInt64], namesReasons: Bool) -> [UInt64] {
        namesReasons ? truth : Array(truth[..<4]) + [truth[4...].reduce(0, +)]
    }

    struct Setting: CustomTestStringConvertible, Sendable {
        let seed: UInt64
        let namesReasons: Bool
        var testDescription: String { "seed \(seed), \(namesReasons ? "with reasons" : "in any form")" }
    }

    static let settings = (0..<12 as Range<UInt64>).flatMap {
        [Setting(seed: $0, namesReasons: true), Setting(seed: $0, namesReasons: false)]
    }

    @Test(
        "random client histories count what the last snapshot included and the later events, unless overtaken",
        arguments: settings
    )
    func totalsMatchTheLastSnapshotAndLaterEvents(setting: Setting) throws {
        let history = ClientHistory(seed: setting.seed, namesReasons: setting.namesReasons)
        var random = SplitMix64(seed: setting.seed + 5_000)
        for _ in 0..<10 {
            var later: [TestEvent] = []
            var batches: [[TestEvent]] = []
            var expected = [UInt64](repeating: 0, count: StageTally.count)
            for (index, step) in history.steps.enumerated() {
                if step.isSnapshot {
                    later.shuffle(using: &random)
                    let before = Int.random(in: 0...later.count, using: &random)
                    batches += [Array(later[..<before]), [step.told]]
                    later.removeFirst(before)
                    expected = history.truths[index]
                } else if Int.random(in: 0..<3, using: &random) > 0 {
                    later.append(step.told)
                    let previous = index > 0 ? history.truths[index - 1] : Array(repeating: 0, count: StageTally.count)
                    for place in expected.indices { expected[place] += history.truths[index][place] - previous[place] }
                }
            }
            batches.append(later.shuffled(using: &random))
            let fold = try Self.folded(batches, &random)
            #expect(
                Self.counts(fold.totals, namesReasons: setting.namesReasons)
                    == Self.counts(expected, namesReasons: setting.namesReasons)
            )
        }
    }

    @Test(
        "random client histories in any order never overcount, and are exact after a last snapshot",
        arguments: settings
    )
    func clientHistoryNeverCountsMoreThanHappened(setting: Setting) throws {
        let history = ClientHistory(seed: setting.seed, namesReasons: setting.namesReasons)
        let truth = Self.counts(history.truths[history.truths.count - 1], namesReasons: false)
        var random = SplitMix64(seed: setting.seed + 6_000)
        for _ in 0..<10 {
            let told = history.steps.map(\.told).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            var fold = try Self.folded(told.shuffled(using: &random).map { [$0] }, &random)
            let counts = Self.counts(fold.totals, namesReasons: false)
            #expect(!zip(counts, truth).contains { $0 > $1 })
            let last = ClientHistory.snapshot(100, history.truths[history.truths.count - 1], form: 1)
            try fold.accept([last])
            #expect(Self.counts(fold.totals, namesReasons: false) == truth)
            try fold.accept(history.steps.map(\.told).shuffled(using: &random))
            #expect(Self.counts(fold.totals, namesReasons: false) == truth)
        }
    }

    /// Folds the batches with repeated events and checkpoints between, and checks that no counter decreases.
    static func folded(_ batches: [[TestEvent]], _ random: inout SplitMix64) throws -> LifecycleFold {
        var fold = LifecycleFold.keeping()
        var store = CheckpointStore()
        var before = fold.totals.words
        var past: [TestEvent] = []
        for batch in batches {
            past += batch
            try fold.accept(batch + past.filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
            let now = fold.totals.words
            #expect(!zip(before, now).contains { $0 > $1 })
            before = now
            guard Int.random(in: 0..<6, using: &random) == 0 else { continue }
            store.save(fold.takeChanges())
            fold = try store.restore()
            #expect(fold.totals.words == now)
        }
        return fold
    }
}

/// A random history of an installation with client counters: events, each of its own cycle, and snapshots of the counts so
/// far, with failures by reason, as a sum or both.
struct ClientHistory {
    enum Step {
        case event(TestEvent)
        case snapshot(TestEvent)

        var told: TestEvent {
            switch self {
            case .event(let told), .snapshot(let told): told
            }
        }

        var isSnapshot: Bool { if case .snapshot = self { true } else { false } }
    }

    private(set) var steps: [Step] = []
    /// The true counts after each step, indexed like `StageTally`.
    private(set) var truths: [[UInt64]] = []

    init(seed: UInt64, namesReasons: Bool) {
        var random = SplitMix64(seed: seed)
        var truth = [UInt64](repeating: 0, count: StageTally.count)
        for second in 0..<Int.random(in: 5...40, using: &random) {
            let time = Double(second)
            if Int.random(in: 0..<5, using: &random) == 0 {
                let form = namesReasons ? 1 : Int.random(in: 0..<3, using: &random)
                steps.append(.snapshot(Self.snapshot(time, truth, form: form)))
            } else {
                let place = Int.random(in: 0..<StageTally.otherFailure, using: &random)
                truth[place] += 1
                steps.append(.event(Self.event(time, place)))
            }
            truths.append(truth)
        }
    }

    static func snapshot(_ time: Double, _ truth: [UInt64], form: Int) -> TestEvent {
        var counters: [(ClientCounter, UInt64)] = [
            (.scheduled, truth[0]), (.executed, truth[1]), (.success, truth[2]), (.used, truth[3]),
        ]
        if form != 0 {
            counters += [(.failureNetwork, truth[4]), (.failureAuth, truth[5]), (.failureSystem, truth[6])]
        }
        if form != 1 { counters.append((.failure, truth[4...].reduce(0, +))) }
        return counters.reduce(TestEvent(.telemetrySnapshot, time, id: nil)) { $0.reporting($1.0, $1.1) }.of(1)
    }

    private static func event(_ time: Double, _ place: Int) -> TestEvent {
        let kinds: [EventKind] = [
            .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchUsedForNotification,
        ]
        let id = "at \(time)"
        guard place >= StageTally.failures else { return TestEvent(kinds[place], time, id: id).of(1) }
        let reasons: [FailureReason] = [.network, .auth, .system]
        return TestEvent(.prefetchFailure, time, id: id).reason(reasons[place - StageTally.failures]).of(1)
    }
}
