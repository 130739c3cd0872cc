// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("What a device is and tells")
struct DeviceTests {
    static func refused(_ simulator: Bool?) -> TestEvent {
        TestEvent(.prefetchScheduleFailed, 0, due: 900).with { $0.isSimulator = simulator }
    }

    @Test("a task that a device refuses is the cycle's failure, unless it is executed")
    func refusedTaskFails() throws {
        let delivered = [TestEvent(.contentMissing, 900), TestEvent(.notificationDelivered, 901)]
        let rows: [(simulator: Bool?, rest: [TestEvent], outcome: [CycleOutcome], failures: UInt64)] = [
            (false, [], [.failed], 1), (true, [], [.incomplete], 0), (nil, [], [.incomplete], 0),
            (false, delivered, [.fallback], 1),
            (false, ViolationTests.cycle(), [.used], 0), (true, delivered, [.fallback], 0),
        ]
        for row in rows {
            var fold = LifecycleFold.keeping()
            try fold.apply([Self.refused(row.simulator)] + row.rest)
            fold.finish()
            let cycles = fold.takeClosedCycles()
            #expect(cycles.map(\.outcome) == row.outcome)
            #expect(cycles.flatMap(\.broken) == [])
            #expect(fold.totals.failureSystem == row.failures)
            #expect(cycles.compactMap(\.failureReason) == (row.failures > 0 ? [.system] : []))
        }
    }

    @Test("a delivery drifts by 60 s on Android and beyond 180 s elsewhere", arguments: ["android", "ios", nil])
    func driftByPlatform(platform: String?) throws {
        let rows = platform == "android" ? [(59.999, false), (60, true)] : [(180.0, false), (180.001, true)]
        for (late, isBroken) in rows {
            let events = ViolationTests.cycle(used: 900, delivered: 900 + late).map { $0.from(platform, nil) }
            let cycle = try #require(try LifecycleFold.judged(events).first)
            #expect(cycle.broken == (isBroken ? [.driftExceeded] : []))
        }
    }

    @Test("storage that is told to fail by two lines within 5 s fails once")
    func storageIsToldOnce() throws {
        func failures(_ events: [TestEvent]) throws -> UInt64 {
            var fold = LifecycleFold.keeping()
            try fold.apply(events)
            return fold.totals.cacheFailures
        }
        func write(_ second: Double) -> TestEvent { TestEvent(.contentCacheFailed, second).failing("disk_full") }
        func storage(_ second: Double) -> TestEvent { TestEvent(.contentCacheFailed, second).reason(.system) }
        #expect(try failures([write(0), storage(5)]) == 1)
        #expect(try failures([storage(5), write(0)]) == 1)
        #expect(try failures([write(0), storage(5.001)]) == 2)
        #expect(try failures([write(0), write(1)]) == 2)
        #expect(try failures([write(0), storage(1), write(2), storage(3)]) == 2)
        #expect(try failures([write(0).of(1), storage(1).of(2)]) == 2)
    }

    @Test("in a file, an event that counts by itself counts once however often it is repeated")
    func repeatedEventsCountOnce() throws {
        var fold = Reading.file()
        let call = TestEvent(.apiCall, 3, id: nil).with { $0.isConditional = true }
        let error = TestEvent(.pluginError, 0, id: nil)
        let events = [
            error.failing("scheduling_failed"), error.failing("scheduling_failed"),
            error.failing("invalid_time_format"),
            call, call, TestEvent(.leadCapped, 1), TestEvent(.leadCapped, 1), TestEvent(.leadCapped, 2),
        ]
        try fold.apply(events)
        #expect(fold.totals.pluginErrors(.schedulingFailed) == 1 && fold.totals.pluginErrors(.invalidTimeFormat) == 1)
        #expect(fold.totals.leadCapped == 2)
        #expect(fold.totals.increments == 5)
    }

    @Test("an error of the plugin that tells of a denial is one")
    func errorDenies() throws {
        let denied = TestEvent(.pluginError, -10, id: nil).failing("notifications_denied")
        let cycle = try #require(try LifecycleFold.judged([denied] + ViolationTests.cycle()).first)
        #expect(cycle.broken == [.scheduledWhileDenied])
    }

    @Test("a begin long before its submission is not held against the lead")
    func cutBeginIsNoOtherLead() throws {
        for begins in [-8_190.0, -8_191, -9_000, -31_536_000] {
            let events = [TestEvent(.prefetchScheduled, 0, due: begins + 300).begins(begins)]
            let cycle = try #require(try LifecycleFold.judged(events).first)
            #expect(!cycle.broken.contains(.leadDiffers))
        }
    }

    @Test("each fallback has the cause that the cycle tells of")
    func fallbackCauses() throws {
        let scheduled = TestEvent(.prefetchScheduled, 0, due: 900).begins(600)
        let fetched = [scheduled, TestEvent(.prefetchExecuted, 600), TestEvent(.prefetchSuccess, 602).ttl(298)]
        let missing = [TestEvent(.contentMissing, 900), TestEvent(.notificationDelivered, 901)]
        let rows: [(FallbackCause, [TestEvent])] = [
            (.notExecuted, [scheduled]),
            (
                .fetchFailed,
                [scheduled, TestEvent(.prefetchExecuted, 600), TestEvent(.prefetchFailure, 601).reason(.auth)]
            ),
            (.unknown, [scheduled, TestEvent(.prefetchExecuted, 600), TestEvent(.prefetchCompleted, 601)]),
            (
                .contentLost,
                [
                    scheduled, TestEvent(.prefetchExecuted, 600),
                    TestEvent(.prefetchFailure, 601).reason(.network).retried(),
                    TestEvent(.prefetchCompleted, 602),
                ]
            ),
            (.contentLost, fetched), (.contentLost, fetched + [TestEvent(.contentCached, 603)]),
            (.expiredContent, fetched.map { $0.event.kind == .prefetchSuccess ? $0.ttl(297) : $0 }),
        ]
        for (cause, events) in rows {
            var fold = LifecycleFold.keeping()
            try fold.apply(events + missing)
            fold.finish()
            #expect(FallbackCause.allCases.filter { fold.totals.fallbacks($0) > 0 } == [cause])
            #expect(fold.totals.fallbacks(cause) == 1 && fold.totals.fallbacks == 1)
        }
    }
}
