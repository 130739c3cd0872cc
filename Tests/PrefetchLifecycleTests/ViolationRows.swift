// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents

/// The rules within one cycle.
extension ViolationTests {
    static let order = [
        Row(
            .executedWithoutScheduled,
            "no scheduling",
            "no scheduling was seen",
            broken: without(.prefetchScheduled),
            kept: cycle()
        ),
        Row(
            .successWithoutExecuted,
            "no execution",
            "no execution was seen",
            broken: without(.prefetchExecuted),
            kept: cycle()
        ),
        Row(
            .successWithoutExecuted,
            "no execution, though a summary says the same",
            "succeeded at",
            broken: without(.prefetchExecuted) + [TestEvent(.prefetchCycleComplete, 902).summing()],
            kept: without(.prefetchExecuted, .prefetchSuccess) + [TestEvent(.prefetchCycleComplete, 902).summing()]
        ),
        Row(
            .failureWithoutExecuted,
            "no execution",
            "failed at 2025-11-15T05:43:22Z; no execution",
            broken: [TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchFailure, 402).reason(.network)],
            kept: [TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchScheduleFailed, 402)]
        ),
        Row(
            .usedWithoutSuccess,
            "no success",
            "no successful fetch was seen",
            broken: without(.prefetchSuccess),
            kept: cycle()
        ),
        Row(
            .usedWithoutSuccess,
            "a summary that asserts a fetch or not",
            "content was used",
            broken: without(.prefetchSuccess) + [TestEvent(.prefetchCycleComplete, 902).summing(fetched: false)],
            kept: without(.prefetchSuccess) + [TestEvent(.prefetchCycleComplete, 902).summing()]
        ),
        Row(
            .usedWithoutSuccess,
            "content of this cycle or of an earlier one",
            "no successful fetch was seen",
            broken: without(.prefetchSuccess, .prefetchExecuted)
                .map { $0.event.kind == .prefetchUsedForNotification ? $0.aged(900) : $0 },
            kept: without(.prefetchSuccess, .prefetchExecuted)
                .map { $0.event.kind == .prefetchUsedForNotification ? $0.aged(901) : $0 }
        ),
        Row(
            .usedWithoutSuccess,
            "a summary alone",
            "content was used at",
            broken: [
                TestEvent(.prefetchCycleComplete, 902).summing(fetched: false),
                TestEvent(.prefetchUsedForNotification, 900),
            ],
            kept: [TestEvent(.prefetchCycleComplete, 902).summing(fetched: false)]
        ),
        Row(
            .duplicateTerminal,
            "success and failure",
            "in success at",
            broken: cycle() + [TestEvent(.prefetchFailure, 403).reason(.network)],
            kept: cycle() + [TestEvent(.prefetchFailure, 401).reason(.network).retried()]
        ),
        Row(
            .duplicateTerminal,
            "in one attempt, or before it in another whose execution is not told",
            "failure at 2025-11-15T05:43:15Z",
            broken: cycle() + [TestEvent(.prefetchFailure, 395).reason(.network)],
            kept: cycle() + [TestEvent(.prefetchFailure, 394).reason(.network)]
        ),
        Row(
            .duplicateTerminal,
            "success and an unsuccessful completion",
            "ended twice",
            broken: cycle() + [TestEvent(.prefetchCompleted, 403).unsuccessful()],
            kept: cycle() + [TestEvent(.prefetchCompleted, 403)]
        ),
        Row(
            .duplicateTerminal,
            "a failure told in two lines before its retry",
            "in success at 2025-11-15T05:36:48Z and in failure at 2025-11-15T05:36:41Z",
            broken: [
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.auth).retried(),
                TestEvent(.prefetchFailure, 2).reason(.auth).final(), TestEvent(.prefetchSuccess, 8),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
            ],
            kept: [
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.auth).retried(),
                TestEvent(.prefetchFailure, 2).reason(.auth), TestEvent(.prefetchSuccess, 8),
            ]
        ),
        Row(
            .duplicateTerminal,
            "two reasons",
            "NETWORK was counted",
            broken: [
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.network),
                TestEvent(.prefetchFailure, 2).reason(.auth),
            ],
            kept: [
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.network),
                TestEvent(.prefetchFailure, 2), TestEvent(.prefetchCompleted, 2).unsuccessful().reason(.auth),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 61).reason(.auth),
            ]
        ),
        Row(
            .taskNotCompleted,
            "nothing after an execution",
            "neither a result nor a completion",
            broken: [TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 400)],
            kept: [
                TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchExecuted, 400), TestEvent(.prefetchCompleted, 430),
            ]
        ),
        Row(
            .taskNotCompleted,
            "the first of two executions",
            "executed at 2025-11-15T05:36:45Z",
            broken: [
                TestEvent(.prefetchExecuted, 5), TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchSuccess, 61),
            ],
            kept: [
                TestEvent(.prefetchExecuted, 5), TestEvent(.prefetchFailure, 6), TestEvent(.prefetchExecuted, 60),
                TestEvent(.prefetchCycleComplete, 70).summing(),
            ]
        ),
    ]

    static let integrity = [
        Row(
            .contentHashMismatch,
            "cached and used",
            "another hash",
            broken: [
                TestEvent(.contentCached, 1).content("abcdef"),
                TestEvent(.prefetchUsedForNotification, 2).content("abcdee"),
            ],
            kept: [
                TestEvent(.contentCached, 1).content("abcdef"),
                TestEvent(.prefetchUsedForNotification, 2).content("ABCDEF"),
            ]
        ),
        Row(
            .contentHashMismatch,
            "cached and delivered",
            "another hash",
            broken: [TestEvent(.contentCached, 1).content("01"), TestEvent(.notificationDelivered, 3).content("02")],
            kept: [TestEvent(.contentCached, 1).content("01"), TestEvent(.notificationDelivered, 3).content("01")]
        ),
        Row(
            .contentHashMismatch,
            "delivered as cached, or fetched on demand",
            "another hash",
            broken: [
                TestEvent(.contentCached, 1).content("01"), TestEvent(.prefetchUsedForNotification, 2),
                TestEvent(.notificationDelivered, 3).content("02"),
            ],
            kept: [
                TestEvent(.contentCached, 1).content("01"), TestEvent(.contentMissing, 2),
                TestEvent(.notificationDelivered, 3).content("02"),
            ]
        ),
        Row(
            .contentHashMismatch,
            "cached again",
            "another hash",
            broken: [
                TestEvent(.contentCached, 1).content("01"), TestEvent(.contentCached, 2).content("02"),
                TestEvent(.prefetchUsedForNotification, 3).content("01"),
            ],
            kept: [
                TestEvent(.contentCached, 1).content("01"), TestEvent(.contentCached, 2).content("02"),
                TestEvent(.prefetchUsedForNotification, 3).content("02"),
            ]
        ),
        Row(
            .scheduleHashMismatch,
            "scheduled and executed",
            "another hash",
            broken: [TestEvent(.prefetchScheduled, 1).schedule("aa"), TestEvent(.prefetchExecuted, 2).schedule("bb")],
            kept: [TestEvent(.prefetchScheduled, 1).schedule("aa"), TestEvent(.prefetchExecuted, 2)]
        ),
        Row(
            .staleContentUsed,
            "by the reported age",
            "601 s old when it was used; its ttl is 600 s",
            broken: cycle() + [
                TestEvent(.contentCached, 403).ttl(600), TestEvent(.prefetchUsedForNotification, 900).aged(600.000001),
            ],
            kept: cycle() + [
                TestEvent(.contentCached, 403).ttl(600), TestEvent(.prefetchUsedForNotification, 900).aged(600),
            ]
        ),
        Row(
            .staleContentUsed,
            "by the times",
            "499.001 s old when it was used; its ttl is 499 s",
            broken: undelivered(used: 900.001) + [TestEvent(.contentCached, 403).ttl(499)],
            kept: undelivered(used: 900) + [TestEvent(.contentCached, 403).ttl(499)]
        ),
        Row(
            .staleContentUsed,
            "by the time of the delivery",
            "500 s old when it was used; its ttl is 499 s",
            broken: undelivered(used: 890)
                + [TestEvent(.contentCached, 403).ttl(499), TestEvent(.notificationDelivered, 901)],
            kept: undelivered(used: 890)
                + [TestEvent(.contentCached, 403).ttl(499), TestEvent(.notificationDelivered, 900)]
        ),
        Row(
            .staleContentUsed,
            "by the age that a summary tells, not by the time of what it implies",
            "its ttl is 499 s",
            broken: summarised + [TestEvent(.prefetchCycleComplete, 906).summing().aged(500)],
            kept: summarised + [TestEvent(.notificationDelivered, 902)]
        ),
        Row(
            .staleContentUsed,
            "by the last of two fetches",
            "its ttl is 100 s",
            broken: cycle() + [TestEvent(.prefetchExecuted, 700), TestEvent(.prefetchSuccess, 800.999).ttl(100)],
            kept: cycle() + [TestEvent(.prefetchExecuted, 700), TestEvent(.prefetchSuccess, 801).ttl(100)]
        ),
    ]

    /// A use that only a summary tells, 504 s after the fetch of content for 499 s.
    private static let summarised =
        undelivered(used: 900).filter { $0.event.kind != .prefetchUsedForNotification } + [
            TestEvent(.contentCached, 403).ttl(499), TestEvent(.prefetchCycleComplete, 905).summing(),
        ]

    static let timing = [
        Row(
            .leadBelowMinimum,
            "less than a minute",
            "may begin 59 s after its scheduling; the minimum is 60 s",
            broken: cycle(begins: 59),
            kept: cycle(begins: 59.001)
        ),
        Row(
            .leadBelowMinimum,
            "less than a minute by whole seconds alone",
            "may begin 58 s after its scheduling; the minimum is 60 s",
            broken: cycle(scheduled: 0.123_456, begins: 59),
            kept: cycle(scheduled: 0.999_999, begins: 60)
        ),
        Row(
            .missedWindow,
            "executed late",
            "executed 900.000001 s after its earliest begin",
            broken: cycle(executed: 1_200.000_001, success: 1_201, used: 2_000, delivered: 2_001, due: 2_000),
            kept: cycle(executed: 1_200, success: 1_201, used: 2_000, delivered: 2_001, due: 2_000)
        ),
        Row(
            .missedWindow,
            "submitted again",
            "executed 900.000001 s after its earliest begin at 2025-11-15T05:58:40Z",
            broken: [
                TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.prefetchScheduled, 1_140).begins(1_320),
                TestEvent(.prefetchExecuted, 2_220.000_001), TestEvent(.prefetchSuccess, 2_221),
                TestEvent(.prefetchScheduled, 2_222).begins(1_320),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.prefetchScheduled, 1_140).begins(1_320),
                TestEvent(.prefetchExecuted, 1_380), TestEvent(.prefetchSuccess, 1_381),
            ]
        ),
        Row(
            .missedWindow,
            "submitted again after the window",
            "not executed by 2025-11-15T05:56:40Z",
            broken: [
                TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.prefetchScheduled, 1_200.5).begins(1_320),
                TestEvent(.prefetchExecuted, 1_380), TestEvent(.prefetchSuccess, 1_381),
            ],
            kept: [
                TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.prefetchScheduled, 1_200).begins(1_320),
                TestEvent(.prefetchExecuted, 1_380), TestEvent(.prefetchSuccess, 1_381),
            ]
        ),
        Row(
            .missedWindow,
            "never executed",
            "not executed by 2025-11-15T05:56:40Z",
            broken: [TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.pluginStarted, 1_200.001, id: nil)],
            kept: [TestEvent(.prefetchScheduled, 0).begins(300), TestEvent(.pluginStarted, 1_200, id: nil)]
        ),
        Row(
            .missedWindow,
            "reported by the app",
            "missed its window",
            broken: [TestEvent(.prefetchScheduled, 0), TestEvent(.prefetchMissed, 300)],
            kept: [TestEvent(.prefetchScheduled, 0)]
        ),
        Row(
            .executedAfterNotification,
            "executed late",
            "after the notification time",
            broken: cycle(executed: 900.000_001, success: 901),
            kept: cycle(executed: 900, success: 901)
        ),
        Row(
            .driftExceeded,
            "delivered late",
            "delivered 180.001 s after its time; iOS tolerates 180 s",
            broken: cycle(delivered: 1_080.001),
            kept: cycle(delivered: 1_080)
        ),
        Row(
            .driftExceeded,
            "delivered early",
            "delivered 240 s before its time; iOS tolerates 180 s",
            broken: cycle(used: 660, delivered: 660),
            kept: cycle(used: 720, delivered: 720)
        ),
        Row(
            .driftExceeded,
            "reported by the app",
            "reported a drift",
            broken: [TestEvent(.prefetchScheduled, 0), TestEvent(.notificationDrift, 300)],
            kept: [TestEvent(.prefetchScheduled, 0)]
        ),
        Row(
            .expired,
            "the end that the system put to it",
            "the system ended the task at",
            broken: [TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchExpired, 30)],
            kept: [TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 30).reason(.system)]
        ),
    ]
}
