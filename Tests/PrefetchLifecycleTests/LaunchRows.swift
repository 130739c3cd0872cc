// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// The rules about launches, cancellations and what an installation tells beside its cycles.
enum LaunchRows {
    static func launch(_ second: Double, pending: Bool?) -> TestEvent {
        TestEvent(.pluginStarted, second, id: nil).with { $0.hasPendingSchedules = pending }
    }

    /// A later event, so that the installation is known to go on.
    static func later(_ second: Double) -> TestEvent { TestEvent(.prefetchRegistered, second, id: nil) }

    static func cancelled(_ second: Double, id: String? = nil) -> TestEvent {
        TestEvent(.prefetchCancelled, second, id: id)
    }

    static func window(_ second: Double, pending: Int64, limit: Int64?) -> TestEvent {
        TestEvent(.rollingWindow, second, id: nil).pending(pending, limit: limit)
    }

    /// A task whose window ends 1,200 s after the start.
    static let waiting = [TestEvent(.prefetchScheduled, 0, due: 900).begins(300).with { $0.minutes = 10 }]
    static let ahead = [TestEvent(.prefetchScheduled, 0, due: 3_600).begins(3_300)]

    static let rows =
        missed + lost + notRescheduled + [
            ViolationTests.Row(
                .pendingLimitExceeded,
                "more than the limit told",
                "than the limit allows",
                broken: ViolationTests.cycle() + [window(950, pending: 11, limit: 10)],
                kept: ViolationTests.cycle() + [window(950, pending: 10, limit: 10)]
            ),
            ViolationTests.Row(
                .pendingLimitExceeded,
                "more than 64 where no limit is told, but on Android",
                "at 2025-11-15T05:41:40Z",
                broken: ViolationTests.cycle() + [window(300, pending: 65, limit: nil)],
                kept: ViolationTests.cycle() + [
                    window(300, pending: 64, limit: nil), window(301, pending: 65, limit: nil).from("android", nil),
                ]
            ),
            ViolationTests.Row(
                .pendingLimitExceeded,
                "before the first task",
                "than the limit allows",
                broken: [window(-60, pending: 70, limit: 64)] + ViolationTests.cycle(),
                kept: [window(-60, pending: 64, limit: 64)] + ViolationTests.cycle()
            ),
            ViolationTests.Row(
                .countersOutOfPattern,
                "more executions than submissions",
                "contradict each other",
                broken: ViolationTests.cycle() + [snapshot([.scheduled: 2, .executed: 3])],
                kept: ViolationTests.cycle() + [snapshot([.scheduled: 2, .executed: 2, .success: 2])]
            ),
            ViolationTests.Row(
                .countersOutOfPattern,
                "more successes than executions",
                "contradict each other",
                broken: ViolationTests.cycle() + [snapshot([.executed: 3, .success: 4])],
                kept: ViolationTests.cycle() + [snapshot([.scheduled: 1, .success: 4])]
            ),
            ViolationTests.Row(
                .secondActiveTask,
                "a cancellation of another schedule, or of this one",
                "while a task",
                broken: AcrossCycles.tasks(second: 60, cancelled(30, id: "two")),
                kept: AcrossCycles.tasks(second: 60, cancelled(30, id: "one"))
            ),
            ViolationTests.Row(
                .secondActiveTask,
                "a cancellation of all, too late or in time",
                "while a task",
                broken: AcrossCycles.tasks(second: 60, cancelled(60.001)),
                kept: AcrossCycles.tasks(second: 60, cancelled(60))
            ),
            ViolationTests.Row(
                .secondActiveTask,
                "a cancellation at a time that only orders",
                "while a task",
                broken: AcrossCycles.tasks(second: 60).map { $0.assumed() },
                kept: AcrossCycles.tasks(second: 60, cancelled(30)).map { $0.assumed() }
            ),
            ViolationTests.Row(
                .secondActiveTask,
                "today's and tomorrow's on Android, or on iOS",
                "while a task",
                broken: AcrossCycles.tasks(second: 60).map { $0.from("ios", nil) },
                kept: AcrossCycles.tasks(second: 60).map { $0.from("android", nil) }
            ),
            ViolationTests.Row(
                .secondActiveTask,
                "two of one day on Android, or today's and tomorrow's",
                "while a task",
                broken: [
                    TestEvent(.prefetchScheduled, 0, id: "one", due: AcrossCycles.day).from("android", nil),
                    TestEvent(.prefetchScheduled, 60, id: "two", due: AcrossCycles.day + 7_200).from("android", nil),
                ],
                kept: AcrossCycles.tasks(second: 60).map { $0.from("android", nil) }
            ),
        ]

    private static func snapshot(_ counters: KeyValuePairs<ClientCounter, UInt64>) -> TestEvent {
        TestEvent(.telemetrySnapshot, 950, id: nil).reporting(counters)
    }

