// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

/// Which orders come to the same, where a client's own counters are among the events.
///
/// A snapshot is told of everything until its time. So events that happened before it may come before it, after it, twice
/// or never, in any order. Only where an event that happened later comes before the snapshot is a loss that the snapshot
/// tells of hidden, until the next one tells of it again; nothing is ever counted twice. A failure may stand under another
/// reason then, since one that is late cannot be told from one that was lost.
@Suite("Histories of chance with a client's own counters")
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

    static let settings = (0..<25 as Range<UInt64>).flatMap {
        [Setting(seed: $0, namesReasons: true), Setting(seed: $0, namesReasons: false)]
    }

    @Test("come to what the last snapshot told and what came of later, unless overtaken", arguments: settings)
    func inOrder(setting: Setting) throws {
        let history = ClientHistory(seed: setting.seed, namesReasons: setting.namesReasons)
        var random = SplitMix64(state: setting.seed + 5_000)
        for _ in 0..<10 {
            var later: [Told] = []
            var batches: [[Told]] = []
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
        "in any order never count more than happened, and exactly that once a last snapshot tells",
        arguments: settings
    )
    func anyOrder(setting: Setting) throws {
        let history = ClientHistory(seed: setting.seed, namesReasons: setting.namesReasons)
        let truth = Self.counts(history.truths[history.truths.count - 1], namesReasons: false)
        var random = SplitMix64(state: setting.seed + 6_000)
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

    /// A fold of the batches, with events told again and checkpoints between, in which no counter ever falls.
    static func folded(_ batches: [[Told]], _ random: inout SplitMix64) throws -> LifecycleFold {
        var fold = LifecycleFold.keeping()
        var store = CheckpointTests.Store()
        var before = fold.totals.words
        var past: [Told] = []
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

/// What happens to an installation that counts itself, by chance: events of cycles of their own, and snapshots of what it
/// has counted until then, by reason, by their sum or both.
struct ClientHistory {
    enum Step {
        case event(Told)
        case snapshot(Told)

        var told: Told {
            switch self {
            case .event(let told), .snapshot(let told): told
            }
        }

        var isSnapshot: Bool { if case .snapshot = self { true } else { false } }
    }

    private(set) var steps: [Step] = []
    /// How often everything has happened after each step, by the places of `StageTally`.
    private(set) var truths: [[UInt64]] = []

    init(seed: UInt64, namesReasons: Bool) {
        var random = SplitMix64(state: seed)
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

    static func snapshot(_ time: Double, _ truth: [UInt64], form: Int) -> Told {
        var counters: [(ClientCounter, UInt64)] = [
            (.scheduled, truth[0]), (.executed, truth[1]), (.success, truth[2]), (.used, truth[3]),
        ]
        if form != 0 {
            counters += [(.failureNetwork, truth[4]), (.failureAuth, truth[5]), (.failureSystem, truth[6])]
        }
        if form != 1 { counters.append((.failure, truth[4...].reduce(0, +))) }
        return counters.reduce(Told(.telemetrySnapshot, time, id: nil)) { $0.telling($1.0, $1.1) }.of(1)
    }

    private static func event(_ time: Double, _ place: Int) -> Told {
        let kinds: [EventKind] = [
            .prefetchScheduled, .prefetchExecuted, .prefetchSuccess, .prefetchUsedForNotification,
        ]
        let id = "at \(time)"
        guard place >= StageTally.failures else { return Told(kinds[place], time, id: id).of(1) }
        let reasons: [FailureReason] = [.network, .auth, .system]
        return Told(.prefetchFailure, time, id: id).reason(reasons[place - StageTally.failures]).of(1)
    }
}
