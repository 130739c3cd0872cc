// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// The rows of SPEC 5.1 that look beyond one cycle.
enum AcrossCycles {
    static let hour = 3_600.0
    static let day = 86_400.0

    /// Two tasks for two days; what happens between their schedulings is given.
    static func tasks(second: Double, _ between: Told...) -> [Told] {
        [Told(.prefetchScheduled, 0, id: "one", due: day)] + between
            + [Told(.prefetchScheduled, second, id: "two", due: 2 * day)]
    }

    static let rows = [
        ViolationTests.Row(
            .secondActiveTask,
            "scheduled in one go",
            "while a task for another time was still waiting",
            broken: tasks(second: 1),
            kept: [Told(.prefetchScheduled, 0, due: day), Told(.prefetchScheduled, 1, due: day)]
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
            broken: tasks(second: hour, Told(.prefetchExecuted, hour + 0.001, id: "one")),
            kept: tasks(second: hour, Told(.prefetchExecuted, hour, id: "one"))
        ),
        ViolationTests.Row(
            .secondActiveTask,
            "before or after the other is delivered",
            "while a task",
            broken: tasks(second: day - 60, Told(.notificationDelivered, day - 59, id: "one")),
            kept: tasks(second: day - 60, Told(.notificationDelivered, day - 61, id: "one"))
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
            kept: tasks(second: hour, Told(.prefetchMissed, hour / 2, id: "one"))
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
            broken: [Told(.prefetchScheduled, 0, due: day), Told(.prefetchScheduled, 5, due: 2 * day)],
            kept: [Told(.prefetchScheduled, 0, due: day), Told(.prefetchScheduled, 5)]
        ),
        ViolationTests.Row(
            .scheduledWhileDenied,
            "in the same cycle",
            "after notifications were denied at 2025-11-15T05:36:40Z",
            broken: [Told(.notificationDenied, 0), Told(.prefetchScheduled, 500)],
            kept: [Told(.prefetchScheduled, 0), Told(.notificationDenied, 500)]
        ),
        ViolationTests.Row(
            .scheduledWhileDenied,
            "within a minute in the same installation",
            "after notifications were denied",
            broken: [Told(.notificationDenied, 0, id: nil), Told(.prefetchScheduled, 60, due: hour)],
            kept: [Told(.notificationDenied, 0, id: nil), Told(.prefetchScheduled, 60.000_001, due: hour)]
        ),
        ViolationTests.Row(
            .nextNotScheduled,
            "a day without a task",
            "no task was scheduled after it",
            broken: [
                Told(.prefetchScheduled, 0), Told(.prefetchExecuted, 60), Told(.prefetchSuccess, 61),
                Told(.pluginStarted, 60.001 + day, id: nil),
            ],
            kept: [
                Told(.prefetchScheduled, 0), Told(.prefetchExecuted, 60), Told(.prefetchSuccess, 61),
                Told(.pluginStarted, 60 + day, id: nil),
            ]
        ),
        ViolationTests.Row(
            .nextNotScheduled,
            "the next task",
            "no task was scheduled after it",
            broken: [
                Told(.prefetchScheduled, 0), Told(.prefetchExecuted, 60), Told(.prefetchSuccess, 61),
                Told(.pluginStarted, 3 * day, id: nil), Told(.prefetchScheduled, 100, id: "b").of(9),
            ],
            kept: [
                Told(.prefetchScheduled, 0), Told(.prefetchExecuted, 60), Told(.prefetchSuccess, 61),
                Told(.pluginStarted, 3 * day, id: nil), Told(.prefetchScheduled, 100, id: "b"),
            ]
        ),
    ]
}
