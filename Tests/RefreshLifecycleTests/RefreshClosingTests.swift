// SPDX-License-Identifier: Apache-2.0

import LifecycleState
import TelemetryEvents
import Testing

@testable import RefreshLifecycle

@Suite("Closing runs of the background refresh")
struct RefreshClosingTests {
    @Test("moments count at once, an outcome two seconds after its end, and violations when the run closes")
    func countingFollowsTheClock() throws {
        var fold = RefreshFold.keeping()
        try fold.apply(.run(89), at: 3)
        #expect(fold.totals.checks(isAvailable: false) == 1)
        #expect(fold.totals.notifications(.sent) == 1)
        #expect(fold.totals.schedules(.scheduled) == 1)
        #expect(fold.totals.runs(.completed) == 0)
        #expect(fold.openRuns == 1)
        #expect(!fold.hasTick(at: 4.9))
        #expect(fold.hasTick(at: 5))
        fold.tick(at: 5)
        #expect(fold.totals.runs(.completed) == 1)
        #expect(fold.totals.duration.count == 1)
        #expect(fold.openRuns == 0)
        #expect(fold.totals.violations(.notifiedTooSoon) == 0)
        #expect(!fold.hasTick(at: 15 * minutes))
        let closing = fold.violations(closingAt: .after(15 * minutes + 3))
        #expect(closing.flatMap { $0.violations.map(\.kind) } == [.notifiedTooSoon])
        #expect(fold.totals.violations(.notifiedTooSoon) == 0)
        fold.tick(at: 15 * minutes + 3)
        #expect(fold.totals.violations(.notifiedTooSoon) == 1)
        #expect(fold.takeClosedRuns() == closing)
        #expect(!fold.hasTick(at: 30 * days))
    }

    @Test("a run that told of no schedule stays open until one is overdue")
    func runWaitsForItsSchedule() throws {
        var fold = RefreshFold.keeping()
        try fold.apply([.started(0), .checked(1, 30), .completed(2)], at: 3)
        fold.tick(at: 4 * hours + 29 * minutes)
        #expect(fold.totals.violations(.nextNotScheduled) == 0)
        fold.tick(at: 4 * hours + 31 * minutes)
        #expect(fold.totals.violations(.nextNotScheduled) == 1)
    }

    @Test("a run without an end is open until it closes as incomplete")
    func incompleteRunCloses() throws {
        var fold = RefreshFold.keeping()
        try fold.apply([.started(0)])
        #expect(fold.openRuns == 1)
        fold.tick(at: 14 * minutes)
        #expect(fold.openRuns == 1)
        fold.tick(at: 15 * minutes)
        #expect(fold.openRuns == 0)
        #expect(fold.totals.runs(.incomplete) == 1)
        #expect(fold.totals.violations(.runNotEnded) == 1)
    }

    @Test("an event for a closed run counts its moment and judges nothing again")
    func lateEventJudgesNothing() throws {
        var fold = RefreshFold.keeping()
        try fold.apply([.started(0), .checked(1, 100), .completed(2), .scheduled(2)])
        fold.tick(at: hours)
        #expect(fold.totals.violations(.notNotified) == 1)
        try fold.apply([.sent(1)] + [.completed(2.3, true, took: 1.2), .sent(1.4)].analytics(), at: 2 * hours)
        fold.closeAll(from: 2 * hours)
        #expect(fold.totals.notifications(.sent) == 1)
        #expect(fold.totals.runs(.completed) == 1)
        #expect(fold.totals.violations(.notNotified) == 1)
        let effects = fold.takeEffects()
        #expect([effects.informational, effects.counted, effects.repeated] == [1, 4, 2])
    }

    @Test("an end that arrives after its run has counted as incomplete moves no counter, and its effect says so")
    func lateEndOfIncompleteRun() throws {
        var fold = RefreshFold.keeping()
        try fold.apply([.started(0), .checked(1, 10, false)])
        fold.closeAll(from: hours)
        #expect(fold.totals.runs(.incomplete) == 1)
        _ = fold.takeEffects()
        try fold.apply([.completed(2)], at: 2 * hours)
        fold.closeAll(from: 2 * hours)
        #expect(fold.totals.runs(.incomplete) == 1 && fold.totals.runs(.completed) == 0)
        let effects = fold.takeEffects()
        #expect([effects.informational, effects.counted, effects.repeated] == [0, 0, 1])
    }

