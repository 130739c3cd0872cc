// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("Events that arrive after client counters included them")
struct LateEventTests {
    typealias Counters = ClientCountersTests

    @Test("an event that client counters already recovered is not counted again; a later one is")
    func recoveredEventIsNotCountedAgain() throws {
        var fold = try Counters.Fold([Counters.snapshot(10, [.scheduled: 3])]).fold
        try fold.accept(Counters.scheduled(1))
        #expect(fold.totals.scheduled == 3)
        try fold.accept(Counters.scheduled(10.5))
        #expect(fold.totals.scheduled == 4)
        try fold.accept(Counters.scheduled(10, 9))
        #expect(fold.totals.scheduled == 4)
        try fold.accept(Counters.scheduled(8))
        #expect(fold.totals.scheduled == 5, "the client had counted three until then")
        #expect(fold.totals.recovered(.scheduled) == 3)
    }

    @Test("an event that client counters already recovered is still judged in its cycle")
    func recoveredEventIsStillJudged() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([Counters.snapshot(2_000, [.scheduled: 1, .executed: 1, .success: 1, .used: 1])])
        try fold.accept(ViolationTests.cycle().map { $0.of(1) })
        fold.finish()
        #expect(fold.totals.stages == [1, 1, 1, 0, 0, 0, 0, 1])
        #expect(fold.takeClosedCycles().map(\.outcome) == [.used])
        #expect(fold.totals.delivered(.prefetched) == 1)
    }

    static let reasons: [FailureReason?] = FailureReason.allCases + [nil]
    static let counters: [ClientCounter] = [.failure, .failureNetwork, .failureAuth, .failureSystem, .failureOther]

    @Test("a recovered failure is not counted again, whatever its reasons", arguments: reasons, counters)
    func recoveredFailureIsNotCountedAgain(reason: FailureReason?, counter: ClientCounter) throws {
        var fold = try Counters.Fold([Counters.snapshot(10, [counter: 1])]).fold
        let recovered = fold.totals.stages
        try fold.accept(Counters.failure(5, reason))
        fold.finish()
        #expect(fold.totals.stages == recovered)
        #expect(recovered.reduce(0, +) == 1)
        try fold.accept([Counters.snapshot(20, [counter: 1])])
        #expect(fold.totals.stages == recovered)
        try fold.accept(Counters.failure(25, .auth))
        try fold.accept([Counters.snapshot(30, [counter: 2])])
        #expect(fold.totals.stages.reduce(0, +) >= 2)
        #expect(fold.totals.stages.reduce(0, +) <= (counter == .failure || counter == .failureAuth ? 2 : 3))
    }

    @Test("a recovered failure whose reason arrives after the snapshot is not counted again")
    func recoveredFailureWithALateReasonIsNotCountedAgain() throws {
        for end in [
            TestEvent(.prefetchCompleted, 20).unsuccessful().reason(.network), TestEvent(.prefetchCompleted, 20),
            TestEvent(.prefetchFailure, 20).reason(.network), TestEvent(.prefetchExecuted, 20),
        ] {
            var fold = try Counters.Fold(
                [TestEvent(.prefetchExecuted, 1).of(1), TestEvent(.prefetchFailure, 10).of(1).reporting([.failure: 1])]
            ).fold
            #expect(fold.totals.failureOther == 1)
            try fold.accept([end.of(1)])
            fold.finish()
            #expect(fold.totals.stages.dropFirst(3) == [0, 0, 0, 1, 0])
            #expect(fold.totals.recovered(.failure) == 1)
        }
    }

    @Test("a failure of the next attempt counts after a snapshot recovered one of the last")
    func failureOfTheNextAttemptCounts() throws {
        var fold = try Counters.Fold(
            [TestEvent(.prefetchExecuted, 1).of(1), TestEvent(.prefetchFailure, 10).of(1).reason(.network)],
            [Counters.snapshot(15, [.failureNetwork: 2])]
        ).fold
        try fold.accept([
            TestEvent(.prefetchExecuted, 20).of(1), TestEvent(.prefetchFailure, 21).of(1).reason(.network),
        ])
        #expect(fold.totals.failureNetwork == 3)
    }

    @Test("recovered stages are not counted again when a summary asserts them")
    func recoveredStagesOfASummaryAreNotCountedAgain() throws {
        var fold = try Counters.Fold(
            [TestEvent(.notificationDelivered, 903).of(1).reporting([.success: 1, .used: 1])],
            [TestEvent(.prefetchCycleComplete, 902).summing().of(1)]
        ).fold
        #expect(fold.totals.stages == [0, 0, 1, 0, 0, 0, 0, 1])
        try fold.accept([TestEvent(.prefetchSuccess, 402).of(1), TestEvent(.prefetchUsedForNotification, 900).of(1)])
        fold.finish()
        #expect(fold.totals.stages == [0, 0, 1, 0, 0, 0, 0, 1])
    }

    @Test("stages that a joined cycle adds count for its installation")
    func joinedCyclesCountForTheirInstallation() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept(
            [
                TestEvent(.prefetchExecuted, 100), TestEvent(.prefetchExecuted, 200),
                TestEvent(.prefetchSuccess, 101, id: nil, due: 900),
                TestEvent(.prefetchSuccess, 201, id: nil, due: 900),
            ].map { $0.of(1) }
        )
        #expect(fold.totals.success == 1)
        try fold.accept([TestEvent(.notificationScheduled, 0, due: 900).of(1)])
        #expect(fold.totals.success == 2)
        try fold.accept([Counters.snapshot(300, [.executed: 2, .success: 2])])
        #expect(fold.totals.stages == [0, 2, 2, 0, 0, 0, 0, 0])
        #expect(fold.totals.recovered(.success) == 0)
    }
}

