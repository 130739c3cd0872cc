// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PrefetchLifecycle
@testable import TelemetryEvents

@Suite("Warped time")
struct WarpedTimeTests {
    static func warp(_ second: Double, minutes: Int64) -> TestEvent {
        TestEvent(.timeWarped, second, id: nil).with { $0.minutes = minutes }
    }

    /// A cycle that a test runs an hour early, by the warped clock in time.
    static func early(by seconds: Double = 3_600) -> [TestEvent] {
        [
            TestEvent(.prefetchScheduled, 0, due: 4_500).begins(4_200),
            TestEvent(.prefetchExecuted, 4_260 - seconds), TestEvent(.prefetchSuccess, 4_262 - seconds).ttl(300),
            TestEvent(.prefetchCompleted, 4_263 - seconds), TestEvent(.prefetchUsedForNotification, 4_501 - seconds),
            TestEvent(.notificationDelivered, 4_502 - seconds),
        ]
    }

    @Test("a cycle under a warped clock breaks no rule about planned times, is marked and in no histogram")
    func warpedCycleIsJudgedByTheWarpedClock() throws {
        let plain = try #require(try LifecycleFold.judged(Self.early()).first)
        #expect(plain.broken == [.driftExceeded] && !plain.isTimeWarped)
        var random = SplitMix64(seed: 1)
        for _ in 0..<20 {
            var fold = LifecycleFold.keeping()
            try fold.apply((Self.early() + [Self.warp(60, minutes: 60)]).shuffled(using: &random))
            fold.finish()
            let warped = try #require(fold.takeClosedCycles().first)
            #expect(warped.broken == [] && warped.isTimeWarped)
            #expect(warped.stages == plain.stages)
            #expect(fold.totals.driftExceeded == 0)
            #expect(fold.totals.startDelay.count == 0 && fold.totals.drift.count == 0)
            #expect(fold.totals.contentAge.count == 0 && fold.totals.fetchDuration.count == 0)
            #expect(fold.totals.stages == [1, 1, 1, 0, 0, 0, 0, 1])
        }
    }

    @Test("the rules about planned times hold at their limits by the warped clock")
    func limitsHoldByTheWarpedClock() throws {
        func broken(_ events: [TestEvent]) throws -> [ViolationKind] {
            try #require(try LifecycleFold.judged(events + [Self.warp(60, minutes: 60)]).first).broken
        }
        func cycle(executed: Double, delivered: Double) -> [TestEvent] {
            [
                TestEvent(.prefetchScheduled, 0, due: 9_000).begins(4_200).with { $0.minutes = 80 },
                TestEvent(.prefetchExecuted, executed),
                TestEvent(.prefetchSuccess, executed + 1), TestEvent(.notificationDelivered, delivered),
            ]
        }
        #expect(try broken(cycle(executed: 1_500, delivered: 5_580)) == [])
        #expect(try broken(cycle(executed: 1_500.001, delivered: 5_580)) == [.missedWindow])
        #expect(try broken(cycle(executed: 1_500, delivered: 5_580.001)) == [.driftExceeded])
        // A submission under the warped clock: 60 s before its begin by that clock.
        let submitted = TestEvent(.prefetchScheduled, 600, due: 9_000).with { $0.minutes = 79 }
        #expect(try broken([submitted.begins(4_260), TestEvent(.prefetchMissed, 601)]) == [.missedWindow])
        #expect(
            try broken([submitted.begins(4_259), TestEvent(.prefetchMissed, 601)]) == [
                .leadBelowMinimum, .missedWindow,
            ]
        )
    }

    @Test("a delivery that is late by the warped clock counts as a drift, in every order")
    func driftByTheWarpedClockCounts() throws {
        var random = SplitMix64(seed: 2)
        for (seconds, drifted) in [(3_600, 0), (3_420, 1), (0, 1)] as [(Double, UInt64)] {
            for _ in 0..<10 {
                var fold = LifecycleFold.keeping()
                try fold.apply((Self.early(by: seconds) + [Self.warp(60, minutes: 60)]).shuffled(using: &random))
                fold.finish()
                let broken = try #require(fold.takeClosedCycles().first).broken
                #expect(fold.totals.driftExceeded == drifted)
                #expect(broken.contains(.driftExceeded) == (drifted == 1))
            }
        }
    }

    @Test("a warp between fetch and use ages the content")
    func warpAgesTheContent() throws {
        let events = ViolationTests.cycle().map { $0.event.kind == .prefetchSuccess ? $0.ttl(3_600) : $0 }
        for (minutes, isStale) in [(51, false), (52, true)] as [(Int64, Bool)] {
            let cycle = try #require(try LifecycleFold.judged(events + [Self.warp(500, minutes: minutes)]).first)
            #expect(cycle.broken.contains(.staleContentUsed) == isStale)
        }
    }

    @Test("a warp holds until the next one, or until the app starts again")
    func warpHoldsUntilTheNext() throws {
        func broken(_ more: TestEvent) throws -> [ViolationKind] {
            let events = Self.early() + [Self.warp(60, minutes: 30), more]
            return try #require(try LifecycleFold.judged(events).first).broken
        }
        #expect(try broken(Self.warp(61, minutes: 60)) == [])
        #expect(try broken(Self.warp(61, minutes: 0)) == [.driftExceeded])
        #expect(try broken(LaunchRows.launch(61, pending: true)) == [.driftExceeded])
        #expect(try broken(LaunchRows.launch(61, pending: nil)) == [.driftExceeded])
    }

    @Test("more warps and cancellations than are remembered accuse nothing", arguments: [15, 16, 40])
    func forgottenWarpsAccuseNothing(count: Int) throws {
        let warps = [Self.warp(60, minutes: 60)] + (0..<count).map { Self.warp(9_000 + Double($0), minutes: 60) }
        let warped = try #require(try LifecycleFold.judged(Self.early() + warps).first)
        #expect(warped.broken == [] && warped.isTimeWarped)
        let cancelled = (0..<count).map { LaunchRows.cancelled(9_000 + Double($0)) }
        let tasks = AcrossCycles.tasks(second: 60, LaunchRows.cancelled(30)) + cancelled
        #expect(try LifecycleFold.judged(tasks).allSatisfy { !$0.broken.contains(.secondActiveTask) })
    }

    @Test("a clock warped far, in either direction, is judged without harm", arguments: [Int64.min, -5_256_000, .max])
    func farWarpIsJudged(minutes: Int64) throws {
        let cycle = try #require(try LifecycleFold.judged(Self.early() + [Self.warp(60, minutes: minutes)]).first)
        #expect(cycle.isTimeWarped && cycle.outcome == .used)
    }

    @Test("a warp of another installation changes nothing")
    func warpOfAnotherInstallationChangesNothing() throws {
        let cycles = try LifecycleFold.judged(Self.early().map { $0.of(1) } + [Self.warp(60, minutes: 60).of(2)])
        #expect(cycles.map(\.broken) == [[.driftExceeded]])
    }

    @Test("a cancelled task has not missed its window, and its cycle is incomplete")
    func cancelledTaskIsNotMissed() throws {
        for (id, isCancelled) in [(nil, true), ("a", true), ("b", false)] as [(String?, Bool)] {
            let events = LaunchRows.waiting + [LaunchRows.cancelled(60, id: id), LaunchRows.later(9_000)]
            let cycle = try #require(try LifecycleFold.judged(events).first)
            #expect(cycle.broken == (isCancelled ? [] : [.missedWindow]))
            #expect(cycle.outcome == (isCancelled ? .incomplete : .missed))
        }
    }
}