    @Test("an older run that arrives after a newer one was closed is judged by itself")
    func olderRunIsJudgedLater() throws {
        var fold = RefreshFold.keeping()
        try fold.apply(.run(at: 5 * hours), at: 5 * hours)
        fold.tick(at: 6 * hours)
        try fold.apply([Told.started(0)], at: 6 * hours)
        fold.closeAll(from: 6 * hours)
        #expect(fold.totals.runs(.completed) == 1)
        #expect(fold.totals.runs(.incomplete) == 1)
        #expect(fold.totals.violations(.runNotEnded) == 1)
    }

    @Test("a tick sets a false clock back, and runs close by the true one")
    func clockIsSetBack() throws {
        var fold = RefreshFold.keeping()
        try fold.apply(.quiet(), at: 30 * days)
        #expect(fold.hasTick(at: 10))
        fold.tick(at: 10)
        #expect(fold.clock == .after(10))
        fold.tick(at: 20 * minutes)
        #expect(fold.totals.runs(.completed) == 1)
        #expect(fold.takeClosedRuns().count == 1)
    }

    @Test("in a month of runs of one installation only those of the last hours are kept")
    func stateOfAnInstallationIsBounded() throws {
        var fold = RefreshFold.keeping()
        for run in 0..<180 {
            let time = Double(run) * 4.2 * hours
            try fold.apply(.quiet(at: time), at: time + 3)
            fold.tick(at: time + 10)
            fold.tick(at: time + 20 * minutes)
            #expect(fold.installations.factCount <= 12)
        }
        #expect(fold.totals.runs(.completed) == 180)
        #expect(RefreshViolationKind.allCases.allSatisfy { fold.totals.violations($0) == 0 })
        #expect(fold.totals.evictedRuns == 0)
    }

    @Test("what was forgotten still speaks for and against later runs")
    func forgottenRunsCountForRules() throws {
        var fold = RefreshFold.keeping()
        try fold.apply(.run())
        fold.tick(at: hours)
        for run in 1...20 {
            try fold.apply(.quiet(at: Double(run) * 5 * hours), at: Double(run) * 5 * hours)
            fold.tick(at: Double(run) * 5 * hours + hours)
        }
        try fold.apply(.run(at: 89 * days), at: 89 * days)
        fold.tick(at: 90 * days)
        #expect(fold.totals.violations(.notifiedAgain) == 1)
    }

    @Test("what a forgotten skip told of the last notification speaks against the next one, over a restart too")
    func forgottenSkipCounts() throws {
        var fold = RefreshFold.keeping()
        try fold.apply([.started(0), .checked(1, 100), .alreadyNotified(1, 10), .completed(2), .scheduled(2)])
        for run in 1...4 {
            try fold.apply(.quiet(at: Double(run) * 5 * hours), at: Double(run) * 5 * hours)
            fold.tick(at: Double(run) * 5 * hours + hours)
        }
        var store = RefreshStore()
        store.save(fold.takeChanges())
        var restored = try store.restore()
        try restored.apply(.run(at: 70 * days), at: 70 * days)
        restored.tick(at: 71 * days)
        #expect(restored.totals.violations(.notifiedAgain) == 1)
    }

    @Test("the log of a month that arrives at once is read like one that arrives as it was written")
    func manyRunsAtOnce() throws {
        var limits = RefreshLifecycleLimits()
        limits.factsPerInstallation = 64
        var fold = RefreshFold.keeping(limits)
        let events = (0..<180).flatMap { [Told].quiet(at: Double($0) * 4.2 * hours) }
        try fold.apply(events, at: 40 * days)
        fold.closeAll(from: 40 * days)
        #expect(fold.totals.runs(.completed) == 180)
        #expect(fold.totals.duration.count == 180)
        #expect(RefreshViolationKind.allCases.allSatisfy { fold.totals.violations($0) == 0 })
        #expect(fold.totals.evictedRuns > 0)
        #expect(fold.takeClosedRuns().count == 180)
    }

    @Test("a file holds all runs until its end, in any order")
    func filesHoldAllRuns() throws {
        let events = (0..<400).flatMap { [Told].quiet(at: Double($0) * 4.2 * hours) }
        for order in [events, events.reversed()] {
            var fold = RefreshFold(keepsClosedRuns: true, isReceiver: false)
            try fold.apply(order)
            #expect(fold.installations.factCount == 1_600)
            fold.finish()
            #expect(fold.totals.runs(.completed) == 400)
            #expect(fold.totals.evictedRuns == 0)
            #expect(fold.takeClosedRuns().allSatisfy { $0.violations.isEmpty })
        }
    }

