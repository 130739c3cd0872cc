// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

@Suite("A client's counters of failures")
struct FailureCountersTests {
    typealias Counters = ClientCountersTests

    @Test("without reasons are added as OTHER, beyond those that have one")
    func withoutReasons() throws {
        var fold = try Counters.Fold(Counters.failure(1, .network), [Counters.snapshot(10, [.failure: 3])]).fold
        #expect(fold.totals.stages == [0, 0, 0, 1, 0, 0, 2, 0])
        try fold.accept([Counters.snapshot(20, [.failure: 5, .failureNetwork: 2])])
        #expect(fold.totals.failure(.network) + fold.totals.failure(.other) == 5)
        #expect(fold.totals.recovered(.failure) == 4)
    }

    @Test("with reasons and their sum are added once")
    func both() throws {
        let totals = try Counters.Fold(
            [Counters.snapshot(10, [.failure: 4, .failureNetwork: 2, .failureAuth: 1, .failureSystem: 0])]
        ).totals
        #expect(totals.stages == [0, 0, 0, 2, 1, 0, 1, 0])
    }

    @Test("that name their reasons later are not added again")
    func reasonsLater() throws {
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

    @Test("by reason say nothing of the reasons that they leave out")
    func someReasons() throws {
        let totals = try Counters.Fold(
            Counters.failure(1, .network),
            Counters.failure(2, .network),
            [Counters.snapshot(10, [.failureAuth: 1])],
            [Counters.snapshot(20, [.failureAuth: 1, .failureNetwork: 3])]
        ).totals
        #expect(totals.stages == [0, 0, 0, 3, 1, 0, 0, 0])
    }

    @Test("with another reason than their event has are not added again")
    func otherReason() throws {
        let named: KeyValuePairs<ClientCounter, UInt64> = [.failureNetwork: 0, .failureAuth: 1, .failureSystem: 0]
        for steps in [
            [Counters.failure(5, .network), [Counters.snapshot(10, named)]],
            [[Counters.snapshot(10, named)], Counters.failure(5, .network)],
        ] {
            let totals = try Counters.Fold(steps[0], steps[1], [Counters.snapshot(20, named)]).totals
            #expect(totals.stages.reduce(0, +) == 1)
        }
    }

    @Test("begin anew with and without reasons")
    func anew() throws {
        for forms in [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2]] {
            var fold = try Counters.Fold([ClientHistory.snapshot(10, [9, 0, 0, 0, 4, 4, 4, 0], form: 2)]).fold
            try fold.accept([ClientHistory.snapshot(20, [1, 0, 0, 0, 1, 2, 0, 0], form: forms[0])])
            #expect(fold.totals.snapshots(.reset) == 1)
            try fold.accept([ClientHistory.snapshot(30, [1, 0, 0, 0, 1, 2, 0, 0], form: forms[1])])
            #expect(fold.totals.recovered(.failure) == 12)
            try fold.accept([ClientHistory.snapshot(40, [1, 0, 0, 0, 2, 3, 1, 0], form: forms[1])])
            #expect(fold.totals.recovered(.failure) == 15)
        }
    }

    @Test("that name the reason of a late failure later are not added again")
    func reasonAfterLateEvent() throws {
        var fold = try Counters.Fold([Counters.snapshot(10, [.failure: 1])], Counters.failure(5, .network)).fold
        try fold.accept([Counters.snapshot(20, [.failureNetwork: 1])])
        #expect(fold.totals.stages == [0, 0, 0, 0, 0, 0, 1, 0])
        try fold.accept([Counters.snapshot(30, [.failureNetwork: 2])])
        #expect(fold.totals.stages == [0, 0, 0, 1, 0, 0, 1, 0])
    }
}