@Suite("Client counters of failures")
struct FailureCountersTests {
    typealias Counters = ClientCountersTests

    @Test("client failures without reasons are added as OTHER, beyond those with a reason")
    func failuresWithoutReasonsAreOther() throws {
        var fold = try Counters.Fold(Counters.failure(1, .network), [Counters.snapshot(10, [.failure: 3])]).fold
        #expect(fold.totals.stages == [0, 0, 0, 1, 0, 0, 2, 0])
        try fold.accept([Counters.snapshot(20, [.failure: 5, .failureNetwork: 2])])
        #expect(fold.totals.failure(.network) + fold.totals.failure(.other) == 5)
        #expect(fold.totals.recovered(.failure) == 4)
    }

    @Test("client failures with reasons and their sum are added once")
    func failuresWithReasonsAndSumAreAddedOnce() throws {
        let totals = try Counters.Fold(
            [Counters.snapshot(10, [.failure: 4, .failureNetwork: 2, .failureAuth: 1, .failureSystem: 0])]
        ).totals
        #expect(totals.stages == [0, 0, 0, 2, 1, 0, 1, 0])
    }

    @Test("client failures that get their reasons later are not added again")
    func laterReasonsAddNoFailures() throws {
        var fold = try Counters.Fold([Counters.snapshot(10, [.failure: 3])]).fold
        let named: KeyValuePairs<ClientCounter, UInt64> = [.failureNetwork: 2, .failureAuth: 1, .failureSystem: 0]
        try fold.accept([Counters.snapshot(20, named)])
        try fold.accept([Counters.snapshot(30, named)])
        #expect(fold.totals.failureOther == 3)
        #expect(fold.totals.recovered(.failure) == 3)
        try fold.accept(Counters.failure(5, .network) + Counters.failure(6, .auth))
        #expect(fold.totals.stages == [0, 0, 0, 0, 0, 0, 3, 0])
        try fold.accept([Counters.snapshot(40, [.failureNetwork: 3, .failureAuth: 1, .failureSystem: 1])])
        #expect(fold.totals.stages == [0, 0, 0, 1, 0, 1, 3, 0])
    }

    @Test("client failures by reason say nothing about omitted reasons")
    func omittedReasonsSayNothing() throws {
        let totals = try Counters.Fold(
            Counters.failure(1, .network),
            Counters.failure(2, .network),
            [Counters.snapshot(10, [.failureAuth: 1])],
            [Counters.snapshot(20, [.failureAuth: 1, .failureNetwork: 3])]
        ).totals
        #expect(totals.stages == [0, 0, 0, 3, 1, 0, 0, 0])
    }

    @Test("a client failure with another reason than its event is not added again")
    func failureUnderAnotherReasonIsNotAddedAgain() throws {
        let named: KeyValuePairs<ClientCounter, UInt64> = [.failureNetwork: 0, .failureAuth: 1, .failureSystem: 0]
        for steps in [
            [Counters.failure(5, .network), [Counters.snapshot(10, named)]],
            [[Counters.snapshot(10, named)], Counters.failure(5, .network)],
        ] {
            let totals = try Counters.Fold(steps[0], steps[1], [Counters.snapshot(20, named)]).totals
            #expect(totals.stages.reduce(0, +) == 1)
        }
    }

    @Test("client failure counters reset with and without reasons")
    func failureCountersResetWithAndWithoutReasons() throws {
        for forms in [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2]] {
            var fold = try Counters.Fold([ClientHistory.snapshot(10, [9, 0, 0, 0, 4, 4, 4, 0], form: 2)]).fold
            try fold.accept([ClientHistory.snapshot(20, [1, 0, 0, 0, 1, 2, 0, 0], form: forms[0])])
            #expect(fold.totals.snapshots(.reset) == 1)
            try fold.accept([ClientHistory.snapshot(30, [1, 0, 0, 0, 1, 2, 0, 0], form: forms[1])])
            #expect(fold.totals.recovered(.failure) == 15)
            try fold.accept([ClientHistory.snapshot(40, [1, 0, 0, 0, 2, 3, 1, 0], form: forms[1])])
            #expect(fold.totals.recovered(.failure) == 18)
        }
    }

    @Test("client failures that name the reason of a late failure are not added again")
    func reasonAfterALateFailureAddsNothing() throws {
        var fold = try Counters.Fold([Counters.snapshot(10, [.failure: 1])], Counters.failure(5, .network)).fold
        try fold.accept([Counters.snapshot(20, [.failureNetwork: 1])])
        #expect(fold.totals.stages == [0, 0, 0, 0, 0, 0, 1, 0])
        try fold.accept([Counters.snapshot(30, [.failureNetwork: 2])])
        #expect(fold.totals.stages == [0, 0, 0, 1, 0, 0, 1, 0])
    }
}
