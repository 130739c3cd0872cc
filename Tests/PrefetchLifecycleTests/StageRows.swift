// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// The rules about the order of stages, the plan and the content of one cycle.
enum StageRows {
    typealias Row = ViolationTests.Row

    static let rows = order + plan + content

    /// A cycle of log lines: scheduled at 0 for 900, executed at 620, used at 900.
    static func told(
        scheduled: Double = 0,
        executed: Double = 620,
        started: Double = 621,
        success: Double = 623,
        cached: Double = 623,
        completed: Double = 624,
        used: Double = 900,
        delivered: Double = 900
    ) -> [TestEvent] {
        [
            TestEvent(.prefetchScheduled, scheduled, due: 900).begins(600), TestEvent(.prefetchExecuted, executed),
            TestEvent(.prefetchStarted, started), TestEvent(.prefetchSuccess, success),
            TestEvent(.contentCached, cached), TestEvent(.prefetchCompleted, completed),
            TestEvent(.prefetchUsedForNotification, used), TestEvent(.notificationDelivered, delivered),
        ]
    }

    static func lacking(_ kinds: EventKind...) -> [TestEvent] { told().filter { !kinds.contains($0.event.kind) } }

    /// The same events with the notification time of their cycle.
    private static func dated(_ events: [TestEvent]) -> [TestEvent] { events.map { $0.addressed(id: "a", due: 900) } }

    private static func order(
        _ name: String,
        _ words: String,
        broken: [TestEvent],
        kept: [TestEvent]
    ) -> Row {
        Row(.outOfOrder, name, words, broken: broken, kept: kept)
    }

