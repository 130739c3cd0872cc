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

    static let rows = [
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
