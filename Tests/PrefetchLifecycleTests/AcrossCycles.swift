// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// The rules across cycles.
enum AcrossCycles {
    static let hour = 3_600.0
    static let day = 86_400.0

    /// Two tasks for two days; what happens between their schedulings is given.
    static func tasks(second: Double, _ between: TestEvent...) -> [TestEvent] {
        [TestEvent(.prefetchScheduled, 0, id: "one", due: day)] + between
            + [TestEvent(.prefetchScheduled, second, id: "two", due: 2 * day)]
    }

    /// Content that one cycle fetches 11 s after 0 and the next one uses 1,989 s later, since its own fetch fails. The handler
    /// schedules the next task, as the guide asks.
    static func reused(ttl: Int64, cached: String = "aa", used: String = "aa") -> [TestEvent] {
        [
            TestEvent(.prefetchScheduled, 0, id: "one", due: 900), TestEvent(.prefetchExecuted, 10, id: "one"),
            TestEvent(.prefetchScheduled, 10, id: "two", due: 2_000),
            TestEvent(.prefetchSuccess, 11, id: "one").ttl(ttl).content(cached),
            TestEvent(.prefetchExecuted, 1_990, id: "two"),
            TestEvent(.prefetchFailure, 1_991, id: "two").reason(.network),
            TestEvent(.prefetchUsedForNotification, 2_000, id: "two").aged(1_989).content(used),
        ]
    }

    static let rows = [
        ViolationTests.Row(
            .usedWithoutSuccess,
            "content of an earlier cycle",
            "no successful fetch was seen",
            broken: reused(ttl: 3_600).map { told in
                told.event.kind == .prefetchSuccess ? told.with { $0.timestamp = .after(211) } : told
            },
            kept: reused(ttl: 3_600)
        ),
        ViolationTests.Row(
            .staleContentUsed,
            "content of an earlier cycle",
            "1989 s old when it was used; its ttl is 1988 s",
            broken: reused(ttl: 1_988),
            kept: reused(ttl: 1_989)
        ),
        ViolationTests.Row(
            .contentHashMismatch,
            "content of an earlier cycle",
            "another hash",
            broken: reused(ttl: 3_600, used: "bb"),
            kept: reused(ttl: 3_600)
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "scheduled in one go",
            "while a task for another time was still waiting",
            broken: tasks(second: 1),
            kept: [TestEvent(.prefetchScheduled, 0, due: day), TestEvent(.prefetchScheduled, 1, due: day)]
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "scheduled at the same time",
            "while a task",
            broken: tasks(second: 0),
            kept: Array(tasks(second: 0).prefix(1))
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "just before the other is executed",
            "while a task",
            broken: tasks(second: hour, TestEvent(.prefetchExecuted, hour + 0.001, id: "one")),
            kept: tasks(second: hour, TestEvent(.prefetchExecuted, hour, id: "one"))
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "before or after the other is delivered",
            "while a task",
            broken: tasks(second: day - 60, TestEvent(.notificationDelivered, day - 59, id: "one")),
            kept: tasks(second: day - 60, TestEvent(.notificationDelivered, day - 61, id: "one"))
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "until the other's time",
            "while a task",
            broken: tasks(second: day - 0.001),
            kept: tasks(second: day)
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "until the other missed its window",
            "while a task",
            broken: tasks(second: hour),
            kept: tasks(second: hour, TestEvent(.prefetchMissed, hour / 2, id: "one"))
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "of one installation or two",
            "while a task",
            broken: tasks(second: 1).map { $0.of(1) },
            kept: zip(tasks(second: 1), [1, 2] as [UInt64]).map { $0.of($1) }
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "of one schedule at two times",
            "while a task",
            broken: [TestEvent(.prefetchScheduled, 0, due: day), TestEvent(.prefetchScheduled, 5, due: 2 * day)],
            kept: [TestEvent(.prefetchScheduled, 0, due: day), TestEvent(.prefetchScheduled, 5)]
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "until the other's time, at a time that only orders",
            "while a task",
            broken: [tasks(second: day - 1)[0], tasks(second: day - 1)[1].assumed()],
            kept: [tasks(second: day)[0], tasks(second: day)[1].assumed()]
        ),
        ViolationTests.Row(
            .scheduledWhileDenied,
            "a submission behind the denial, or another line of the one before it",
            "after notifications were denied",
            broken: [
                TestEvent(.prefetchScheduled, 0).begins(600), TestEvent(.notificationDenied, 1),
                TestEvent(.prefetchScheduled, 6).begins(600),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0).begins(600), TestEvent(.notificationDenied, 1),
                TestEvent(.prefetchScheduled, 5),
            ]
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "in order alone, whenever the lines are read",
            "while a task",
            broken: tasks(second: day).map { $0.assumed() },
            kept: [tasks(second: day)[0], tasks(second: day)[1].assumed()]
        ),
        ViolationTests.Row(
            .scheduledWhileDenied,
            "in the same cycle",
            "after notifications were denied at 2025-11-15T05:36:40Z",
            broken: [TestEvent(.notificationDenied, 0), TestEvent(.prefetchScheduled, 500)],
            kept: [TestEvent(.prefetchScheduled, 0), TestEvent(.notificationDenied, 500)]
        ),
        ViolationTests.Row(
            .scheduledWhileDenied,
            "in the same installation until a grant",
            "after notifications were denied at 2025-11-15T05:36:40Z",
            broken: [TestEvent(.notificationDenied, 0, id: nil), TestEvent(.prefetchScheduled, hour, due: day)],
            kept: [
                TestEvent(.notificationDenied, 0, id: nil), TestEvent(.permissionGranted, hour, id: nil),
                TestEvent(.prefetchScheduled, hour, due: day),
            ]
        ),
        ViolationTests.Row(
            .nextNotScheduled,
            "a day without a task",
            "no task was scheduled after it",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 60.001 + day, id: nil),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 60 + day, id: nil),
            ]
        ),
        ViolationTests.Row(
            .nextNotScheduled,
            "a task in the execution's own second",
            "no task was scheduled after it",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60.5), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 3 * day, id: nil), TestEvent(.prefetchScheduled, 59.999, id: "b"),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60.5), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 3 * day, id: nil), TestEvent(.prefetchScheduled, 60, id: "b"),
            ]
        ),
        ViolationTests.Row(
            .nextNotScheduled,
            "the next task",
            "no task was scheduled after it",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 3 * day, id: nil), TestEvent(.prefetchScheduled, 100, id: "b").of(9),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
                TestEvent(.pluginStarted, 3 * day, id: nil), TestEvent(.prefetchScheduled, 100, id: "b"),
            ]
        ),
    ]
}
