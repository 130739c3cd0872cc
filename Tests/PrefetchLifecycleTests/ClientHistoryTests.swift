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