    private static let missed = [
        ViolationTests.Row(
            .missedNotRescheduled,
            "a launch behind the window, or at its end",
            "had missed its window",
            broken: waiting + [launch(1_200.001, pending: nil), later(1_501)],
            kept: waiting + [launch(1_200, pending: nil), later(1_501)]
        ),
        ViolationTests.Row(
            .missedNotRescheduled,
            "the miss is told too late, or in time",
            "at 2025-11-15T05:56:50Z",
            broken: waiting + [launch(1_210, pending: nil), TestEvent(.prefetchMissed, 1_510.001)],
            kept: waiting + [launch(1_210, pending: nil), TestEvent(.prefetchMissed, 1_510), later(1_600)]
        ),
        ViolationTests.Row(
            .missedNotRescheduled,
            "another task is scheduled too late, or in time",
            "nor another task scheduled",
            broken: waiting + [
                launch(1_210, pending: nil), TestEvent(.prefetchScheduled, 1_511, id: "b", due: 9_000),
            ],
            kept: waiting + [
                launch(1_210, pending: nil), TestEvent(.prefetchScheduled, 1_510, id: "b", due: 9_000), later(1_600),
            ]
        ),
        ViolationTests.Row(
            .missedNotRescheduled,
            "the log goes on for long enough, or not",
            "the app was launched",
            broken: waiting + [launch(1_210, pending: nil), later(1_510)],
            kept: waiting + [launch(1_210, pending: nil), later(1_509)]
        ),
        ViolationTests.Row(
            .missedNotRescheduled,
            "the task was cancelled before the launch, or after it",
            "the app was launched",
            broken: waiting + [launch(1_210, pending: nil), cancelled(1_211), later(1_600)],
            kept: waiting + [cancelled(1_209), launch(1_210, pending: nil), later(1_600)]
        ),
    ]

    private static let lost = [
        ViolationTests.Row(
            .pendingScheduleLost,
            "a launch before the notification, or at its time",
            "knew of no pending schedule",
            broken: ahead + [launch(3_599.999, pending: false)],
            kept: ahead + [launch(3_600, pending: false)]
        ),
        ViolationTests.Row(
            .pendingScheduleLost,
            "a notification that was persisted, whose task the system refused",
            "knew of no pending schedule",
            broken: [
                TestEvent(.schedulePersisted, 0, due: 3_600), TestEvent(.prefetchScheduleFailed, 0, due: 3_600),
                launch(60, pending: false),
            ],
            kept: [
                launch(60.2, pending: false), TestEvent(.schedulePersisted, 60.7, due: 3_600),
                TestEvent(.prefetchScheduleFailed, 60.7, due: 3_600),
            ]
        ),
        ViolationTests.Row(
            .pendingScheduleLost,
            "a launch after the scheduling, or with it",
            "at 2025-11-15T05:36:40.001000Z",
            broken: ahead + [launch(0.001, pending: false)],
            kept: ahead + [launch(0, pending: false)]
        ),
        ViolationTests.Row(
            .pendingScheduleLost,
            "cancelled after the launch, or before it",
            "lay ahead",
            broken: ahead + [launch(60, pending: false), cancelled(61)],
            kept: ahead + [cancelled(59), launch(60, pending: false)]
        ),
        ViolationTests.Row(
            .pendingScheduleLost,
            "a launch that tells of none, or of pending schedules, or nothing",
            "lay ahead",
            broken: ahead + [launch(60, pending: false)],
            kept: ahead + [launch(60, pending: true), launch(61, pending: nil)]
        ),
    ]

    private static func executed(_ seconds: Double...) -> [TestEvent] {
        seconds.map { TestEvent(.prefetchExecuted, $0) }
    }

    private static let notRescheduled = [
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "nothing waits after the delivery, or the log ends too soon",
            "with pending schedules",
            broken: ViolationTests.cycle() + [launch(1_000, pending: true), later(1_300)],
            kept: ViolationTests.cycle() + [launch(1_000, pending: true), later(1_299)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "a task is scheduled too late, or in time",
            "within 5 min",
            broken: ViolationTests.cycle() + [
                launch(1_000, pending: true), TestEvent(.prefetchScheduled, 1_301, id: "b", due: 9_000),
            ],
            kept: ViolationTests.cycle() + [
                launch(1_000, pending: true), TestEvent(.prefetchScheduled, 1_300, id: "b", due: 9_000), later(2_000),
            ]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "the task's time is over, or it waits",
            "with pending schedules",
            broken: waiting + [launch(900, pending: true), later(1_300)],
            kept: waiting + [launch(899, pending: true), later(1_300)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "the late task does not run for another 5 minutes, or does",
            "with pending schedules",
            broken: waiting + [launch(1_000, pending: true), TestEvent(.prefetchExecuted, 1_301)],
            kept: waiting + [launch(1_000, pending: true), TestEvent(.prefetchExecuted, 1_300), later(1_400)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "between two other runs the task does not run for 5 minutes, or does",
            "with pending schedules",
            broken: waiting + executed(310) + [launch(500, pending: true)] + executed(801, 1_000) + [later(1_400)],
            kept: waiting + executed(310) + [launch(500, pending: true)] + executed(800, 1_000) + [later(1_400)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "a task that runs again later began 30 s before the launch, or less",
            "with pending schedules",
            broken: waiting + executed(310) + [launch(340, pending: true)] + executed(1_000) + [later(1_400)],
            kept: waiting + executed(310) + [launch(339.9, pending: true)] + executed(1_000) + [later(1_400)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "the waiting task was cancelled, or waits",
            "with pending schedules",
            broken: ahead + [cancelled(600), launch(1_000, pending: true), later(1_300)],
            kept: ahead + [launch(1_000, pending: true), later(1_300)]
        ),
        ViolationTests.Row(
            .notRescheduledAfterLaunch,
            "scheduled within 5 minutes before the launch, and cancelled, or scheduled in that second",
            "with pending schedules",
            broken: ahead + [cancelled(100), launch(200, pending: true), later(600)],
            kept: ahead + [
                cancelled(100), TestEvent(.prefetchScheduled, 100, id: "b", due: 7_200), launch(200, pending: true),
                later(600),
            ]
        ),
    ]
}
