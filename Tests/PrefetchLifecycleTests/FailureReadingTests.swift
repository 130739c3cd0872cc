// SPDX-License-Identifier: Apache-2.0

import TelemetryEvents
import Testing

@testable import PrefetchLifecycle

@Suite("How the rules read failures and retries")
struct FailureReadingTests {
    @Test("a failure belongs to the attempt that its time says, whatever arrives first")
    func failureBelongsToItsAttempt() throws {
        let told = try Reading.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 1).reason(.auth).retried(),
            TestEvent(.prefetchSuccess, 10), TestEvent(.prefetchExecuted, 70), TestEvent(.prefetchFailure, 73),
        ])
        #expect(told.stages == [0, 2, 1, 0, 0, 0, 1, 0])
        #expect(told.retries == 1)
        #expect(told.reasons == [.other])
    }

    @Test(
        "of two reasons of one attempt the counter and failureReason say the same: what arrived first, in a file the earlier",
        arguments: [
            [TestEvent(.prefetchFailure, 2).reason(.network), TestEvent(.prefetchExpired, 30)],
            [TestEvent(.prefetchFailure, 2).reason(.network), TestEvent(.prefetchFailure, 3).reason(.auth)],
            [
                TestEvent(.prefetchFailure, 2).reason(.auth),
                TestEvent(.prefetchCompleted, 3).unsuccessful().reason(.system),
            ],
            [
                TestEvent(.prefetchFailure, 2), TestEvent(.prefetchCompleted, 3),
                TestEvent(.prefetchFailure, 4).reason(.auth),
            ],
        ]
    )
    func counterAndFailureReasonSayTheSame(failures: [TestEvent]) throws {
        let events = [TestEvent(.prefetchExecuted, 0)] + failures
        for order in Reading.orders(events) {
            var fold = LifecycleFold.keeping()
            var store = CheckpointStore()
            for event in order {
                try fold.accept([event])
                store.save(fold.takeChanges())
                fold = LifecycleFold.keeping()
                for (key, value) in store.pages.sorted(by: { $0.key < $1.key }) {
                    try fold.restore(StatePage(key: key, value: value))
                }
            }
            let told = Reading.told(&fold)
            let counted = FailureReason.allCases.filter { fold.totals.failure($0) > 0 }
            #expect(told.stages[3...6].reduce(0, +) == 1)
            #expect(told.reasons == counted)
            let first = order.first { $0.event.kind == .prefetchExpired || $0.event.reason != nil }
            let isWhole = failures.count == 2
            if isWhole { #expect(counted == [first?.event.reason ?? .system]) }
        }
        let files = try Reading.results(events).file
        #expect(files.count == 1)
        #expect(files.first?.reasons == [failures.first { $0.event.reason != nil }?.event.reason ?? .auth])
    }

    @Test("two reasons of one attempt are two failures once an execution between them arrives")
    func reasonsOfTwoAttemptsAreTwoFailures() throws {
        let told = try Reading.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).reason(.network),
            TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 62).reason(.auth),
        ])
        #expect(told.stages == [0, 2, 0, 1, 1, 0, 0, 0])
    }

    @Test("the stage of a failure and its reason are those of one attempt")
    func failureStageAndReasonAreOfOneAttempt() throws {
        let cycle = try #require(
            try LifecycleFold.judged([
                TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).reason(.network),
                TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 62).reason(.auth),
                TestEvent(.prefetchExecuted, 120), TestEvent(.prefetchSuccess, 121),
            ]).first
        )
        #expect(cycle.stages.failure == .after(2))
        #expect(cycle.failureReason == .network)
    }

    @Test("a retried failure and another line of it in the same second are one retry")
    func linesOfOneSecondAreOneRetry() throws {
        let told = try Reading.results([
            Reading.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0),
            TestEvent(.prefetchFailure, 2).reason(.auth).retried(),
            TestEvent(.prefetchFailure, 2).reason(.auth).timed(),
            TestEvent(.prefetchSuccess, 4),
        ])
        #expect(told.file == [Reading.Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])])
    }

    @Test("an unsuccessful completion behind a failure that is retried with success is a retry")
    func completionBehindARetriedFailureIsARetry() throws {
        let told = try Reading.results([
            Reading.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0),
            TestEvent(.prefetchFailure, 1).reason(.network).retried(),
            TestEvent(.prefetchCompleted, 2).unsuccessful().reason(.system), TestEvent(.prefetchSuccess, 8),
        ])
        #expect(told.file == [Reading.Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])])
    }

    @Test("a line behind a failure that is retried tells the same failure, whatever reason it names")
    func lineBehindARetriedFailureIsTheSame() throws {
        let retried = TestEvent(.prefetchFailure, 2).reason(.network).retried()
        let told = [
            Reading.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0), retried,
            TestEvent(.prefetchFailure, 5).reason(.auth),
        ]
        #expect(try Reading.results(told).file.map(\.reasons) == [[.network]])
        let success = Reading.Told(stages: [1, 1, 1, 0, 0, 0, 0, 0], retries: 1, broken: [], reasons: [nil])
        #expect(try Reading.results(told + [TestEvent(.prefetchSuccess, 9)]).file == [success])
    }

    @Test("a use that only a summary asserts breaks no rule")
    func impliedUseBreaksNoRule() throws {
        let summary = TestEvent(.prefetchCycleComplete, 902).summing(fetched: false)
        #expect(try Reading.result([summary]).broken == [])
    }

    @Test("a completion that names a reason tells of a failure, also without saying that it was unsuccessful")
    func completionWithAReasonIsAFailure() throws {
        let told = try Reading.result([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchCompleted, 5).reason(.network),
        ])
        #expect(told.stages == [0, 1, 0, 1, 0, 0, 0, 0])
        #expect(told.reasons == [.network])
    }

    @Test(
        "behind an announced retry the first line that does not announce one tells the reason of a failure for good",
        arguments: [
            TestEvent(.prefetchExpired, 30), TestEvent(.prefetchFailure, 30).reason(.system).final(),
        ]
    )
    func firstLineBehindARetryTellsTheReason(end: TestEvent) throws {
        let retried = TestEvent(.prefetchFailure, 2).reason(.network).retried()
        let line = TestEvent(.prefetchFailure, 3).reason(.auth)
        for order in Reading.orders([TestEvent(.prefetchExecuted, 0), retried, line, end]) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            let first = order.first { $0.event.reason == .auth || $0.event.timestamp == end.event.timestamp }
            let told = Reading.told(&fold)
            #expect(told.reasons == [first?.event.reason ?? .system])
            let counted = FailureReason.allCases.filter { fold.totals.failure($0) > 0 }
            #expect(told.reasons == counted)
            #expect(told.retries == 1)
            var file = Reading.file()
            try file.apply(order)
            #expect(Reading.told(&file).reasons == [.auth])
            #expect(file.totals.stages == [0, 1, 0, 0, 1, 0, 0, 0])
        }
        let silent = [TestEvent(.prefetchExecuted, 0), retried, end]
        #expect(try Reading.result(silent).reasons == [.system])
    }

    @Test(
        "a failure that was counted before its retry arrived stands, in the counter and in the verdict alike",
        arguments: [FailureReason.auth, .network, nil] as [FailureReason?],
        [
            TestEvent(.prefetchExpired, 30), TestEvent(.prefetchFailure, 30).reason(.system).final(),
            TestEvent(.prefetchCompleted, 30).unsuccessful().reason(.system), TestEvent(.prefetchCompleted, 30),
        ]
    )
    func countedFailureStands(retriedReason: FailureReason?, end: TestEvent) throws {
        let retried = TestEvent(.prefetchFailure, 2).retried().with { $0.reason = retriedReason }
        let line = TestEvent(.prefetchFailure, 3).reason(.auth)
        for order in Reading.orders([TestEvent(.prefetchExecuted, 0), retried, line, end]) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            let told = Reading.told(&fold)
            let counted = FailureReason.allCases.filter { fold.totals.failure($0) > 0 }
            #expect(counted == told.reasons.compactMap(\.self))
        }
    }

    @Test("a success behind a retry is no second result, also where a line of its failure was counted before the retry")
    func successBehindARetryIsNoSecondResult() throws {
        let events = [
            Reading.scheduled(-60, "a").begins(0), TestEvent(.prefetchExecuted, 0),
            TestEvent(.prefetchFailure, 2).reason(.auth).retried(), TestEvent(.prefetchFailure, 3).reason(.auth),
        ]
        let ends = [TestEvent(.prefetchSuccess, 9), TestEvent(.prefetchCycleComplete, 9).summing(used: false)]
        for order in ends.flatMap({ Reading.orders(events + [$0]) }) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            let told = Reading.told(&fold)
            #expect(told.broken == [])
            #expect(told.retries == 1 && told.stages[2] == 1)
            #expect(told.stages[4] == (told.reasons == [.auth] ? 1 : 0))
        }
    }

    @Test("a completion for another reason stands as the reason that was counted first")
    func completionForOtherStands() throws {
        let events = [
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchCompleted, 9).unsuccessful().reason(.other),
            TestEvent(.prefetchFailure, 8).reason(.auth),
        ]
        for order in Reading.orders(events) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            let told = Reading.told(&fold)
            let counted = FailureReason.allCases.filter { fold.totals.failure($0) > 0 }
            #expect(told.reasons == counted)
        }
    }

    @Test("a failure that was counted stands also where a late execution gives it an attempt of its own")
    func countedFailureStandsInItsAttempt() throws {
        let events = [
            TestEvent(.prefetchExecuted, 100, id: nil, due: 900),
            TestEvent(.prefetchFailure, 106, id: nil, due: 900).reason(.system),
            TestEvent(.prefetchFailure, 102).reason(.network).retried(), TestEvent(.prefetchFailure, 13),
            TestEvent(.prefetchExecuted, 0, due: 900),
        ]
        var fold = LifecycleFold.keeping()
        for event in events { try fold.accept([event]) }
        #expect(Reading.told(&fold).reasons == [.other])
        #expect(fold.totals.stages[3...6].elementsEqual([0, 0, 1, 1]))
    }

    @Test("a completion behind a success names no other reason than the lines of the failure before")
    func completionBehindASuccessNamesNoOtherReason() throws {
        let told = try Reading.results([
            TestEvent(.prefetchExecuted, 0), TestEvent(.prefetchFailure, 2).retried(),
            TestEvent(.prefetchFailure, 3).reason(.auth), TestEvent(.prefetchSuccess, 9),
            TestEvent(.prefetchCompleted, 20).unsuccessful().reason(.network),
        ])
        #expect(told.file.map(\.reasons) == [[.auth]])
        #expect(told.service.allSatisfy { $0.broken == told.file[0].broken })
    }

    @Test(
        "failures of two attempts are two, and the verdict names a counted reason, also where the execution between comes late",
        arguments: [
            [TestEvent(.prefetchFailure, 10).reason(.network), TestEvent(.prefetchFailure, 5).reason(.system)],
            [TestEvent(.prefetchFailure, 10).reason(.network), TestEvent(.prefetchFailure, 5)],
            [TestEvent(.prefetchFailure, 10), TestEvent(.prefetchCompleted, 12).unsuccessful().reason(.network)],
        ]
    )
    func lateExecutionSeparatesFailures(first: [TestEvent]) throws {
        let events =
            [TestEvent(.prefetchExecuted, 0)] + first
            + [TestEvent(.prefetchExecuted, 60), TestEvent(.prefetchFailure, 62).reason(.auth)]
        for order in Reading.orders(events) {
            var fold = LifecycleFold.keeping()
            for event in order { try fold.accept([event]) }
            let told = Reading.told(&fold)
            #expect(told.stages[3...6].reduce(0, +) == 2)
            #expect(fold.totals.failureAuth == 1)
            let counted = FailureReason.allCases.filter { $0 != .auth && fold.totals.failure($0) > 0 }
            #expect(told.reasons == counted)
        }
    }

}

extension TestEvent {
    /// The same event with a duration, which makes it another telling of the same thing.
    fileprivate func timed() -> TestEvent { lasting(1) }
}