    @Test("a start every millisecond of one device is bounded and counted")
    func startsEveryMillisecond() throws {
        var limits = RefreshLifecycleLimits()
        limits.factsPerInstallation = 64
        var fold = RefreshFold.keeping(limits)
        for batch in 0..<20 {
            try fold.apply((0..<500).map { .started(Double(batch * 500 + $0) / 1_000) }, at: Double(batch))
            #expect(fold.installations.factCount <= 64)
            #expect(fold.openRuns <= 64)
        }
        fold.closeAll(from: 20)
        #expect(fold.totals.runs(.incomplete) == 10_000)
        #expect(fold.totals.violations(.runNotEnded) == 10_000)
        #expect(fold.totals.evictedRuns > 9_000)
    }

    @Test("past their limit, the installation that was added first is closed and forgotten")
    func installationsAreBounded() throws {
        var limits = RefreshLifecycleLimits()
        limits.installations = 10
        limits.facts = 30
        var fold = RefreshFold.keeping(limits)
        for device in 1...100 { try fold.apply([Told].run().of(UInt64(device))) }
        #expect(fold.knownInstallations == 10)
        #expect(fold.installations.factCount <= 30)
        fold.closeAll()
        #expect(fold.totals.runs(.completed) == 100)
        #expect(fold.totals.evictedInstallations == 90)
        #expect(fold.totals.evictedRuns >= 90)
        #expect(fold.openRuns == 0)
    }

    @Test("numbers that only a damaged ledger can hold stop nothing")
    func damagedNumbers() throws {
        var fold = RefreshFold.keeping()
        for number in [Int64.max, .min, -1] {
            try fold.apply([
                .started(0), .checked(1, number), .alreadyNotified(1, number),
                Told(kind: .refreshCompleted, seconds: 2, truth: true, number: number),
            ])
            fold.closeAll()
        }
        #expect(fold.totals.runs(.completed) == 1)
        #expect(fold.openRuns == 0)
    }

    @Test("a damaged record is an error, and the events before it are folded")
    func damagedRecord() throws {
        var fold = RefreshFold.keeping()
        let bytes = [Told].run().records + [0xFF, 1, 2]
        #expect(throws: EventRecordError.self) { try fold.apply(bytes.span, receivedAt: start) }
        fold.closeAll()
        #expect(fold.totals.runs(.completed) == 1)
    }
}

@Suite("Checkpoints of the background refresh")
struct RefreshCheckpointTests {
    @Test("a fold that is restored in the middle goes on as if it had never stopped")
    func restoredFoldGoesOn() throws {
        let events = (0..<30).flatMap { [Told].run(100, at: Double($0) * 3.5 * hours).of(UInt64($0 % 3 + 1)) }
        var whole = RefreshFold.keeping()
        var parts = RefreshFold.keeping()
        var store = RefreshStore()
        for (index, told) in events.enumerated() {
            try whole.apply([told], at: told.seconds)
            try parts.apply([told], at: told.seconds)
            whole.tick(at: told.seconds + 2.5)
            parts.tick(at: told.seconds + 2.5)
            if index % 7 == 3 {
                let bound = parts.checkpointBytes
                let delta = parts.takeChanges()
                #expect(delta.pages.reduce(0) { $0 + $1.value.count } <= bound)
                store.save(delta)
                parts = try store.restore()
                #expect(parts.totals == whole.totals)
                #expect(parts.openRuns == whole.openRuns)
            }
        }
        whole.closeAll(from: 120 * hours)
        parts.closeAll(from: 120 * hours)
        #expect(parts.totals == whole.totals)
        #expect(whole.totals.runs(.completed) == 30)
        #expect(whole.totals.violations(.notifiedAgain) == 27)
    }

    @Test("a checkpoint has only pages that changed")
    func onlyChangedPages() throws {
        var fold = RefreshFold.keeping()
        for device in 1...600 { try fold.apply([Told].run().of(UInt64(device))) }
        #expect(fold.takeChanges().pages.count == 4)
        #expect(fold.takeChanges().pages.count == 1)
        try fold.apply([Told.started(3).of(600)])
        let pages = fold.takeChanges().pages
        #expect(pages.count == 2)
        #expect(pages.allSatisfy(RefreshFold.holds))
    }

    @Test("pages of a newer version, of another name, or cut short are refused")
    func unreadablePages() throws {
        var fold = RefreshFold.keeping()
        try fold.apply(.run())
        for page in fold.takeChanges().pages {
            var damaged = page
            damaged.value.removeLast()
            #expect(throws: StateError.self) {
                var restored = RefreshFold.keeping()
                try restored.restore(damaged)
            }
            guard page.key == "refresh-totals" else { continue }
            damaged.value = [9] + page.value.dropFirst()
            #expect(throws: StateError.self) {
                var restored = RefreshFold.keeping()
                try restored.restore(damaged)
            }
        }
        #expect(throws: StateError.self) {
            var restored = RefreshFold.keeping()
            try restored.restore(StatePage(key: "refresh-other", value: []))
        }
    }
}
