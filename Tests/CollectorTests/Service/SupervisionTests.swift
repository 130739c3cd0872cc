// SPDX-License-Identifier: Apache-2.0

import CollectorTestSupport
import Dispatch
import EventLedger
import Journald
import Logging
import Synchronization
import Testing

@testable import Collector
@testable import LedgerState
@testable import TextOutput

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

    @Test("the supervised service is ready once, behind the recovery and when it listens")
    func supervisionStateStart() {
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

    @Test("the supervised service tells its rates every ten seconds, since the last time it did")
    func status() {
        var state = SupervisionState()
        #expect(state.reads(Self.reading(0)) == [])
        _ = state.listening(at: 0)
        var told: [ServiceNotification] = []
        for second in 1...25 as ClosedRange<UInt64> { told += state.reads(Self.reading(second, events: second * 30)) }
        #expect(told == [.status("30 events/s, 0 waiting"), .status("30 events/s, 0 waiting")])
    }

    @Test("the supervised service reloads between RELOADING with its time and READY, and says what came of it")
    func supervisionStateReload() {
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

    @Test("the supervised service says that it stops once, from wherever it was, and no word of rates after that")
    func supervisionStateStop() {
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

    @Test("the supervised service tells why it cannot start, with the error number where there is one")
    func supervisionStateFailure() {
        var state = SupervisionState()
        #expect(state.failed("no space", code: 28) == [.status("failed: no space"), .errno(28)])
        #expect(state.failed("nothing", code: nil) == [.status("failed: nothing")])
    }
}

extension OneAtATime {
    @Suite("The line to the service manager")
    struct ManagerLineTests {
        @Test(
            "a manager that takes nothing for long hears READY and STOPPING all the same, and few of the other messages"
        )
        func busyManager() async {
            let isTaking = DispatchSemaphore(value: 0)
            let heard = Mutex<[[ServiceNotification]]>([])
            let line = ManagerLine(Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }) { message in
                isTaking.wait()
                isTaking.signal()
                heard.withLock { $0.append(message) }
            }
            for number in 0..<200 { line.send([.extendTimeout(.seconds(60)), .status("\(number)")]) }
            line.send([.ready, .status("ready")])
            for _ in 0..<200 { line.send([.watchdog]) }
            line.send([.stopping, .status("stopping")])
            isTaking.signal()
            await waitUntil("all is heard") { heard.withLock { $0.last?.first == .stopping } }
            let messages = heard.withLock { $0 }
            #expect(messages.count <= 66)
            #expect(messages.suffix(2).map(\.first) == [.ready, .stopping])
        }
    }
}

@Suite("The status line")
struct ServiceReadingTests {
    static let start = ServiceReading(time: 0, events: 0, refused: 0, waiting: 0, journalBehind: nil, trouble: nil)

    static func after10Seconds(
        events: UInt64 = 0,
        refused: UInt64 = 0,
        waiting: Int = 0,
        journalBehind: UInt64? = nil,
        trouble: LedgerError? = nil
    ) -> ServiceReading {
        ServiceReading(
            time: 10_000_000_000,
            events: events,
            refused: refused,
            waiting: waiting,
            journalBehind: journalBehind,
            trouble: trouble
        )
    }

    @Test(
        "the status line has rates, what waits, and what is wrong",
        arguments: [
            (after10Seconds(), "0 events/s, 0 waiting"),
            (
                after10Seconds(events: 12_040, waiting: 3, journalBehind: 12),
                "1,204 events/s, 3 waiting, journal 12 behind"
            ),
            (after10Seconds(events: 1, journalBehind: 0), "0.1 events/s, 0 waiting, journal 0 behind"),
            (after10Seconds(events: 25), "2.5 events/s, 0 waiting"),
            (after10Seconds(events: 30), "3 events/s, 0 waiting"),
            (after10Seconds(events: 99), "9.9 events/s, 0 waiting"),
            (after10Seconds(events: 9_999_995), "1,000,000 events/s, 0 waiting"),
            (after10Seconds(refused: 50, waiting: 4_096), "0 events/s, 4,096 waiting, 5 refused/s"),
            (
                after10Seconds(refused: 5, trouble: .full(detail: "disk")),
                "no space left for the ledger, events are refused; 0 events/s, 0 waiting, 0.5 refused/s"
            ),
            (
                after10Seconds(trouble: .busy(detail: "")),
                "another connection locks the ledger, events are refused; 0 events/s, 0 waiting"
            ),
        ] as [(ServiceReading, String)]
    )
    func line(reading: ServiceReading, expected: String) {
        #expect(reading.status(since: Self.start) == expected)
    }

    @Test("the status line stands on no numbers that went back, and on no time that did not pass")
    func oddities() {
        let later = Self.after10Seconds(events: 100)
        #expect(Self.start.status(since: later) == "0 events/s, 0 waiting")
        #expect(later.status(since: later) == "0 events/s, 0 waiting")
        var huge = later
        huge.events = .max
        #expect(huge.status(since: Self.start).hasSuffix(" events/s, 0 waiting"))
    }

    @Test("the status line groups the digits of large numbers")
    func grouped() {
        #expect(
            [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000].map(\.grouped).joined(separator: " ")
                == "0 7 999 1,000 12,345 999,999 1,000,000"
        )
        #expect((-1_234).grouped == "-1,234")
    }
}