    static let order = [
        order(
            "scheduled behind its execution",
            "before the task was scheduled at",
            broken: told(scheduled: 620.001),
            kept: told(scheduled: 620)
        ),
        order(
            "executed before its task was scheduled, which may begin later",
            "executed at 2025-11-15T05:36:38Z, before the task was scheduled",
            broken: told(executed: -2),
            kept: told(executed: 0)
        ),
        order(
            "the fetch started before its task was scheduled",
            "the fetch started at",
            broken: told(started: -2),
            kept: told(executed: 0, started: 0)
        ),
        order(
            "submitted again behind an execution whose own submission is not known",
            "before the task was scheduled",
            broken: [
                TestEvent(.prefetchExecuted, 10), TestEvent(.prefetchSuccess, 11),
                TestEvent(.prefetchScheduled, 12, due: 900).begins(5),
            ],
            kept: [
                TestEvent(.prefetchExecuted, 10), TestEvent(.prefetchSuccess, 11),
                TestEvent(.prefetchScheduled, 12, due: 900).begins(600),
            ]
        ),
        order(
            "success before its execution",
            "the fetch succeeded at 2025-11-15T05:47:03Z, before the task was executed",
            broken: told(executed: 624.001),
            kept: told(executed: 621)
        ),
        order(
            "a failure before the execution, whatever that has of its own",
            "the fetch failed at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchFailure, 9).reason(.network),
                TestEvent(.prefetchExecuted, 10), TestEvent(.prefetchSuccess, 11),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchFailure, 10).reason(.network),
                TestEvent(.prefetchExecuted, 10), TestEvent(.prefetchSuccess, 11),
            ]
        ),
        order(
            "a failure to be retried before the execution",
            "the fetch failed at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchFailure, 9).reason(.network).retried(),
                TestEvent(.prefetchExecuted, 10),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 9),
                TestEvent(.prefetchFailure, 10).reason(.network).retried(),
            ]
        ),
        order(
            "an expiry before the execution",
            "the task expired at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExpired, 9), TestEvent(.prefetchExecuted, 10),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 9), TestEvent(.prefetchExpired, 10),
            ]
        ),
        order(
            "the fetch started before the first of two executions",
            "the fetch started at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchStarted, 9), TestEvent(.prefetchExecuted, 10),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 9), TestEvent(.prefetchStarted, 10),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
            ]
        ),
        order(
            "the task completed before the fetch started",
            "the task was completed at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 9), TestEvent(.prefetchCompleted, 10),
                TestEvent(.prefetchStarted, 11),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 9), TestEvent(.prefetchCompleted, 11),
                TestEvent(.prefetchStarted, 11),
            ]
        ),
        order(
            "success before the first of two executions, or so long that it is of another pass",
            "the fetch succeeded at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchSuccess, 600), TestEvent(.prefetchExecuted, 631),
                TestEvent(.prefetchExecuted, 700), TestEvent(.prefetchFailure, 701).reason(.auth),
                TestEvent(.prefetchCompleted, 702),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchSuccess, 600),
                TestEvent(.prefetchExecuted, 22_201), TestEvent(.prefetchExecuted, 22_300),
                TestEvent(.prefetchFailure, 22_301).reason(.auth), TestEvent(.prefetchCompleted, 22_302),
            ]
        ),
        order(
            "the fetch started before the execution",
            "the fetch started at",
            broken: told(executed: 621.001),
            kept: told(executed: 621)
        ),
        order(
            "the fetch started behind its result, or again behind a failure",
            "before the fetch started",
            broken: told(started: 623.001),
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 10),
                TestEvent(.prefetchFailure, 11).reason(.network).retried(), TestEvent(.prefetchStarted, 12),
                TestEvent(.prefetchSuccess, 13),
            ]
        ),
        order(
            "completed before the result",
            "the task was completed at",
            broken: told(completed: 622.999),
            kept: told(completed: 623)
        ),
        order(
            "used before it was cached",
            "before it was cached",
            broken: told(used: 622.999),
            kept: told(used: 623)
        ),
        order(
            "used before it was fetched, or content of an earlier cycle",
            "before it was fetched",
            broken: lacking(.contentCached, .prefetchUsedForNotification)
                + [TestEvent(.prefetchUsedForNotification, 622)],
            kept: lacking(.contentCached, .prefetchUsedForNotification)
                + [TestEvent(.prefetchUsedForNotification, 622).aged(86_000)]
        ),
        order(
            "cached behind its use, or other content than the one that was used",
            "before it was cached",
            broken: lacking(.contentCached, .prefetchUsedForNotification)
                + [TestEvent(.contentCached, 901), TestEvent(.prefetchUsedForNotification, 900).aged(277)],
            kept: lacking(.contentCached, .prefetchUsedForNotification)
                + [TestEvent(.contentCached, 901), TestEvent(.prefetchUsedForNotification, 900).aged(86_000)]
        ),
        order(
            "used before its own fetch ran, or content that was fetched for another notification",
            "before it was fetched",
            broken: lacking(.contentCached, .prefetchUsedForNotification)
                + [TestEvent(.prefetchUsedForNotification, 622).aged(600)],
            kept: lacking(.contentCached, .prefetchUsedForNotification)
                + [
                    TestEvent(.prefetchUsedForNotification, 622).aged(600),
                    TestEvent(.contentCached, 22, id: "other").ttl(86_400),
                ]
        ),
        order(
            "used a minute behind the delivery",
            "the notification was delivered at",
            broken: told(used: 960.001),
            kept: told(used: 960)
        ),
        order(
            "two days under one id",
            "the fetch succeeded at",
            broken: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchSuccess, 9), TestEvent(.prefetchExecuted, 10),
            ],
            kept: [0, 86_400].flatMap { day in
                [
                    TestEvent(.prefetchSuccess, day + 23), TestEvent(.prefetchUsedForNotification, day + 900),
                    TestEvent(.prefetchScheduled, day + 901), TestEvent(.prefetchExecuted, day + 86_420),
                ]
            }
        ),
    ]

    static let plan = [
        Row(
            .scheduledNotPersisted,
            "others of the device were",
            "its schedule was never persisted",
            broken: told() + [TestEvent(.schedulePersisted, 1, id: "other")],
            kept: told()
        ),
        Row(
            .scheduledNotPersisted,
            "the same schedule another time",
            "never persisted",
            broken: told() + [TestEvent(.schedulePersisted, 1, id: nil, due: 86_400)],
            kept: told() + [TestEvent(.schedulePersisted, -86_000, due: -85_500)]
        ),
        Row(
            .leadDiffers,
            "five minutes where none is told",
            "not 5 minutes before 2025-11-15T05:51:40Z",
            broken: [TestEvent(.prefetchScheduled, 0, due: 900).begins(598.999)],
            kept: [TestEvent(.prefetchScheduled, 0, due: 900).begins(599)]
        ),
        Row(
            .leadDiffers,
            "told with it",
            "as its submission tells",
            broken: [TestEvent(.prefetchScheduled, 0, due: 900).begins(600).leading(10)],
            kept: [TestEvent(.prefetchScheduled, 0, due: 900).begins(300).leading(10)]
        ),
        Row(
            .leadDiffers,
            "told by another line",
            "not 10 minutes before",
            broken: [
                TestEvent(.prefetchScheduled, 0, due: 900).begins(600), TestEvent(.prefetchScheduled, 1).leading(10),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0, due: 900).begins(300), TestEvent(.prefetchScheduled, 1).leading(10),
            ]
        ),
        Row(
            .leadDiffers,
            "capped",
            "not 5 minutes",
            broken: [TestEvent(.prefetchScheduled, 700, due: 900).begins(760)],
            kept: [TestEvent(.prefetchScheduled, 700, due: 900).begins(760), TestEvent(.leadCapped, 700)]
        ),
        Row(
            .scheduleTimeDiffers,
            "a result for another time",
            "another notification time than 2025-11-15T05:51:40Z",
            broken: dated(lacking(.prefetchSuccess)) + [TestEvent(.prefetchSuccess, 623, due: 901.001)],
            kept: dated(lacking(.prefetchSuccess)) + [TestEvent(.prefetchSuccess, 623, due: 901)]
        ),
        Row(
            .scheduleTimeDiffers,
            "less than 12 hours away, and not scheduled",
            "nothing was scheduled for it",
            broken: dated(lacking(.prefetchSuccess)) + [TestEvent(.prefetchSuccess, 623, due: 900 + 43_199)],
            kept: dated(lacking(.prefetchSuccess)) + [TestEvent(.prefetchSuccess, 623, due: 900 + 43_200)]
        ),
        Row(
            .scheduleTimeDiffers,
            "or scheduled",
            "another notification time",
            broken: dated(lacking(.prefetchSuccess)) + [TestEvent(.prefetchSuccess, 623, due: 2_700)],
            kept: dated(lacking(.prefetchSuccess))
                + [TestEvent(.prefetchSuccess, 623, due: 2_700), TestEvent(.prefetchScheduled, 630, due: 2_700)]
        ),
    ]

    static let content = [
        Row(
            .ttlDiffers,
            "of the fetch and of the cache",
            "told as 600 s and as 601 s",
            broken: lacking(.prefetchSuccess, .contentCached)
                + [TestEvent(.prefetchSuccess, 623).ttl(600), TestEvent(.contentCached, 623).ttl(601)],
            kept: lacking(.prefetchSuccess, .contentCached)
                + [
                    TestEvent(.prefetchSuccess, 623).ttl(600), TestEvent(.contentCached, 623).ttl(600),
                    TestEvent(.prefetchExecuted, 700), TestEvent(.prefetchSuccess, 701).ttl(900),
                ]
        ),
        Row(
            .ranTooLong,
            "from the execution to the completion",
            "completed 30.001 s later; the system gives a task 30 s",
            broken: told(completed: 650.001),
            kept: told(completed: 650)
        ),
        Row(
            .ranTooLong,
            "and expired",
            "31 s later",
            broken: told(completed: 651),
            kept: lacking(.prefetchSuccess, .prefetchCompleted)
                + [TestEvent(.prefetchExpired, 650), TestEvent(.prefetchCompleted, 651).unsuccessful()]
        ),
        Row(
            .ranTooLong,
            "behind the completion of an attempt before",
            "31 s later",
            broken: told(completed: 651) + [TestEvent(.prefetchCompleted, 500)],
            kept: told(completed: 650) + [TestEvent(.prefetchCompleted, 500)]
        ),
        Row(
            .cachedContentLost,
            "within its ttl",
            "content was cached at 2025-11-15T05:47:03Z and missing at",
            broken: missing(ttl: 277),
            kept: missing(ttl: 276)
        ),
        Row(
            .cachedContentLost,
            "or cleared",
            "within its ttl",
            broken: missing(ttl: 600),
            kept: missing(ttl: 600) + [TestEvent(.cacheCleared, 700, id: nil)]
        ),
        Row(
            .clearedContentUsed,
            "nothing fetched since",
            "the cache was cleared at 2025-11-15T05:48:20Z",
            broken: told() + [TestEvent(.cacheCleared, 700, id: nil)],
            kept: told() + [TestEvent(.cacheCleared, 623, id: nil)]
        ),
        Row(
            .clearedContentUsed,
            "fetched again",
            "nothing was fetched since",
            broken: told() + [TestEvent(.cacheCleared, 700, id: nil)],
            kept: told() + [
                TestEvent(.cacheCleared, 700, id: nil), TestEvent(.prefetchExecuted, 701),
                TestEvent(.prefetchSuccess, 702),
            ]
        ),
        Row(
            .clearedContentUsed,
            "cached behind the use, or before it",
            "nothing was fetched since",
            broken: lacking(.contentCached)
                + [TestEvent(.cacheCleared, 700, id: nil), TestEvent(.contentCached, 901)],
            kept: lacking(.contentCached)
                + [TestEvent(.cacheCleared, 700, id: nil), TestEvent(.contentCached, 899)]
        ),
        Row(
            .clearedContentUsed,
            "older than the clearing",
            "nothing was fetched since",
            broken: lacking(.prefetchSuccess, .contentCached, .prefetchUsedForNotification)
                + [TestEvent(.cacheCleared, 100, id: nil), TestEvent(.prefetchUsedForNotification, 900).aged(801)],
            kept: lacking(.prefetchSuccess, .contentCached, .prefetchUsedForNotification)
                + [TestEvent(.cacheCleared, 100, id: nil), TestEvent(.prefetchUsedForNotification, 900).aged(800)]
        ),
        Row(
            .notModifiedWithoutETag,
            "a call that carried none",
            "to a call without an ETag at 2025-11-15T05:47:01Z",
            broken: unchanged(TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = false }),
            kept: unchanged(TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = true })
        ),
        Row(
            .notModifiedWithoutETag,
            "the last call before the answer",
            "without an ETag",
            broken: unchanged(TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = false }),
            kept: unchanged(TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = false })
                + [TestEvent(.apiCall, 622, id: nil).with { $0.isConditional = true }]
        ),
        Row(
            .notModifiedWithoutETag,
            "each answer by its own call",
            "without an ETag at 2025-11-15T05:47:01Z",
            broken: unchanged(TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = false })
                + [TestEvent(.prefetchExecuted, 700), TestEvent(.prefetchSuccess, 702)],
            kept: told() + [
                TestEvent(.apiCall, 621, id: nil).with { $0.isConditional = false },
                TestEvent(.prefetchExecuted, 700),
                TestEvent(.apiCall, 701, id: nil).with { $0.isConditional = true },
                TestEvent(.prefetchSuccess, 702).with { $0.status = 304 },
            ]
        ),
    ]

    private static func missing(ttl: Int64) -> [TestEvent] {
        lacking(.prefetchSuccess, .prefetchUsedForNotification)
            + [TestEvent(.prefetchSuccess, 623).ttl(ttl), TestEvent(.contentMissing, 900)]
    }

    private static func unchanged(_ call: TestEvent) -> [TestEvent] {
        lacking(.prefetchSuccess) + [call, TestEvent(.prefetchSuccess, 623).with { $0.status = 304 }]
    }
}
