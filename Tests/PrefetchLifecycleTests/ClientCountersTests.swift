// SPDX-License-Identifier: Apache-2.0

import PrefetchLifecycle
import TelemetryEvents
import Testing

/// What SPEC 5.3 says of a client's own counters, sentence by sentence.
@Suite("A client's own counters")
struct ClientCountersTests {
    static func snapshot(_ second: Double, _ counters: KeyValuePairs<ClientCounter, UInt64>) -> Told {
        Told(.telemetrySnapshot, second, id: nil).telling(counters).of(1)
    }

    /// Tasks that were scheduled, each of a cycle of its own.
    static func scheduled(_ seconds: Double...) -> [Told] {
        seconds.map { Told(.prefetchScheduled, $0, id: "at \($0)").of(1) }
    }

    /// Attempts that failed, each of a cycle of its own.
    static func failure(_ second: Double, _ reason: FailureReason?) -> [Told] {
        let failed = Told(.prefetchFailure, second, id: "at \(second)").of(1)
        return [reason.map(failed.reason) ?? failed]
    }

    struct Fold {
        var fold: LifecycleFold
        var totals: LifecycleTotals { fold.totals }

        init(limits: LifecycleLimits = LifecycleLimits(), _ steps: [Told]...) throws {
            fold = LifecycleFold.keeping(limits: limits)
            for step in steps { try fold.accept(step) }
        }
    }

    @Test("say more than was counted: the difference is added once, where it can be seen")
    func lostEvents() throws {
        let totals = try Fold(
            Self.scheduled(1, 2),
            [Self.snapshot(10, [.scheduled: 5, .executed: 3, .success: 2, .used: 1, .failureAuth: 1])]
        ).totals
        #expect(totals.stages == [5, 3, 2, 0, 1, 0, 0, 1])
        #expect(LifecycleStage.recoverable.map { totals.recovered($0) } == [3, 3, 2, 1, 1])
        #expect(totals.snapshots(.applied) == 1)
    }

    @Test("say the same again, in another snapshot or in the same one: nothing is added")
    func again() throws {
        let snapshot = Self.snapshot(10, [.scheduled: 5])
        var fold = try Fold(Self.scheduled(1, 2), [snapshot], [snapshot], [Self.snapshot(20, [.scheduled: 5])]).fold
        #expect(fold.totals.scheduled == 5)
        #expect(fold.totals.snapshots(.applied) == 2)
        try fold.apply([snapshot])
        #expect(fold.totals.scheduled == 5)
    }

    @Test("say what was counted, or less because events have overtaken them: nothing changes")
    func nothingLost() throws {
        let totals = try Fold(
            Self.scheduled(1, 2, 3),
            [Self.snapshot(2.5, [.scheduled: 2])],
            [Self.snapshot(4, [.scheduled: 3])]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 0)
        #expect(totals.snapshots(.applied) == 2)
    }

    @Test("are older than the last ones applied: nothing changes")
    func older() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 5])],
            [Self.snapshot(9.999_999, [.scheduled: 7])],
            [Self.snapshot(9, [.scheduled: 4])]
        ).totals
        #expect(totals.scheduled == 5)
        #expect(totals.snapshots(.stale) == 2)
    }

    @Test("of one second: the higher ones count, in either order")
    func sameTime() throws {
        let (low, high) = (Self.snapshot(10, [.scheduled: 4]), Self.snapshot(10, [.scheduled: 5, .executed: 1]))
        for order in [[low, high], [high, low]] {
            let totals = try Fold([order[0]], [order[1].with { $0.kind = .pluginStarted }]).totals
            #expect(totals.stages == [5, 1, 0, 0, 0, 0, 0, 0])
            #expect(totals.snapshots(.reset) == 0)
        }
    }

    @Test("are lower and newer: a new baseline, beyond which losses are added again")
    func reinstalled() throws {
        var fold = try Fold(
            Self.scheduled(1, 2, 3),
            [Self.snapshot(10, [.scheduled: 3])],
            Self.scheduled(20),
            [Self.snapshot(21, [.scheduled: 1])]
        ).fold
        #expect(fold.totals.snapshots(.reset) == 1)
        #expect(fold.totals.scheduled == 4)
        try fold.accept([Self.snapshot(30, [.scheduled: 3])])
        #expect(fold.totals.scheduled == 6)
        #expect(fold.totals.recovered(.scheduled) == 2)
        try fold.accept(Self.scheduled(25, 26) + Self.scheduled(31))
        #expect(fold.totals.scheduled == 7)
        try fold.accept([Self.snapshot(40, [.scheduled: 2])])
        try fold.accept([Self.snapshot(50, [.scheduled: 3])])
        #expect(fold.totals.snapshots(.reset) == 2)
        #expect(fold.totals.scheduled == 8)
    }

    @Test("lower in one counter begin anew in all of them")
    func lowerInOne() throws {
        let totals = try Fold(
            [Self.snapshot(10, [.scheduled: 3, .executed: 2])],
            [Self.snapshot(20, [.scheduled: 9, .executed: 1])],
            [Self.snapshot(30, [.scheduled: 10, .executed: 3])]
        ).totals
        #expect(totals.stages == [4, 4, 0, 0, 0, 0, 0, 0])
    }

    @Test("without an installation are not applied")
    func unidentified() throws {
        var fold = LifecycleFold.keeping()
        try fold.accept([Told(.telemetrySnapshot, 10, id: nil).telling([.scheduled: 5])])
        #expect(fold.totals.snapshots(.unidentified) == 1)
        #expect(fold.totals.scheduled == 0)
        #expect(fold.totals.recovered(.scheduled) == 0)
    }

    @Test("that come with another kind of event include that event")
    func withAnEvent() throws {
        let seed: KeyValuePairs<ClientCounter, UInt64> = [.scheduled: 1, .executed: 1, .success: 1]
        let success = Told(.prefetchSuccess, 402).of(1).telling(seed)
        for order in [[Told(.prefetchScheduled, 0).of(1), success], [success, Told(.prefetchScheduled, 0).of(1)]] {
            let totals = try Fold([order[0]], [order[1]], [success]).totals
            #expect(totals.stages == [1, 1, 1, 0, 0, 0, 0, 0])
            #expect(totals.recovered(.success) == 0)
        }
    }

    @Test("of one installation say nothing of another")
    func installations() throws {
        let totals = try Fold(
            Self.scheduled(1, 2).map { $0.of(2) },
            [Self.snapshot(10, [.scheduled: 1])],
            [Self.snapshot(10, [.scheduled: 2]).of(2)]
        ).totals
        #expect(totals.scheduled == 3)
        #expect(totals.recovered(.scheduled) == 1)
    }

    @Test("are counted where their event counts, by platform and version")
    func groups() throws {
        let fold = try Fold(
            Self.scheduled(1).map { $0.from("ios", "1.0") },
            [Self.snapshot(10, [.scheduled: 3]).from("ios", "1.1")]
        ).fold
        #expect(fold.totalsByGroup.map { $0.totals.scheduled } == [0, 1, 2])
        #expect(fold.totalsByGroup.map { $0.totals.recovered(.scheduled) } == [0, 0, 2])
    }
}