@Suite("Pending notifications")
struct PendingNotificationsTests {
    @Test("pending notifications are summed up over installations, and forgotten 48 hours after the last word")
    func windowsAreSummedUpAndForgotten() throws {
        var fold = LifecycleFold.keeping()
        let window = LaunchRows.window
        try fold.accept([window(0, 58, 64).of(1), window(0, 57, 64).of(2)], at: 0)
        try fold.accept([window(5, 9, nil).of(3).from("android", nil)], at: 3_600)
        #expect(fold.pendingNotifications == sums(124, 128, near: 1))
        // An older word changes nothing; a newer one takes its place.
        try fold.accept([window(-5, 1, 64).of(1), window(6, 2, 64).of(2)], at: 7_200)
        #expect(fold.pendingNotifications == sums(69, 128, near: 1))
        var store = CheckpointStore()
        store.save(fold.takeChanges())
        var restored = try store.restore()
        #expect(restored.pendingNotifications == sums(69, 128, near: 1))
        let days = 2 * 86_400.0
        for isRestored in [false, true] {
            func tick(_ second: Double) -> Bool {
                let isDue = isRestored ? restored.isTickDue(at: .after(second)) : fold.isTickDue(at: .after(second))
                if isRestored { restored.tick(to: .after(second)) } else { fold.tick(to: .after(second)) }
                return isDue
            }
            func told() -> PendingNotifications {
                isRestored ? restored.pendingNotifications : fold.pendingNotifications
            }
            #expect(!tick(days + 3_600) && told() == sums(69, 128, near: 1))
            #expect(tick(days + 3_601) && told() == sums(60, 128, near: 1))
            #expect(tick(days + 7_201) && told() == sums(0, 0, near: 0))
        }
    }

    @Test("in a file pending notifications are forgotten by the time of its events, in any order")
    func windowsOfAFile() throws {
        let told = [
            LaunchRows.window(0, pending: 58, limit: 64).of(1), LaunchRows.window(3_600, pending: 9, limit: 64).of(2),
            LaunchRows.later(2 * 86_400 + 1).of(3),
        ]
        for events in [told, told.reversed()] {
            var fold = Reading.file()
            try fold.apply(events, at: 1e9)
            fold.finish()
            #expect(fold.pendingNotifications == sums(9, 64, near: 0))
        }
    }

    @Test("pending notifications are remembered of 100,000 installations")
    func windowsAreLimited() throws {
        var windows = RollingWindows()
        var window = RollingWindow()
        window.pending = 1
        for fingerprint in 1...UInt64(RollingWindows.limit) + 10 {
            let time = Timestamp.after(Double(fingerprint) / 1_000)
            windows.record(window, of: fingerprint, at: time, seen: time)
        }
        #expect(windows.sums.pending == UInt64(RollingWindows.limit))
    }

    private func sums(_ pending: UInt64, _ limit: UInt64, near: UInt64) -> PendingNotifications {
        var sums = PendingNotifications()
        sums.pending = pending
        sums.limit = limit
        sums.nearLimit = near
        return sums
    }
}
