// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

/// The failures that the guide injects, each with what the guide expects of the plugin.
@Suite("Negative paths of the testing guide")
struct NegativePathTests {
    typealias Story = GuideStory

    static let failed: [String: UInt64] = ["scheduled": 1, "executed": 1, "fallback": 1, "delivered on_demand": 1]
    static let start = Story.launch(0) + Story.scheduling() + Story.execution(540)

    static func failure(_ second: Int, _ message: String, _ members: String) -> GuideStory {
        Story.told(second, "fetch", message, "prefetch_failure", id: "a", members)
    }

    static let networkFailure = failure(
        543,
        "Fetch failed: error=NetworkError, willRetry=false",
        #""error":"NetworkError","willRetry":false"#
    )

    @Test("Network failure: the notification falls back")
    func networkFailure() throws {
        let story = Self.start + Self.networkFailure + Story.unsuccessful(543, "NETWORK") + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure NETWORK": 1])))
    }

    @Test("Network failure: content that an earlier day cached is used if it is valid")
    func networkFailureWithCache() throws {
        let story = Self.start + Self.networkFailure + Story.unsuccessful(543, "NETWORK") + Story.shown(age: 80_000)
        let expected: [String: UInt64] = [
            "scheduled": 1, "executed": 1, "failure NETWORK": 1, "used": 1, "delivered prefetched": 1,
        ]
        #expect(try story.outcome() == .init(.used, counting: expected))
    }

    @Test("Permission denied: nothing is scheduled, and the error is told")
    func permissionDenied() throws {
        let story =
            Story.launch(0)
            + Story.told(
                1,
                "plugin",
                "notifications_denied for scheduleDailyNotification",
                "notification_denied",
                #""error":"notifications_denied""#
            )
        #expect(try story.outcome() == .init(.empty, [], [], ["error notifications_denied": 1]))
    }

    @Test("Permission denied, and a task is scheduled all the same: a bug of the plugin")
    func scheduledAllTheSame() throws {
        let story =
            Story.launch(0)
            + Story.told(
                1,
                "plugin",
                "notifications_denied for scheduleDailyNotification",
                "notification_denied"
            ) + Story.scheduling(2)
        #expect(
            try story.outcome()
                == .init(
                    .incoherent,
                    [.incomplete],
                    [.scheduledWhileDenied],
                    ["scheduled": 1, "error notifications_denied": 1]
                )
        )
    }

    @Test("Storage unavailable: what was fetched is not kept, and the notification fetches again")
    func storageUnavailable() throws {
        let story =
            Self.start + Story.success(542)
            + Story.told(
                542,
                "storage",
                "Cache write failed: error=SQLiteError",
                "content_cache_failed",
                id: "a",
                #""error":"SQLiteError""#
            )
            + Story(
                lines: [Story.line(542, "fetch", "Storage unavailable, will fetch on-demand")],
                events: [Story.event("content_cache_failed", 542, id: "a", #""usedCached":false,"eventId":"2""#)]
            ) + Story.completion(543) + Story.onDemand()
        #expect(
            try story.outcome() == .init(.fallback, counting: Self.failed.with(["success": 1, "cache failures": 2]))
        )
    }

    @Test("JWT expiration: an AUTH failure, told in three lines, counts once")
    func expiredToken() throws {
        let story =
            Self.start
            + Self.failure(
                543,
                "Fetch failed: error=AuthError, httpStatus=401, willRetry=false",
                #""error":"AuthError","httpStatus":401,"willRetry":false"#
            ) + Self.failure(544, "JWT expired, authentication failed", #""error":"JWT expired""#)
            + Story.unsuccessful(545, "AUTH") + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure AUTH": 1])))
    }

    @Test("Timezone drift: the prefetch and the notification keep their UTC times")
    func timezoneDrift() throws {
        let story =
            Self.start + Story.success(542) + Story.cached(542) + Story.completion(543)
            + Story.told(
                600,
                "scheduler",
                "Timezone changed, but UTC schedule unchanged",
                "timezone_changed"
            ) + Story.shown()
        #expect(try story.outcome() == .init(.used, counting: EdgeScenarioTests.used))
    }

    @Test("Corrupted cache: the notification falls back, though the prefetch was successful")
    func corruptedCache() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["success": 1])))
    }

    @Test("BGTask execution failure: the task is marked complete, and the failure is the system's")
    func handlerFailure() throws {
        let story =
            Self.start
            + Story.told(
                543,
                "fetch",
                "Task marked complete (success=false) due to error",
                "prefetch_completed",
                id: "a",
                #""fetched":false,"reason":"SYSTEM""#
            ) + Story.onDemand()
        #expect(try story.outcome() == .init(.fallback, counting: Self.failed.with(["failure SYSTEM": 1])))
    }

    @Test("BGTask execution failure: the expiration handler is called, and completes the task")
    func handlerExpiration() throws {
        let story =
            Self.start
            + Story.told(570, "fetch", "Task expired", "prefetch_expired", id: "a")
            + Story.told(
                570,
                "fetch",
                "Task completionBlock (success=false)",
                "prefetch_completed",
                id: "a",
                #""fetched":false"#
            ) + Story.onDemand()
        let expected = Self.failed.with(["failure SYSTEM": 1, "expired": 1])
        #expect(try story.outcome() == .init(.fallback, notes: [.expired], counting: expected))
    }

    @Test("BGTask execution failure, and nobody completes the task: a bug of the plugin")
    func handlerLeft() throws {
        let story = Self.start + Story.onDemand()
        #expect(try story.outcome() == .init(.incoherent, [.fallback], [.taskNotCompleted], Self.failed))
    }

    @Test("Repeated scheduling calls: one task, however often it is told")
    func repeatedScheduling() throws {
        let story =
            Story.launch(0) + Story.scheduling(0) + Story.scheduling(1) + Story.scheduling(2) + Story.prefetch(540)
            + Story.shown()
        #expect(try story.outcome() == .init(.used, counting: EdgeScenarioTests.used))
    }

    @Test("Repeated scheduling calls for another time: a second active task is a bug of the plugin")
    func secondTask() throws {
        let story =
            Story.launch(0) + Story.scheduling(0) + Story.scheduling(1, begins: 1_020, due: 1_320, id: "b")
            + Story.prefetch(540) + Story.shown()
        let expected = EdgeScenarioTests.used.with(["scheduled": 2])
        #expect(try story.outcome() == .init(.incoherent, [.used, .incomplete], [.secondActiveTask], expected))
    }

    @Test("Permission revoked mid-run: nothing is delivered, and that is no bug")
    func permissionRevoked() throws {
        let story = Story.launch(0) + Story.scheduling() + Story.prefetch(540) + Story.launch(4_000)
        let expected: [String: UInt64] = ["scheduled": 1, "executed": 1, "success": 1]
        #expect(try story.outcome() == .init(.incomplete, counting: expected))
    }
}
