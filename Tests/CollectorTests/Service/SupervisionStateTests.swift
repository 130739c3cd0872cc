// SPDX-License-Identifier: Apache-2.0

import EventLedger
import Journald
import Testing

@testable import Collector
@testable import LedgerState

@Suite("What the service tells its manager")
struct SupervisionStateTests {
    static let second: UInt64 = 1_000_000_000

    static func reading(_ second: UInt64, events: UInt64 = 0) -> ServiceReading {
        ServiceReading(
            time: second * Self.second,
            events: events,
            refused: 0,
            waiting: 0,
            journalBehind: nil,
            trouble: nil
        )
    }

    @Test("is ready once, behind the recovery and when it listens")
    func start() {
        var state = SupervisionState()
        #expect(state.opening() == [.extendTimeout(.seconds(600)), .status("opening the ledger")])
        #expect(
            state.recovering(RecoveryProgress(done: 0, total: 12_345), at: 0) == [
                .extendTimeout(.seconds(60)), .status("recovering, 0 of 12,345 batches"),
            ]
        )
        #expect(state.opened() == [.extendTimeout(.seconds(120)), .status("recovered; starting to listen")])
        #expect(state.listening(at: Self.second) == [.ready, .status("ready")])
        #expect(state.opened() == [])
        #expect(state.listening(at: Self.second) == [])
        #expect(state.recovering(RecoveryProgress(done: 1, total: 2), at: 99 * Self.second) == [])
    }

    @Test("a long recovery is given more time for as long as it makes progress, once a second")
    func recovery() {
        var state = SupervisionState()
        var told: [Int64] = []
        for step in 0...100 as ClosedRange<Int64> {
            let sent = state.recovering(RecoveryProgress(done: step, total: 100), at: UInt64(step) * Self.second / 10)
            if !sent.isEmpty { told.append(step) }
        }
        #expect(told == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
        for second in 11...200 as ClosedRange<UInt64> {
            #expect(state.recovering(RecoveryProgress(done: 100, total: 100), at: second * Self.second) == [])
        }
    }

    @Test("tells its rates every ten seconds, since the last time it did")
    func status() {
        var state = SupervisionState()
        #expect(state.reads(Self.reading(0)) == [])
        _ = state.listening(at: 0)
        var told: [ServiceNotification] = []
        for second in 1...25 as ClosedRange<UInt64> { told += state.reads(Self.reading(second, events: second * 30)) }
        #expect(told == [.status("30 events/s, 0 waiting"), .status("30 events/s, 0 waiting")])
    }

    @Test("reloads between RELOADING with its time and READY, and says what came of it")
    func reload() {
        var state = SupervisionState()
        #expect(state.reloading(at: 5) == [], "not before it is ready")
        #expect(state.reloaded("reloaded", at: 5) == [])
        _ = state.listening(at: 0)
        #expect(
            state.reloading(at: 7_000_999) == [.reloading(since: 7_000), .status("reloading the configuration")]
        )
        #expect(state.reloading(at: 8_000_000) == [], "a second one is part of the first")
        _ = state.reads(Self.reading(0))
        #expect(state.reads(Self.reading(60)) == [], "no rates meanwhile")
        #expect(state.reloaded("reloaded: max-body", at: 9) == [.ready, .status("reloaded: max-body")])
        #expect(state.reloaded("reloaded", at: 9) == [])
    }

    @Test("says that it stops once, from wherever it was, and no word of rates after that")
    func stop() {
        for wasReady in [false, true] {
            var state = SupervisionState()
            if wasReady { _ = state.listening(at: 0) }
            _ = state.reads(Self.reading(0))
            #expect(state.stopping().first == .stopping)
            #expect(state.stopping() == [])
            #expect(state.reads(Self.reading(60)) == [])
            #expect(state.listening(at: 0) == [])
            #expect(state.reloading(at: 0) == [])
        }
    }

    @Test("tells why it cannot start, with the error number where there is one")
    func failure() {
        var state = SupervisionState()
        #expect(state.failed("no space", code: 28) == [.status("failed: no space"), .errno(28)])
        #expect(state.failed("nothing", code: nil) == [.status("failed: nothing")])
    }
}