@Suite("The watch over the writer")
struct WriterWatchTests {
    static let second: UInt64 = 1_000_000_000

    @Test("the writer watch: under load each commit is a proof, and the manager hears of it four times in its time")
    func underLoad() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 0, at: 0)
        var pings: [UInt64] = []
        for second in 1...60 as ClosedRange<UInt64> {
            let step = watch.look(proofs: second * 100, isAsked: false, at: second * Self.second)
            #expect(step != .askForProof)
            if step == .ping { pings.append(second) }
        }
        #expect(pings == [10, 20, 30, 40, 50, 60])
    }

    @Test("the writer watch: where nothing is posted the writer is asked, and its answer is the proof")
    func writerWatchIdle() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        #expect(watch.look(proofs: 5, isAsked: false, at: 9 * Self.second) == .wait)
        #expect(watch.look(proofs: 5, isAsked: false, at: 10 * Self.second) == .askForProof)
        #expect(watch.look(proofs: 5, isAsked: true, at: 11 * Self.second) == .wait)
        #expect(watch.look(proofs: 6, isAsked: false, at: 12 * Self.second) == .ping)
        #expect(watch.look(proofs: 6, isAsked: false, at: 13 * Self.second) == .wait)
        #expect(watch.look(proofs: 6, isAsked: false, at: 22 * Self.second) == .askForProof)
    }

    @Test("the writer watch: a writer that hangs is asked once, and the manager hears nothing until it has answered")
    func hung() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        #expect(watch.look(proofs: 5, isAsked: false, at: 10 * Self.second) == .askForProof)
        for second in 11...1_000 as ClosedRange<UInt64> {
            #expect(watch.look(proofs: 5, isAsked: true, at: second * Self.second) == .wait)
        }
        #expect(watch.look(proofs: 6, isAsked: false, at: 1_001 * Self.second) == .ping)
    }

    @Test(
        "the writer watch: a writer that answers with failures is asked again and again, and the manager hears nothing"
    )
    func failing() {
        var watch = WriterWatch(timeout: .seconds(40), proofs: 5, at: 0)
        for second in 10...100 as ClosedRange<UInt64> {
            #expect(watch.look(proofs: 5, isAsked: false, at: second * Self.second) == .askForProof)
        }
    }

    @Test("it looks often enough for any time of the manager's", arguments: [1, 100, 3_000, 30_000, 3_600_000])
    func pauses(milliseconds: Int) {
        let watch = WriterWatch(timeout: .milliseconds(milliseconds), proofs: 0, at: 0)
        #expect((10_000_000...Self.second).contains(watch.pause))
        if milliseconds >= 200 { #expect(watch.pause <= UInt64(milliseconds) * 1_000_000 / 8) }
        _ = WriterWatch(timeout: .seconds(Int64.max), proofs: 0, at: 0)
        _ = WriterWatch(timeout: .seconds(-1), proofs: 0, at: 0)
    }
}

@Suite("The service listens")
struct AllListeningTests {
    private func address(_ path: String) -> ListeningAddress {
        ListeningAddress(place: .unix(path: path), services: .ingest, scheme: "http")
    }

    @Test(
        "the service listens once each part does, whichever comes last, and tells it once",
        arguments: [[.http, .lines], [.lines, .http]] as [[StartupBarrier.Part]]
    )
    func allListeningAll(order: [StartupBarrier.Part]) {
        let told = Mutex<[[ListeningAddress]]>([])
        let listening = StartupBarrier { addresses in told.withLock { $0.append(addresses) } }
        listening.begins(order[0], at: [address("/\(order[0])")])
        #expect(told.withLock { $0 } == [])
        listening.begins(order[0], at: [])
        #expect(told.withLock { $0 } == [], "the same part again is not the other one")
        listening.begins(order[1], at: [address("/\(order[1])")])
        listening.begins(order[1], at: [])
        #expect(told.withLock { $0 } == [[address("/http"), address("/lines")]])
    }
}
